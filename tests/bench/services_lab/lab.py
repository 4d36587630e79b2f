# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys of real services on 127.0.0.1, driven at a fixed rate, recorded before and after, and what Kelvin says of them.

See tests/bench/services, which builds and installs what this needs."""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys

import measure
import processes

HERE = os.path.dirname(os.path.abspath(__file__))
CHANGED = {"regressed", "improved", "mixed"}


class Deploy:
    """One row of the table."""

    def __init__(self, group, line):
        columns = [column.strip() for column in line.split("|", 8)]
        if len(columns) != 9:
            raise processes.Failure(f"deploys.txt: nine columns, not {len(columns)}: {line.strip()}")
        self.group, self.name, self.service = group, columns[0], columns[1]
        self.rate = float(columns[2])
        self.base, self.head = (settings_of(f"{columns[3]} {column}") for column in columns[4:6])
        options = settings_of(columns[6])
        self.runs = int(options.get("runs", "1"))
        self.off_cpu = "off-cpu" in options
        self.verdicts = columns[7].split(",")
        self.cause = None if columns[8] == "-" else columns[8]


def settings_of(text):
    return {name: value for name, _, value in (word.partition("=") for word in text.split())}


def read_deploys(path):
    deploys, group = [], ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                group = line.strip("[]\n ")
            elif line.strip() and not line.startswith("#"):
                deploys.append(Deploy(group, line))
    return deploys


# ---- One row ----

def compare(lab, base, head, folder, name, *options):
    """What `kelvin diff` says: its JSON and its text. The profiles' names hold no word that could pass for a cause."""
    json_path, text_path = f"{folder}/{name}.json", f"{folder}/{name}.txt"
    command = [lab.kelvin, "diff", ",".join(base), ",".join(head), "--json", json_path, "--text", text_path, *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300, cwd=folder)
    if done.returncode not in (0, 1, 3):
        raise processes.Failure(f"kelvin diff: {done.stderr.strip()[-200:]}")
    with open(json_path, encoding="utf-8") as file, open(text_path, encoding="utf-8") as text:
        return json.load(file), text.read()


def judge(deploy, said):
    """'right', 'false' where the verdict says the opposite of the truth or finds a change where there is none, else 'undecided'."""
    if said["verdict"] in deploy.verdicts:
        return "right"
    is_same = not CHANGED & set(deploy.verdicts)
    if is_same:
        return "false" if said["verdict"] in CHANGED else "undecided"
    return "false" if said["verdict"] in CHANGED | {"unchanged", "machine"} else "undecided"


def value(number, scale=1.0, digits=4):
    return "-" if number is None else f"{number * scale:.{digits}g}"


def requests_of(said, side):
    """What Kelvin counted on a side; nothing where it did not count."""
    return (said.get("recordings") or {}).get(side, {}).get("requests") or {}


def cause_of(said):
    return (said.get("cause") or {}).get("function")


def kelvin_ratio(said):
    totals, mode = said.get("totals") or {}, (said.get("scale") or {}).get("mode")
    if mode != "per-request" or totals.get("delta_pct_of_base") is None:
        return None
    return 1 + totals["delta_pct_of_base"] / 100


def mean(sides, key):
    return statistics.fmean(side[key] for side in sides)


def print_row(deploy, result, said, sides):
    scale = said.get("scale") or {}
    print(f"{result['name']}  [{result['verdict']}{'' if deploy.cause is None else ', cause ' + ('named' if result['cause'] else 'NOT named')}]")
    print(f"    truth     {'|'.join(deploy.verdicts)}" + (f", cause {deploy.cause}" if deploy.cause else ""))
    print(f"    verdict   {said['verdict']}: {said['verdict_text'][:500]}")
    print(f"    cause     {cause_of(said) or '-'}; scale {scale.get('mode', '-')}")
    for side in "base", "head":
        counted, own = requests_of(said, side), {key: mean(sides[side], key) for key in sides[side][0]}
        print(f"    {side}      requests/s: kelvin {value(counted.get('per_s'))}, service {value(own['own_per_s'])}, "
              f"generator {value(own['per_s'])}{' with errors' if own['errors'] > 0 else ''}; "
              f"p50/p99 ms: kelvin {value(counted.get('p50_ns'), 1e-6, 3)}/{value(counted.get('p99_ns'), 1e-6, 3)}, "
              f"generator {value(own['p50'], 1e-6, 3)}/{value(own['p99'], 1e-6, 3)}; "
              f"CPU {value(own['cpu_per_request'], 1e3, 3)} ms a request")
    print(f"    CPU per request, head to base: kernel {value(result['kernel_ratio'], 1, 3)}, kelvin {value(result['kelvin_ratio'], 1, 3)}", flush=True)


def record_side(lab, deploy, settings, rate, folder, side):
    """Names and figures of the recordings of a side; with --again, those that were kept."""
    names, path = [f"{side}{run}.pb.gz" for run in range(1, deploy.runs + 1)], f"{folder}/{side}.figures.json"
    if not lab.options.again:
        figures = [measure.measure(lab, deploy, settings, rate, f"{folder}/{name}") for name in names]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    with open(path, encoding="utf-8") as file:
        return names, json.load(file)


