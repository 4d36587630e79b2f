# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys of real services on 127.0.0.1, driven at a fixed rate, recorded before and after, and what Kelvin says of them.

See tests/bench/services, which builds and installs what this needs."""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import catalogue
import processes

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_SECONDS = 5
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
        self.metric = options.get("metric")
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


class Lab:
    """Folders, programs and options that all rows share."""

    def __init__(self, options):
        self.options = options
        self.kelvin = os.path.realpath(os.environ["KELVIN"])
        self.build = os.environ["SERVICES_BUILD"]
        self.programs = os.environ["SERVICES_PROGRAMS"]
        self.python = f"{self.venv('flask', {})}/bin/python"
        self.load = f"{self.build}/load"
        self.folder = tempfile.mkdtemp(prefix="kelvin-services-")
        os.chmod(self.folder, 0o755)
        self.memory = tempfile.mkdtemp(prefix="kelvin-services-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)

    def new_folder(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        os.chmod(folder, 0o755)
        return folder

    def new_counts(self):
        """A folder of counters, in memory: what a service writes there costs it little."""
        return tempfile.mkdtemp(dir=self.memory)

    def venv(self, kind, settings):
        release = settings.get("PACKAGING", "26") if kind == "flask" else settings.get("PYDANTIC", "2")
        return f"{self.build}/venv-{kind}-{release}"

    def release(self, build, stripped):
        return f"{self.build}/shop_{build}{'_stripped' if stripped else ''}"

    def remove(self):
        for folder in self.folder, self.memory:
            shutil.rmtree(folder, ignore_errors=True)


# ---- One recording ----

class Load:
    """The load generator, of which the figures of a window of time are taken."""

    def __init__(self, service, rate, seconds, command=None):
        self.is_pgbench = command is None and isinstance(service, catalogue.Postgres)
        self.folder = service.folder
        self.process = processes.start(command or service.load(rate, seconds), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def begin(self):
        self.since = time.time()
        if not self.is_pgbench:
            self.next_line()

    def next_line(self):
        if self.process.poll() is not None:
            raise processes.Failure("the load generator has ended")
        self.process.send_signal(signal.SIGUSR1)
        return json.loads(self.process.stdout.readline())

    def take(self):
        """Ends the window. pgbench tells of it only when it has ended."""
        if self.process.poll() is not None:
            raise processes.Failure("the load generator has ended")
        self.until = time.time()
        self.line = None if self.is_pgbench else self.next_line()

    def end(self):
        if self.is_pgbench:
            self.process.wait(60)
        processes.end(self.process)
        self.process.stdout.close()

    def figures(self):
        """Requests a second, and quantiles of the time to the first byte of an answer, in nanoseconds."""
        if not self.is_pgbench:
            return {"per_s": self.line["count"] / self.line["seconds"], "errors": self.line["errors"],
                    "p50": self.line["first_p50_ns"], "p99": self.line["first_p99_ns"]}
        times = []
        for name in os.listdir(self.folder):
            if name.startswith("transactions."):
                with open(f"{self.folder}/{name}", encoding="ascii") as file:
                    for line in file:
                        words = line.split()
                        if len(words) >= 7 and self.since <= float(words[4]) + float(words[5]) / 1e6 < self.until:
                            times.append((int(words[2]) - int(words[6])) * 1000)
        quantiles = statistics.quantiles(times, n=100) if len(times) > 1 else [0] * 99
        return {"per_s": len(times) / (self.until - self.since), "errors": 0, "p50": quantiles[49], "p99": quantiles[98]}


def record(lab, deploy, service, path):
    """Records a service for a while; returns what the kernel and the service say of that time."""
    command = [lab.kelvin, "record", "-q", "-p", str(service.process.pid), "-d", str(lab.options.seconds), "-o", path]
    recorder = processes.start(command + (["--off-cpu"] if deploy.off_cpu else []), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        started, cpu, count = time.monotonic(), processes.cpu_seconds(service.process.pid), service.count()
        time.sleep(lab.options.seconds)
        seconds = time.monotonic() - started
        cpu, count = processes.cpu_seconds(service.process.pid) - cpu, service.count() - count
        said = recorder.communicate(timeout=120)[0]
        if recorder.returncode != 0:
            raise processes.Failure(f"kelvin record: {said.strip()[-200:]}")
        return {"cpu_per_s": cpu / seconds, "own_per_s": count / seconds}
    finally:
        processes.end(recorder)


def measure(lab, deploy, settings, rate, path):
    """Starts a service with its settings, drives and records it."""
    service = catalogue.ALL[deploy.service](lab, settings)
    noise, loads = [], []
    seconds = lab.options.seconds
    try:
        service.start()
        noise += [processes.start(["sh", "-c", "while :; do :; done"]) for _ in range(int(settings.get("NOISE", "0")))]
        rate = float(settings.get("RATE", rate))
        if int(settings.get("WARM_RATE", service.warm_rate)) > 0:
            processes.run(service.load(int(settings.get("WARM_RATE", service.warm_rate)), WARM_SECONDS))
        loads.append(Load(service, rate, service.warm_seconds + seconds + service.spare_seconds))
        if "BESIDE" in settings:
            beside, _, request = settings["BESIDE"].partition(":")
            loads.append(Load(service, 0, 0, [lab.load, service.protocol, str(service.port), "1", beside, "1", str(seconds + 90),
                                              request.replace("_", " ") + "\r\n"]))
        time.sleep(service.warm_seconds)
        for load in loads:
            load.begin()
        figures = record(lab, deploy, service, path)
        for load in loads:
            load.take()
            load.end()
        said = [load.figures() for load in loads]
        figures.update(said[0], per_s=sum(its["per_s"] for its in said), errors=sum(its["errors"] for its in said))
        figures["cpu_per_request"] = figures["cpu_per_s"] / max(figures["per_s"], 0.01)
        return figures
    finally:
        for load in loads:
            processes.end(load.process)
        for process in noise:
            processes.end(process)
        if hasattr(service, "process"):
            service.end()


# ---- One row ----

def compare(lab, metric, base, head, folder, name):
    """What `kelvin diff` says: its JSON and its text. The profiles' names hold no word that could pass for a cause."""
    json_path, text_path = f"{folder}/{name}.json", f"{folder}/{name}.txt"
    command = [lab.kelvin, "diff", ",".join(base), ",".join(head), "--json", json_path, "--text", text_path]
    if metric:
        command += ["--metric", metric]
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
    """What Kelvin counted on a side, wherever this version of the schema keeps it."""
    requests = said.get("requests") or {}
    found = requests.get(side) if isinstance(requests.get(side), dict) else None
    return found or (said.get("recordings") or {}).get(side, {}).get("requests") or {}


