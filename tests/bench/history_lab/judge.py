# SPDX-License-Identifier: GPL-3.0-or-later
"""judge.py RECORDINGS DRIVER [--histories N] [--findings FILE]: histories of real recordings with a change in the middle, and without one,
judged by three methods on the same series: Kelvin's, Otava's for each function, and the rule that Sentry has."""
import argparse
import collections
import math
import os
import random
import statistics
import subprocess
import time

from otava.analysis import compute_change_points
from scipy.stats import t as student

# program: base build, next builds
PROGRAMS = {
    "command": ("base", ["more", "small", "moved", "flag"]),
    "server": ("base", ["head"]),
    "service": ("base", ["head"]),
    "python": ("base", ["tasks"]),
    "node": ("base", ["locale"]),
    "go": ("base", ["audit"]),
}
TOLERANCE = 1
LEAST_EFFECT = 0.1  # points; what Kelvin looks for, so that the others look for the same
Q = 0.05
OTAVA_P = 0.001
SENTRY = {"short": 2 / 21, "long": 2 / 41, "least": 6, "threshold": 0.1, "change": 0.1, "p": 0.05}
METHODS = ["kelvin", "otava", "otava+BH", "sentry"]

History = collections.namedtuple("History", "name kind program build known middle went paths")


# ---- Arranging ----

def recordings(folder, program, build):
    path = os.path.join(folder, program, build)
    names = sorted((n for n in os.listdir(path) if n.endswith(".pb.gz") and ".part" not in n), key=lambda n: int(n.split(".")[0])) \
        if os.path.isdir(path) else []
    return [os.path.join(path, n) for n in names]


