# SPDX-License-Identifier: GPL-3.0-or-later
# What tests/bench/suites needs besides the suites themselves:
#
#   suites.py bare FOLDER COMMAND...      runs a suite as its harness does under a runner, but nothing is recorded
#   suites.py times FILE...               "NAME NANOSECONDS" of each benchmark: results of harnesses (.json), or what a program printed
#   suites.py ratio BASE HEAD...          the ratio of the times in pairs of files that `times` wrote, with its interval
#   suites.py stacks KELVIN PROFILE       whose functions are in the stacks of each benchmark
import json
import math
import os
import re
import select
import statistics
import struct
import subprocess
import sys

COMMANDS, ANSWERS = "/tmp/runner.ctl.fifo", "/tmp/runner.ack.fifo"
ACK, MODE_OF_RUNNER, GET_MODE = struct.pack("<I", 3), struct.pack("<II", 10, 0), 9


def read_all(descriptor, size):
    data = b""
    while len(data) < size:
        select.select([descriptor], [], [])
        data += os.read(descriptor, size - len(data))
    return data


# Answers each command, as soon as it is there, in a process of its own.
def serve():
    for path in COMMANDS, ANSWERS:
        os.mkfifo(path, 0o700)
    commands, answers = (os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in (COMMANDS, ANSWERS))
    server = os.fork()
    if server:
        return server
    while True:
        payload = read_all(commands, struct.unpack("<I", read_all(commands, 4))[0])
        answer = MODE_OF_RUNNER if struct.unpack_from("<I", payload)[0] == GET_MODE else ACK
        os.write(answers, struct.pack("<I", len(answer)) + answer)


def bare(folder, *command):
    environment = {"CODSPEED_ENV": "runner", "CODSPEED_RUNNER_MODE": "walltime", "CODSPEED_PROFILE_FOLDER": folder,
                   "PYTHONHASHSEED": "0"}
    server = serve()
    try:
        return subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL).returncode
    finally:
        os.kill(server, 9)
        os.waitpid(server, 0)
        os.unlink(COMMANDS)
        os.unlink(ANSWERS)


UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
PRINTED = [
    re.compile(r"^(?P<name>Benchmark\S*)\s+\d+\t\s*(?P<time>[\d.]+) (?P<unit>ns)/op"),
    re.compile(r"^(?P<name>BM_\S+) +(?P<time>[\d.]+) (?P<unit>ns|us|ms|s) +[\d.]+ (?:ns|us|ms|s) +\d+"),
    re.compile(r"^(?P<name>\S+) +time:   \[[\d.]+ \S+ (?P<time>[\d.]+) (?P<unit>\S+) "),
]


def times_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        if path.endswith(".json"):
            return {entry["uri"]: entry["stats"]["median_ns"] for entry in json.load(file)["benchmarks"]}
        found = [pattern.match(line) for line in file for pattern in PRINTED]
    return {match["name"]: float(match["time"]) * UNITS[match["unit"]] for match in found if match}


def times(*paths):
    for path in paths:
        for name, time in times_of(path).items():
            print(name, time, sep="\t")


def read_times(path):
    with open(path, encoding="utf-8") as file:
        return {name: float(time) for name, time in (line.rsplit("\t", 1) for line in file)}


# The geometric mean over benchmarks of each pair, and over pairs the mean with its 95 % interval.
def ratio(*paths):
    means = []
    for base_path, head_path in zip(paths[0::2], paths[1::2]):
        base, head = read_times(base_path), read_times(head_path)
        means.append(statistics.fmean(math.log(head[name] / base[name]) for name in base.keys() & head.keys()))
    middle, interval = statistics.fmean(means), "one pair"
    if len(means) > 1:
        error = statistics.stdev(means) / math.sqrt(len(means))
        interval = "%+.2f to %+.2f; %d pairs; median %+.2f %%" % (100 * math.expm1(middle - 2 * error),
            100 * math.expm1(middle + 2 * error), len(means), 100 * math.expm1(statistics.median(means)))
    print("%+.2f %% (%s)" % (100 * math.expm1(middle), interval))


WORKS = ("fib", "sort", "parse", "map")


def work_of(name):
    found = re.search(r"(?:^|[:_ ]|Benchmark)(%s)(?:$|[-/\[ ])" % "|".join(WORKS), name, re.IGNORECASE)
    return found[1].lower() if found else None


# A benchmark's functions have its name: what does the work, and around it what the harness calls.
def has_work(stack, work):
    return re.search(r"(?:work|run|test|BM|Benchmark)_?%s(?![a-z])" % work, stack, re.IGNORECASE)


def stacks(kelvin, profile):
    report = json.loads(subprocess.run([kelvin, "report", profile, "--json", "-"], check=True, capture_output=True).stdout)
    for benchmark in report["benchmarks"]:
        work = work_of(benchmark["uri"])
        folded = subprocess.run([kelvin, "report", profile, "--benchmark", benchmark["uri"], "--metric", "samples", "--folded", "-"],
                                check=True, capture_output=True).stdout.decode(errors="replace")
        samples = lacking = foreign = 0
        for line in folded.splitlines():
            stack, value = line.rsplit(" ", 1)
            samples += int(value)
            lacking += 0 if has_work(stack, work) else int(value)
            foreign += int(value) if any(has_work(stack, other) for other in WORKS if other != work) else 0
        print("    %-58s %6d samples, %5.2f %% of another, %5.2f %% without its own function" % (
            benchmark["uri"][-58:], samples, 100 * foreign / max(samples, 1), 100 * lacking / max(samples, 1)))


if __name__ == "__main__":
    sys.exit({"bare": bare, "times": times, "ratio": ratio, "stacks": stacks}[sys.argv[1]](*sys.argv[2:]))
