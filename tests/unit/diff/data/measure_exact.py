#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much the counts of a simulator differ between runs of one Python program, by function.

Runs the program under callgrind with a fixed cache, without address randomization and with a fixed hash seed, as
`kelvin simulate` does. In a directory that does not change all runs are equal to the last digit. Here each run finds one
more file beside the program, as two checkouts differ: Python lists that directory. Writes OUT.csv: metric, function,
and the count of each run. Functions that vary by less than LEAST of the total are summed up as "rest". Cycles are
those of profile/cost_model.h.

usage: measure_exact.py OUT.csv [RUNS]
"""
import collections
import os
import subprocess
import sys
import tempfile

LEAST = 5e-6
PROGRAM = r"""
import json, re
class P:
    def __init__(s, n): s.n = n; s.d = {}
    def add(s, k, v): s.d[k] = s.d.get(k, 0) + v
def parse(n):
    p = P(n)
    for i in range(n): p.add('k%d' % (i % 97), i)
    return json.dumps(p.d)
def words(n): return sum(len(re.findall(r'k\d+', parse(50))) for _ in range(n))
def objects(n):
    l = [P(i) for i in range(n)]
    return len(set(map(id, l))) + len({x: i for i, x in enumerate(l)})
print(len(parse(3000)), words(20), objects(3000))
"""


def simulate(program, out):
    command = ["setarch", "--addr-no-randomize", "valgrind", "-q", "--tool=callgrind", "--cache-sim=yes",
               "--branch-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64", "--dump-line=no",
               "--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=" + out, "/usr/bin/python3", program]
    subprocess.run(command, check=True, env=dict(os.environ, PYTHONHASHSEED="0"), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def read(path):
    """The events' self costs by function."""
    costs, function, events, is_call = collections.defaultdict(lambda: [0] * 13), "", [], False
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            function = line[3:].split("'")[0]
        elif line.startswith("calls="):
            is_call = True
        elif line and (line[0].isdigit() or line[0] in "+-*"):
            if not is_call:
                for i, value in enumerate(line.split()[1:]):
                    costs[function][i] += int(value)
            is_call = False
    return {f: metrics(dict(zip(events, c))) for f, c in costs.items()}


def metrics(c):
    first, last = c["I1mr"] + c["D1mr"] + c["D1mw"], c["ILmr"] + c["DLmr"] + c["DLmw"]
    branches = c["Bcm"] + c["Bim"]
    cycles = c["Ir"] // 2 + 12 * (first - last) + 150 * last + 12 * branches
    return {"instructions": c["Ir"], "cycles": cycles, "l1-misses": first, "ll-misses": last, "branch-misses": branches}


def main():
    out, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    measured = []
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "program.py")
        open(program, "w").write(PROGRAM)
        for run in range(runs):
            open(os.path.join(work, f"result-{run}.txt"), "w").close()
            simulate(program, os.path.join(work, "out"))
            measured.append(read(os.path.join(work, "out")))
    with open(out, "w") as csv:
        csv.write("metric,function" + "".join(f",run{i + 1}" for i in range(runs)) + "\n")
        for metric in ("instructions", "cycles", "l1-misses", "ll-misses", "branch-misses"):
            rest, least = [0] * runs, LEAST * sum(f[metric] for f in measured[0].values())
            for function in sorted(set().union(*measured)):
                values = [m[function][metric] if function in m else 0 for m in measured]
                if max(values) - min(values) >= least:
                    csv.write(f"{metric},{function}," + ",".join(map(str, values)) + "\n")
                else:
                    rest = [a + b for a, b in zip(rest, values)]
            csv.write(f"{metric},rest," + ",".join(map(str, rest)) + "\n")


main()
