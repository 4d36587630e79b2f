#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Which place does `kelvin diff --commits` give the commit that is known to be the cause? On ranges of real repositories.

lab.py KELVIN WORK [--repositories DIR] [--only REGEX] [--runs N] [--keep]

Each case is a range of commits, along first parents, of which one is the cause: it is known by what it says it does, and
by a driver that does just that (`known`), or a realistic edit was put in its place, and all later commits were made anew on top of it
(`made`). Both ends are built, recorded in turn, and compared. Repositories are cloned from GitHub into WORK, or taken from DIR/OWNER+NAME.git.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

from cases import CASES

class Failed(Exception):
    """A case that cannot be measured."""


HERE = pathlib.Path(__file__).resolve().parent


def git(where, *arguments, text=None, environment=None):
    result = subprocess.run(["git", "-C", str(where), *arguments], input=text, stdout=subprocess.PIPE, check=True,
                            env={**os.environ, **(environment or {})})
    return result.stdout.decode("utf-8", "replace").strip()


def find_repository(options, name):
    for form in (name.replace("/", "+") + ".git", name + ".git", name.replace("/", "+") + "/repo"):
        if options.repositories and (pathlib.Path(options.repositories) / form).exists():
            return pathlib.Path(options.repositories) / form
    clone = options.work / "clones" / (name.replace("/", "+") + ".git")
    if not clone.exists():
        clone.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", f"https://github.com/{name}", str(clone)], check=True)
    return clone


def show(where, commit, path):
    return subprocess.run(["git", "-C", str(where), "show", f"{commit}:{path}"], stdout=subprocess.PIPE, check=True).stdout.decode("latin-1")


def replace_once(text, case):
    """The edit, where the text has its place exactly once."""
    for old, new in case["edit"]:
        if text.count(old) != 1:
            return None
        text = text.replace(old, new)
    return text


def commit_as(where, tree, parent, like, subject=None):
    fields = git(where, "log", "-1", "--format=%an%n%ae%n%ad%n%cn%n%ce%n%cd", like).split("\n")
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE")
    message = subject or git(where, "log", "-1", "--format=%B", like)
    return git(where, "commit-tree", tree, "-p", parent, "-F", "-", text=message.encode(), environment=dict(zip(names, fields)))


def tree_with(where, tree_of, path, blob, index):
    environment = {"GIT_INDEX_FILE": str(index)}
    git(where, "read-tree", f"{tree_of}^{{tree}}", environment=environment)
    mode = git(where, "ls-tree", tree_of, "--", path).split()[0]
    git(where, "update-index", "--cacheinfo", f"{mode},{blob},{path}", environment=environment)
    return git(where, "write-tree", environment=environment)


