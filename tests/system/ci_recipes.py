#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ci_recipes.py check ROOT: action.yml and the recipes parse; each input of the action is used and known; no value stands in a script.
Whatever they take in from elsewhere is pinned: actions by commit, images by digest.
ci_recipes.py script FILE NAME VALUES.json: the step of an action or a workflow, as a script for bash with the environment that it would have.
ci_recipes.py before FILE: what the jobs of GitLab's recipe run first."""
import glob
import json
import os
import re
import shlex
import sys

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def read(path):
    with open(path) as file:
        return yaml.safe_load(file)


def steps_of(document):
    """All steps, whether of an action or of a workflow."""
    if "runs" in document:
        return document["runs"]["steps"]
    return [step for job in document["jobs"].values() for step in job["steps"]]


def check(root):
    faults = []
    action = read(f"{root}/action.yml")
    # YAML 1.1 reads the key `on` as true.
    recipes = {os.path.basename(path): read(path) for path in sorted(glob.glob(f"{root}/docs/ci/*.yml"))}
    with open(f"{root}/action.yml") as file:
        text = file.read()
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    faults += [f"input {name} is not used" for name in set(action["inputs"]) - used]
    faults += [f"input {name} is not declared" for name in used - set(action["inputs"])]
    for name, document in {"action.yml": action, **recipes}.items():
        if name == "gitlab.yml":
            continue
        for step in steps_of(document):
            where = f"{name}: {step.get('name', step.get('uses', 'a step'))}"
            if EXPRESSION.search(step.get("run", "")):
                faults.append(f"{where}: a value stands in the script, and would be executed")
            if "run" in step and "runs" in document and step.get("shell") != "bash":
                faults.append(f"{where}: a step of an action needs a shell")
            if re.match(r"OWNER/kelvin@", step.get("uses", "")):
                faults += [f"{where}: no input {key}" for key in set(step["with"]) - set(action["inputs"])]
                faults += [f"{where}: {key} is missing" for key, value in action["inputs"].items() if value.get("required") and key not in step["with"]]
        if name != "action.yml" and "permissions" not in document:
            faults.append(f"{name}: it has all rights of the repository's default")
    if "pull_request_target" in json.dumps([str(recipe) for recipe in recipes.values()]):
        faults.append("pull_request_target runs with the rights of the repository")
    for path in ["action.yml", "scripts/ci-kelvin", "CONTRIBUTING.md", *(f"docs/ci/{name}" for name in recipes)]:
        with open(f"{root}/{path}") as file:
            faults += [f"{path}: not pinned: {line.strip()}" for line in file if is_loose(line)]
    print("\n".join(faults))
    return bool(faults)


def is_loose(line):
    """Whether the line takes in what others may change: an action or a checkout other than by a full commit, with its version as a comment,
    or an image other than by its digest. COMMIT stands for a commit that this repository cannot know: that of its own next release."""
    uses = re.search(r"\b(?:uses|ref): *(\S+)(.*)", line)
    if uses and not line.lstrip().startswith("#") and "github.event" not in line:
        return not re.fullmatch(r"(\S+@)?([0-9a-f]{40}|(OWNER/kelvin@)?COMMIT) +# v[0-9]+\.[0-9]+\.[0-9]+", uses[1] + uses[2])
    images = re.findall(r"\b(?:image(?:: *|=)|container: *|docker run .*? )['\"]?([a-z][a-z0-9./-]*[:@]\S*|\w+$)", line)
    return any(not re.search(r"@sha256:[0-9a-f]{64}$", image.strip("'\"")) for image in images if image)


def before(path):
    """What a job of GitLab runs first, as a script."""
    document = read(path)
    print("set -eo pipefail")
    print("\n".join(document[".kelvin"]["before_script"]))
    return False


def script(path, name, values):
    document = read(path)
    with open(values) as file:
        known = json.load(file)

    def filled(text):
        return EXPRESSION.sub(lambda match: known[match[1]], text)

    known = {f"inputs.{key}": filled(value.get("default", "")) for key, value in document.get("inputs", {}).items()} | known
    [step] = [step for step in steps_of(document) if step.get("name") == name]
    for key, value in step.get("env", {}).items():
        print(f"export {key}={shlex.quote(filled(value))}")
    print("set -eo pipefail")
    print(step["run"])
    return False


sys.exit({"check": check, "before": before, "script": script}[sys.argv[1]](*sys.argv[2:]))