def arrange(folder, count):
    """Histories by program: `count` of each build with a change and as many without one, each of both kinds of knowledge in turn."""
    for program, (base, builds) in PROGRAMS.items():
        old = recordings(folder, program, base)
        for build in builds:
            new = recordings(folder, program, build)
            for i in range(count):
                seed = random.Random(f"{program} {build} {i}")
                side = min(len(old), len(new), seed.choice([6, 8, 10, 12, 16, 20]))
                if side < 6:
                    break
                known = "known" if i % 2 else "unknown"
                paths = seed.sample(old, side) + seed.sample(new, side)
                yield History(f"{program}/{build} {i}", "change", program, build, known, side, None, paths)
            if len(old) >= 16 and len(new) >= 4:
                for i in range(max(1, count // 4)):
                    seed = random.Random(f"spike {program} {build} {i}")
                    first = seed.sample(old, 16)
                    paths = first[:8] + seed.sample(new, 4) + first[8:]
                    yield History(f"{program}/{build} spike {i}", "spike", program, build, "unknown", 8, 12, paths)
        for i in range(count):
            seed = random.Random(f"same {program} {i}")
            build = seed.choice([base, *builds])
            all_of = recordings(folder, program, build)
            if len(all_of) < 12:
                continue
            paths = seed.sample(all_of, min(len(all_of), seed.choice([12, 16, 20, 24, 32, 40])))
            yield History(f"{program}/{build} same {i}", "same", program, build, "known" if i % 2 else "unknown", 0, None, paths)


# ---- Kelvin ----

class Answer:
    def __init__(self):
        self.changes, self.values, self.notices = [], {}, []
        self.chains, self.proven = collections.defaultdict(set), {}


def ask(driver, histories):
    lines = ["\t".join([h.name, h.known, str(h.middle if h.kind == "change" else 0), *h.paths]) for h in histories]
    done = subprocess.run([driver], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = []
    for line in done.stdout.splitlines():
        kind, *rest = line.split("\t")
        if kind == "H":
            answers.append(Answer())
            a = answers[-1]
            a.series, a.scale, a.seconds = int(rest[1]), rest[2], float(rest[3])
        elif kind == "N":
            a.notices.append(rest[0])
        elif kind == "C":
            a.changes.append(dict(zip("key what at went before after q code moved listed".split(), rest)) | {"at": int(rest[2]), "went": int(rest[3])})
        elif kind == "V":
            a.values[rest[0], rest[1]] = [float(x) for x in rest[2:]]
        elif kind == "D":
            a.chains[rest[0]].add(rest[1])
        elif kind == "P":
            a.proven[rest[0]] = rest[1:]
    return answers


def kelvin(answer):
    """{(function, index)} of what is listed as a change."""
    return {(c["key"], at) for c in answer.changes if c["moved"] != "moved" for at in (c["at"], c["went"]) if at >= 0}


# ---- The others ----

def effect(values, at):
    return abs(statistics.fmean(values[at:]) - statistics.fmean(values[:at]))


def otava(answer):
    """Points of each function, and those that are left by Benjamini and Hochberg over all functions."""
    points, tests = set(), []
    for (key, what), values in answer.values.items():
        found, _ = compute_change_points(values, max_pvalue=OTAVA_P)
        found = [p for p in found if effect(values, p.index) >= LEAST_EFFECT]
        points |= {(key, p.index) for p in found}
        tests.append((min((p.stats.pvalue for p in found), default=1), [(key, p.index) for p in found]))
    tests.sort(key=lambda test: test[0])
    kept = max((i + 1 for i, test in enumerate(tests) if test[0] <= Q * (i + 1) / len(tests)), default=0)
    return {"otava": points, "otava+BH": {point for _, found in tests[:kept] for point in found}}


def t_test(left, right):
    m, n = len(left), len(right)
    if m < 2 or n < 2:
        return 1
    pooled = ((m - 1) * statistics.variance(left) + (n - 1) * statistics.variance(right)) / (m + n - 2)
    delta = abs(statistics.fmean(left) - statistics.fmean(right))
    if pooled == 0:
        return 0 if delta else 1
    return 2 * student.sf(delta / math.sqrt(pooled * (1 / m + 1 / n)), m + n - 2)


def sentry(answer):
    """A fast and a slow mean that cross choose candidates, of which the breakpoint is where the cumulated sum is farthest."""
    points = set()
    for (key, what), values in answer.values.items():
        if what != "self" and key != "*":
            continue
        short = long = values[0]
        before, is_candidate = 0, False
        for i, value in enumerate(values[1:], 2):
            short += SENTRY["short"] * (value - short)
            long += SENTRY["long"] * (value - long)
            ratio = (short - long) / abs(long) if long else 0
            if i >= SENTRY["least"] and ((before < SENTRY["threshold"] <= ratio) or (before > -SENTRY["threshold"] >= ratio)):
                is_candidate = True
            before = ratio
        if not is_candidate:
            continue
        mean, total, best, at = statistics.fmean(values), 0, 0, 0
        for i, value in enumerate(values[:-1], 1):
            total += value - mean
            if abs(total) > best:
                best, at = abs(total), i
        left, right = values[:at], values[at:]
        if at and t_test(left, right) < SENTRY["p"] and effect(values, at) >= max(LEAST_EFFECT, SENTRY["change"] * abs(statistics.fmean(left))):
            points.add((key, at))
    return {"sentry": points}


# ---- Judging ----

def near(points, keys, at):
    return any(key in keys and abs(index - at) <= TOLERANCE for key, index in points)


def others(points, keys, at):
    return "".join(f"{m} {'finds' if near(points[m], keys, at) else 'misses'} it, " for m in METHODS[2:])


def show(answer, key):
    return "; ".join(f"{what} " + " ".join(f"{x:.3g}" for x in answer.values[key, what]) for what in ("self", "total") if (key, what) in answer.values)


def judge(histories, answers, findings):
    found, wanted = collections.Counter(), collections.Counter()
    false, of, took = collections.Counter(), collections.Counter(), collections.Counter()
    for h, a in zip(histories, answers):
        points = {"kelvin": kelvin(a)}
        took["kelvin"] += a.seconds
        for method, of_method in (("otava", otava), ("sentry", sentry)):
            start = time.monotonic()
            if method in METHODS:
                points |= of_method(a)
            took[method] += time.monotonic() - start
        expected = {h.middle, h.went} - {None} if h.kind != "same" else set()
        if a.series != 1:
            print(f"SERIES  {h.name}: {a.series} series: {' / '.join(a.notices)}", file=findings)
        for method in METHODS:
            away = {(k, i) for k, i in points[method] if all(abs(i - e) > TOLERANCE for e in expected)}
            group = (h.kind, h.program, "away" if expected else "same")
            of[group] += method == METHODS[0]
            false[method, group] += len(away)
            if method == "kelvin":
                for key, index in sorted(away):
                    change = next(c for c in a.changes if c["key"] == key and index in (c["at"], c["went"]))
                    print(f"FALSE   {h.name} ({h.known}, {a.scale}, {len(h.paths)} profiles): {key} at {index} q {change['q']} code {change['code']}: "
                          f"{show(a, key)}", file=findings)
        if h.kind != "change":
            continue
        by_self = {key for key, (state, *_) in a.proven.items() if state != "moved"}
        items = [("changes", keys) for keys in a.chains.values()] + [("functions", {key}) for key in by_self]
        items += [("whole", {"*"})] if "*" in [k for keys in a.chains.values() for k in keys] else []
        if a.chains:
            items.append(("histories", set().union(*a.chains.values()) | {"*"}))
        for sort, keys in items:
            group = (sort, h.program + "/" + h.build, h.known)
            wanted[group] += 1
            for method in METHODS:
                hit = near(points[method], keys, h.middle)
                found[method, group] += hit
                if method == "kelvin" and not hit and sort == "functions":
                    key = next(iter(keys))
                    print(f"MISS    {h.name} ({h.known}, {a.scale}, {len(h.paths)} profiles): {key}: diff {' '.join(a.proven[key])}: {others(points, keys, h.middle)}"
                          f"{show(a, key)}", file=findings)
                if method == "kelvin" and not hit and sort == "histories":
                    print(f"NOTHING {h.name} ({h.known}, {a.scale}): nothing of {len(a.chains)} proven changes: {sorted(keys)[:4]}", file=findings)
        if h.build == "moved":
            for c in a.changes:
                if c["moved"] != "moved" and c["listed"] == "listed" and c["at"] == h.middle:
                    print(f"MOVED   {h.name} ({h.known}): {c['key']} is listed as {c['before']} -> {c['after']}", file=findings)
    return found, wanted, false, of, took


def print_table(found, wanted, false, of, took):
    def line(name, number, values, form):
        print(f"{name:44}{number:>8}" + "".join(f"{form(values[m]):>11}" for m in METHODS))

    print(f"{'found within one profile of the change':44}{'proven':>8}" + "".join(f"{m:>11}" for m in METHODS))
    percent = lambda x: f"{100 * x:.1f} %"
    for sort in ("histories", "changes", "functions"):
        groups = [g for g in wanted if g[0] == sort]
        for sub in sorted({g[1:] for g in groups}):
            g = (sort, *sub)
            line(f"  {sort}: {sub[0]}, code {sub[1]}", wanted[g], {m: found[m, g] / wanted[g] for m in METHODS}, percent)
        total = sum(wanted[g] for g in groups)
        if total:
            line(f"{sort}, all", total, {m: sum(found[m, g] for g in groups) / total for m in METHODS}, percent)
    print(f"\n{'points of functions where nothing changed':44}{'of':>8}" + "".join(f"{m:>11}" for m in METHODS))
    for g in sorted(of):
        line(f"  {g[0]}: {g[1]}", of[g], {m: false[m, g] for m in METHODS}, str)
    same = [g for g in of if g[0] == "same"]
    count = sum(of[g] for g in same)
    if count:
        line("in 20 histories without a change", count, {m: 20 * sum(false[m, g] for g in same) / count for m in METHODS}, lambda x: f"{x:.2f}")
    print(f"\nseconds: kelvin {took['kelvin']:.2f}, otava {took['otava']:.2f}, sentry {took['sentry']:.2f}")
    wanted_all = sum(n for g, n in wanted.items() if g[0] == "changes")
    found_all = sum(found["kelvin", g] for g in wanted if g[0] == "changes")
    share, rate = found_all / max(1, wanted_all), 20 * sum(false["kelvin", g] for g in same) / max(1, count)
    print(f"goals: {100 * share:.1f} % of the changes found (95 %), {rate:.2f} false points in 20 histories (1)")
    return share >= 0.95 and rate <= 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings")
    parser.add_argument("driver")
    parser.add_argument("--histories", type=int, default=8)
    parser.add_argument("--programs")
    parser.add_argument("--kelvin-only", action="store_true")
    parser.add_argument("--findings", default="/dev/null")
    options = parser.parse_args()
    if options.kelvin_only:
        del METHODS[1:]
    histories = [h for h in arrange(os.path.realpath(options.recordings), options.histories)
                 if not options.programs or h.program in options.programs.split(",")]
    print(f"{len(histories)} histories: " + ", ".join(f"{n} {k}" for k, n in collections.Counter(h.kind for h in histories).items()))
    answers = ask(options.driver, histories)
    with open(options.findings, "w", encoding="utf-8") as findings:
        result = judge(histories, answers, findings)
    good = print_table(*result)
    if not good:
        raise SystemExit(1)


main()
