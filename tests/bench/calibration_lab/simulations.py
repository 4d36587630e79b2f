# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates programs that do not change, again and again, and makes tables of the counts: simulations.py OUT [NAME...].

Each repeat has another variable in its environment and runs in another folder, as in another checkout. tests/data/calibration/README.md
tells the format.
"""

import collections
import json
import os
import random
import subprocess
import sys

import rows

REPEATS = 5
METRICS = ("instructions", "cycles", "l1-misses")
LEAST_PART = 0.0005

INPUT = "head -{} {{input}}/text | {}"


def piped(lines, command):
    return ["sh", "-c", INPUT.format(lines, command)]


# Name: language, command, and what the environment has besides.
ALL = {
    "simulated-addresses": ("c", ["{bin}/addresses", "{chance}"], {}),
    "simulated-bzip2": ("c", piped(9000, "bzip2 -9"), {}),
    "simulated-gcc": ("c++", ["gcc", "-O1", "-c", "-o", "out.o", "{input}/unit.c"], {}),
    "simulated-gzip": ("c", piped(12000, "gzip -7"), {}),
    "simulated-jq": ("c", ["jq", "-c", "select(.price > 30) | {{name: (.name | ascii_upcase), p: (.price * 2 | floor)}}", "{input}/rows.json"], {}),
    "simulated-mawk": ("c", ["mawk", "{{ for (i = 2; i < NF; i++) n[$i]++; s += $NF }} END {{ print length(n), s }}", "{input}/text"], {}),
    "simulated-node": ("node", ["node", "{programs}/batch.js", "{input}"], {}),
    "simulated-perl": ("c", ["perl", "{programs}/batch.pl", "{input}"], {}),
    "simulated-php": ("php", ["php", "-n", "{programs}/batch.php", "{input}"], {}),
    "simulated-python": ("python", ["/usr/bin/python3", "{programs}/batch.py", "{input}"], {}),
    "simulated-python-seeds": ("python", ["/usr/bin/python3", "{programs}/batch.py", "{input}"], {"PYTHONHASHSEED": "random"}),
    "simulated-ruby": ("ruby", ["ruby", "{programs}/batch.rb", "{input}"], {}),
    "simulated-rust": ("rust", ["{bin}/batch_rs", "{input}"], {}),
    "simulated-sort": ("c", ["sort", "-k4", "--parallel=1", "{input}/text"], {}),
    "simulated-sqlite3": ("c", ["sh", "-c", "sqlite3 :memory: < {programs}/batch.sql"], {}),
    "simulated-threads": ("c", ["{bin}/threads"], {}),
    "simulated-xz": ("c", piped(2500, "xz -6 -T1"), {}),
}


def make_input(folder):
    """The same bytes on every machine."""
    os.makedirs(folder, exist_ok=True)
    chance = random.Random(1)
    words = ["".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(chance.randrange(2, 11))) for _ in range(2000)]
    with open(f"{folder}/text", "w", encoding="ascii") as file:
        for i in range(16000):
            file.write(f"{i} {' '.join(words[int(chance.paretovariate(0.4)) % 2000] for _ in range(9))} {chance.random():.6f}\n")
    with open(f"{folder}/rows.json", "w", encoding="ascii") as file:
        for i in range(3000):
            row = {"id": i, "name": " ".join(chance.choices(words, k=3)), "price": round(chance.random() * 100, 2), "tags": chance.choices(words, k=4)}
            file.write(json.dumps(row) + "\n")
    with open(f"{folder}/unit.c", "w", encoding="ascii") as file:
        file.write("#include <string.h>\n")
        for i in range(40):
            file.write(
                f"int part{i}(const char *text, int n)\n{{\n int sum = {i};\n for (int j = 0; j < n; j++)\n"
                f"  sum += text[j] % {i % 7 + 3} ? (int)strlen(text + j) : sum * {i % 31 + 3};\n"
                f" return sum + {f'part{i - 1}(text, n - 1)' if i else 0};\n}}\n"
            )
    return folder


def simulate(name, repeat, recordings):
    path = f"{recordings}/{name}/{repeat}.pb.gz"
    if os.path.exists(path):
        return path
    _, command, variables = ALL[name]
    chance = random.Random(f"{name} {repeat}")
    folder = f"{recordings}/{name}/{'x' * chance.randrange(1, 40)}"
    places = {
        "input": f"{recordings}/input",
        "bin": os.environ["CALIBRATION_BIN"],
        "programs": os.environ["CALIBRATION_PROGRAMS"],
        "chance": chance.randrange(1 << 30),
    }
    os.makedirs(folder, exist_ok=True)
    environment = {**os.environ, **variables, "CALIBRATION_PAD": "x" * chance.randrange(1, 200)}
    subprocess.run(
        [os.environ["KELVIN"], "simulate", "-q", "--no-sources", "-o", path, "--", *(word.format(**places) for word in command)],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return path


def write(out, name, half, metric, paths):
    """Counts of a repeat are whole numbers, and functions with a small part in every one are left out."""
    language = ALL[name][0]
    totals, cells, classes = [], collections.defaultdict(lambda: [[0, 0] for _ in paths]), {}
    for at, path in enumerate(paths):
        text = subprocess.run([os.environ["CALIBRATION_ROWS"], metric, path], capture_output=True, text=True, check=True).stdout
        for kind, *fields in (line.split("\t") for line in text.split("\n")):
            if kind == "R" and fields[0] == "total":
                totals.append(float(fields[1]))
            elif kind == "F":
                key = rows.clean(fields[7], fields[1])
                classes[key] = fields[1]
                for i in range(2):
                    cells[key][at][i] += float(fields[2 + i])
    kept = [key for key in cells if max(cell[1] / total for cell, total in zip(cells[key], totals)) >= LEAST_PART]
    kept.sort(key=lambda key: (-sum(cell[1] for cell in cells[key]), key))
    lines = ["# kelvin calibration 1", f"program\t{name}\tsimulation\t{language}\t{half}\t{metric}", "recording\tid\tcondition\ttotal"]
    lines += [f"recording\ta{at + 1:02}\trun\t{total:.0f}" for at, total in enumerate(totals)]
    lines.append("\t".join(["row", "id", "class", "caller", "caller_share", "name", *(f"a{at + 1:02}" for at in range(len(paths)))]))
    for at, key in enumerate(kept):
        text = key if len(key) <= rows.MOST_NAME else key[: rows.MOST_NAME // 2] + "…" + key[-rows.MOST_NAME // 2 :]
        words = [f"{cell[0]:.0f},{cell[1]:.0f}" if cell[1] else "." for cell in cells[key]]
        lines.append("\t".join(["row", str(at), "compiled" if classes[key] == "compiled" else "other", "-", "0", text, *words]))
    rows.save(f"{out}/{name}.{metric}.tsv.gz", "\n".join([*lines, ""]))
    print(f"{name} {metric}: {half}, {len(kept)} rows, {totals[0] / 1e6:.1f} million, spread {max(totals) / min(totals) - 1:.2g}")


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(ALL)
    recordings = os.path.realpath(os.environ["CALIBRATION_RECORDINGS"])
    make_input(f"{recordings}/input")
    for name in sorted(names):
        alike = sorted(other for other in ALL if ALL[other][0] == ALL[name][0])
        paths = [simulate(name, repeat, recordings) for repeat in range(REPEATS)]
        for metric in METRICS:
            write(out, name, "held" if alike.index(name) % 2 else "fit", metric, paths)


if __name__ == "__main__":
    main()