def run_deploy(lab, deploy, factors, folder):
    """Records base once, head at each factor of the rate, and compares; yields a result for each factor."""
    base_names, base = record_side(lab, deploy, deploy.base, deploy.rate, folder, "base")
    for factor in factors:
        suffix = "" if factor == 1 else f"@{factor:g}"
        head_names, head = record_side(lab, deploy, deploy.head, deploy.rate * factor, folder, "head" + (suffix and suffix + "-"))
        said, text = compare(lab, base_names, head_names, folder, f"diff{suffix}")
        cpu = compare(lab, base_names, head_names, folder, f"diff{suffix}-cpu", "--metric", "cpu")[0] if deploy.off_cpu else said
        result = {
            "name": deploy.name + suffix, "group": deploy.group, "said": said["verdict"], "verdict": judge(deploy, said),
            "has_cause": deploy.cause is not None,
            "cause": deploy.cause is not None and re.search(deploy.cause, "\n".join(text.splitlines()[:10])) is not None,
            "kernel_ratio": mean(head, "cpu_per_request") / max(mean(base, "cpu_per_request"), 1e-9), "kelvin_ratio": kelvin_ratio(cpu),
        }
        print_row(deploy, result, said, {"base": base, "head": head})
        yield result


def count_services(lab, deploys):
    """Requests by all three counts, of the first row of each service."""
    print(f"{'requests':12}{'generator':>10}{'service':>10}{'kelvin':>10}")
    for name in dict.fromkeys(deploy.service for deploy in deploys):
        deploy = next(deploy for deploy in deploys if deploy.service == name)
        counts = measure.count_exactly(lab, deploy, f"{lab.new_folder()}/count.pb.gz")
        print(f"{name:12}" + "".join(f"{'-' if count is None else round(count):>10}" for count in counts), flush=True)


def print_summary(results, failures):
    def count(key, wanted):
        return sum(result[key] == wanted for result in results)

    with_cause = [result for result in results if result["has_cause"]]
    close = [result for result in results if result["kelvin_ratio"] and result["kernel_ratio"] > 0]
    good = sum(1 / 1.1 <= result["kelvin_ratio"] / result["kernel_ratio"] <= 1.1 for result in close)
    print(f"\n{len(results)} comparisons: {count('verdict', 'right')} right verdicts, {count('verdict', 'false')} false, "
          f"{count('verdict', 'undecided')} undecided; {sum(result['cause'] for result in with_cause)} of {len(with_cause)} causes named; "
          f"CPU per request within a factor 1.1 of the kernel's in {good} of {len(close)}")
    for result in results:
        unnamed = result["has_cause"] and not result["cause"]
        if result["verdict"] != "right" or unnamed:
            print(f"  {result['name']}: {result['said']} is {result['verdict']}{', cause not named' if unnamed else ''}; "
                  f"by the kernel {value(result['kernel_ratio'], 1, 3)} times the CPU time per request")
    for name, reason in failures:
        print(f"  {name}: FAILED: {reason}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/services", description="Deploys of real services, and what Kelvin says of them.")
    parser.add_argument("names", nargs="*", help="rows or groups (issue, deploys) of deploys.txt, or patterns of names (default: all)")
    parser.add_argument("--keep", metavar="DIR", help="keeps the profiles, JSON and texts there")
    parser.add_argument("--rate-factor", type=float, action="append",
                        help="head's rate by base's; repeatable (default: 1, and of the group deploys 1 and 2.5)")
    parser.add_argument("--seconds", type=float, default=6, help="of a recording (default: 6)")
    parser.add_argument("--again", action="store_true", help="records nothing, but compares again what --keep kept")
    parser.add_argument("--counts", action="store_true", help="records no deploys, but compares counts of requests, one service after another")
    parser.add_argument("--list", action="store_true", help="lists the rows")
    options = parser.parse_args()
    if options.again and not options.keep:
        parser.error("--again compares what --keep kept: give its DIR")
    return options


def wanted(deploy, names):
    return not names or any(deploy.group == name or re.fullmatch(name, deploy.name) for name in names)


def run_deploys(lab, deploys):
    results, failures = [], []
    folder = os.path.abspath(lab.options.keep) if lab.options.keep else lab.new_folder()
    for deploy in deploys:
        factors = lab.options.rate_factor or ([1, 2.5] if deploy.group == "deploys" else [1])
        try:
            os.makedirs(f"{folder}/{deploy.name}", exist_ok=True)
            for result in run_deploy(lab, deploy, factors, f"{folder}/{deploy.name}"):
                results.append(result)
        except (processes.Failure, OSError, subprocess.SubprocessError, ValueError, TypeError) as failure:
            failures.append((deploy.name, str(failure)[:300]))
            print(f"{deploy.name}  FAILED: {failures[-1][1]}", flush=True)
    print_summary(results, failures)
    return 1 if failures or any(result["verdict"] == "false" for result in results) else 0


def main():
    options = parse_arguments()
    deploys = [deploy for deploy in read_deploys(f"{HERE}/deploys.txt") if wanted(deploy, options.names)]
    if options.list or not deploys:
        print("\n".join(f"{deploy.group} {deploy.service} {deploy.name}" for deploy in deploys) or "no such row")
        return 0 if deploys else 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    lab = measure.Lab(options)
    try:
        if options.counts:
            count_services(lab, deploys)
            return 0
        return run_deploys(lab, deploys)
    finally:
        lab.remove()


if __name__ == "__main__":
    sys.exit(main())