def cause_of(said):
    cause = said.get("cause")
    if isinstance(cause, dict):
        return cause.get("text") or cause.get("function") or cause.get("name")
    return cause


def kelvin_ratio(said):
    totals, mode = said.get("totals") or {}, (said.get("scale") or {}).get("mode")
    if mode != "per-request" or totals.get("delta_pct_of_base") is None:
        return None
    return 1 + totals["delta_pct_of_base"] / 100


def mean(sides, key):
    return statistics.fmean(side[key] for side in sides)


def print_row(deploy, title, result, said, text, sides):
    scale = said.get("scale") or {}
    print(f"{title}  [{result['verdict']}{'' if deploy.cause is None else ', cause ' + ('named' if result['cause'] else 'NOT named')}]")
    print(f"    truth     {'|'.join(deploy.verdicts)}" + (f", cause {deploy.cause}" if deploy.cause else ""))
    print(f"    verdict   {said['verdict']}: {said['verdict_text'][:220]}")
    print(f"    cause     {cause_of(said) or '-'}; scale {scale.get('mode', '-')}")
    for side in "base", "head":
        counted = requests_of(said, side)
        own = sides[side]
        print(f"    {side}      requests/s: kelvin {value(counted.get('per_s'))}, service {value(mean(own, 'own_per_s'))}, generator "
              f"{value(mean(own, 'per_s'))}{' with errors' if mean(own, 'errors') > 0 else ''}; p50/p99 ms: kelvin {value(counted.get('p50_ns'), 1e-6, 3)}/"
              f"{value(counted.get('p99_ns'), 1e-6, 3)}, generator {value(mean(own, 'p50'), 1e-6, 3)}/{value(mean(own, 'p99'), 1e-6, 3)}; "
              f"CPU {value(mean(own, 'cpu_per_request'), 1e3, 3)} ms a request")
    print(f"    CPU per request, head to base: kernel {value(result['kernel_ratio'], 1, 3)}, kelvin {value(result['kelvin_ratio'], 1, 3)}", flush=True)