def make_history(where, case, commits):
    """Puts the edit behind a commit of the range, and makes those after it anew on top. Returns (culprit, new head)."""
    path = case["file"]
    random.seed(case["name"])
    at = case.get("at", random.randrange(len(commits) // 10, len(commits) * 9 // 10))
    index = where / "lab-index"
    parent, culprit, blobs = commits[at], None, {}
    for commit in [commits[at], *commits[at + 1:]]:
        old = git(where, "rev-parse", f"{commit}:{path}")
        if old not in blobs:
            text = replace_once(show(where, commit, path), case)
            if text is None:
                raise Failed(f"the edit does not fit commit {commit[:10]} of {path}")
            blobs[old] = git(where, "hash-object", "-w", "--stdin", text=text.encode("latin-1"))
        tree = tree_with(where, commit, path, blobs[old], index)
        if culprit is None:
            culprit = parent = commit_as(where, tree, parent, commit, case["subject"])
        else:
            parent = commit_as(where, tree, parent, commit)
    return culprit, parent


def prepare(options, case, folder):
    source = find_repository(options, case["repository"])
    where = folder / "repository.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", "--shared", str(source), str(where)], check=True)
    line = git(where, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    known = git(where, "rev-parse", case.get("culprit", case.get("head")) + "^{commit}")
    last = line.index(known) + case.get("after", 0)
    assert last < len(line), f"{case['name']}: no {case['after']} commits follow {known}"
    commits = line[max(last - case["commits"], 0):last + 1]
    head, culprit = commits[-1], known
    if case["kind"] == "made":
        culprit, head = make_history(where, case, commits)
    git(where, "update-ref", "refs/heads/lab", head)
    return where, commits[0], head, culprit


def build(case, where, commit, folder):
    folder.mkdir()
    archive = subprocess.Popen(["git", "-C", str(where), "archive", commit, *case.get("paths", [])], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    archive.wait()
    if case.get("build"):
        done = subprocess.run(["sh", "-ec", case["build"]], cwd=folder, env={**os.environ, "DRIVERS": str(HERE / "drivers")},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Failed(done.stdout.decode("utf-8", "replace")[-2000:])


def measure(options, case, folder):
    command = case["run"].replace("DRIVERS", str(HERE / "drivers"))
    sides = [f"cd {folder / side} && {command}" for side in ("base", "head")]
    done = subprocess.run([options.kelvin, "bench", "--base", sides[0], "--head", sides[1], "--runs", str(options.runs), "--warmup", "1", "--save", str(folder),
                           "--json", str(folder / "bench.json")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"})
    if not (folder / "head.pb.gz").exists():
        raise Failed(done.stderr.decode("utf-8", "replace")[-2000:])


def judge(options, where, base, head, culprit, folder):
    out = folder / "diff.json"
    start = time.monotonic()
    subprocess.run([options.kelvin, "diff", str(folder / "base.pb.gz"), str(folder / "head.pb.gz"), "--commits", f"{base}..{head}",
                    "--repo", str(where), "--json", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    seconds = time.monotonic() - start
    result = json.loads(out.read_text())
    ranks = {commit["id"]: commit for commit in result.get("commits", [])}
    found = ranks.get(culprit)
    return {"verdict": result["verdict"], "rank": found["rank"] if found else None, "share": found["share_pct"] if found else 0,
            "first": result["commits"][0] if result.get("commits") else None, "suspects": len(ranks),
            "not_executed": len(result.get("commits_not_executed", [])), "seconds": seconds}


def run_case(options, case):
    folder = options.work / case["name"]
    if not (folder / "head.pb.gz").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        where, base, head, culprit = prepare(options, case, folder)
        build(case, where, base, folder / "base")
        build(case, where, head, folder / "head")
        measure(options, case, folder)
        (folder / "range.json").write_text(json.dumps([base, head, culprit]))
    base, head, culprit = json.loads((folder / "range.json").read_text())
    found = judge(options, folder / "repository.git", base, head, culprit, folder)
    return case["name"], case["kind"], case["commits"], found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kelvin")
    parser.add_argument("work", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--repositories")
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    options.kelvin = str(pathlib.Path(options.kelvin).resolve())
    places = []
    print(f"{'case':28} {'kind':6} {'commits':>7} {'verdict':>12} {'place':>5} {'share':>6} {'suspects':>8} {'seconds':>7}  first")
    for case in CASES:
        if not re.search(options.only, case["name"]):
            continue
        try:
            name, kind, count, found = run_case(options, case)
        except (Failed, subprocess.CalledProcessError) as error:
            print(f"{case['name']:28} FAILED: {error}", flush=True)
            places.append(None)
            continue
        first = found["first"]
        places.append(found["rank"])
        print(f"{name:28} {kind:6} {count:7} {found['verdict']:>12} {found['rank'] or '-':>5} {found['share']:5.0f} % {found['suspects']:8} "
              f"{found['seconds']:7.2f}  {first['id'][:10] + ' ' + first['subject'][:60] if first else ''}", flush=True)
    ranked = [place for place in places if place]
    print(f"first: {sum(place == 1 for place in ranked)} of {len(places)}; among the first three: {sum(place <= 3 for place in ranked)}")


if __name__ == "__main__":
    main()