def run_deploy(lab, deploy, factors, folder):
    """Records base once, head at each factor of the rate, and compares; yields a result for each factor."""
    def record_side(side, settings, rate):
        names = [f"{side}{run}.pb.gz" for run in range(1, deploy.runs + 1)]
        return names, [measure(lab, deploy, settings, rate, f"{folder}/{name}") for name in names]

    base_names, base = record_side("base", deploy.base, deploy.rate)
    for factor in factors:
        title = deploy.name + ("" if factor == 1 else f"@{factor:g}")
        head_names, head = record_side("head" if factor == 1 else f"head@{factor:g}-", deploy.head, deploy.rate * factor)
        name = "diff" if factor == 1 else f"diff@{factor:g}"
        said, text = compare(lab, deploy.metric, base_names, head_names, folder, name)
        cpu = compare(lab, "cpu", base_names, head_names, folder, f"{name}-cpu")[0] if deploy.off_cpu else said
        result = {
            "name": title, "group": deploy.group, "said": said["verdict"], "verdict": judge(deploy, said), "has_cause": deploy.cause is not None,
            "cause": deploy.cause is not None and re.search(deploy.cause, "\n".join(text.splitlines()[:10])) is not None,
            "kernel_ratio": mean(head, "cpu_per_request") / max(mean(base, "cpu_per_request"), 1e-9), "kelvin_ratio": kelvin_ratio(cpu),
            "base": base, "head": head,
        }
        print_row(deploy, title, result, said, text, {"base": base, "head": head})
        yield result


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
        if result["verdict"] != "right" or (result["has_cause"] and not result["cause"]):
            print(f"  {result['name']}: {result['said']} is {result['verdict']}" + ("" if result["cause"] or not result["has_cause"] else ", cause not named"))
    for name, reason in failures:
        print(f"  {name}: FAILED: {reason}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/services", description="Deploys of real services, and what Kelvin says of them.")
    parser.add_argument("names", nargs="*", help="rows or groups (issue, deploys) of deploys.txt, or patterns of names (default: all)")
    parser.add_argument("--keep", metavar="DIR", help="keeps the profiles, JSON and texts there")
    parser.add_argument("--rate-factor", type=float, action="append",
                        help="head's rate by base's; repeatable (default: 1, and of the group deploys 1 and 2.5)")
    parser.add_argument("--seconds", type=float, default=6, help="of a recording (default: 6)")
    parser.add_argument("--list", action="store_true", help="lists the rows")
    return parser.parse_args()


def wanted(deploy, names):
    return not names or any(deploy.group == name or re.fullmatch(name, deploy.name) for name in names)


def main():
    options = parse_arguments()
    deploys = [deploy for deploy in read_deploys(f"{HERE}/deploys.txt") if wanted(deploy, options.names)]
    if options.list or not deploys:
        print("\n".join(f"{deploy.group} {deploy.service} {deploy.name}" for deploy in deploys) or "no such row")
        return 0 if deploys else 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    lab = Lab(options)
    results, failures = [], []
    try:
        folder = os.path.abspath(options.keep) if options.keep else lab.new_folder()
        for deploy in deploys:
            factors = options.rate_factor or ([1, 2.5] if deploy.group == "deploys" else [1])
            try:
                os.makedirs(f"{folder}/{deploy.name}", exist_ok=True)
                results += run_deploy(lab, deploy, factors, f"{folder}/{deploy.name}")
            except (processes.Failure, OSError, subprocess.SubprocessError, ValueError, TypeError) as failure:
                failures.append((deploy.name, str(failure)[:300]))
                print(f"{deploy.name}  FAILED: {failures[-1][1]}", flush=True)
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/results.json", "w", encoding="utf-8") as file:
            json.dump({"results": results, "failures": failures}, file, indent=1)
        print_summary(results, failures)
    finally:
        lab.remove()
    return 1 if failures or any(result["verdict"] == "false" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
