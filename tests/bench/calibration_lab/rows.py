# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the tables of tests/data/calibration of recordings: rows.py OUT [NAME...]. tests/data/calibration/README.md tells their format."""

import collections
import glob
import gzip
import json
import math
import os
import re
import statistics
import subprocess
import sys

import batches
import services

MOST_NAME = 110
LEAST_SAMPLES = 4
FIGURES = ("seconds", "samples", "period_ns", "requests", "total", "late_total", "interrupts", "compilation", "lost")


def halves():
    """Which programs constants are fitted to: those at odd places among their language's, by name; the others are held out."""
    kinds = {
        "service": {name: entry[0] for name, entry in services.ALL.items()},
        "batch": {name: entry[0] for name, entry in batches.ALL.items()},
        "suite": dict.fromkeys(batches.SUITES, "any"),
    }
    found = {}
    for table in kinds.values():
        for language in set(table.values()):
            for place, name in enumerate(sorted(name for name in table if table[name] == language)):
                found[name] = "held" if place % 2 else "fit"
    return found


def save(path, text):
    """Compressed, and the same bytes for the same text."""
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(text.encode())


def number(value, digits=6):
    return "0" if not value else f"{float(f'{value:.{digits}g}'):.10g}"


class Recording:
    """The figures, functions and edges of one recording, as bench_calibration_rows prints them."""

    def __init__(self, path, metric):
        with open(path[: -len("pb.gz")] + "json", encoding="utf-8") as file:
            self.circumstances = json.load(file)
        self.id = os.path.basename(path)[: -len(".pb.gz")]
        self.figures, self.functions, self.edges, self.benchmarks = {}, {}, collections.Counter(), []
        text = subprocess.run([os.environ["CALIBRATION_ROWS"], metric, path], capture_output=True, text=True, check=True).stdout
        for line in text.split("\n"):
            kind, *fields = line.split("\t")
            if kind == "R":
                self.figures[fields[0]] = fields[1] if fields[0] in ("event", "work") else float(fields[1])
            elif kind == "F":
                self.functions[int(fields[0])] = {
                    "class": fields[1],
                    "cells": [float(field) for field in fields[2:6]],
                    "key": clean(fields[6], fields[1]),
                    "template": clean(fields[7], fields[1]),
                    "module": fields[9],
                }
            elif kind == "E":
                self.edges[int(fields[0]), int(fields[1])] += float(fields[2])
            elif kind == "B":
                self.benchmarks.append(fields)


def clean(key, kind):
    """A key without the folders of this machine."""
    key = re.sub(r"/[^ :`]*/(tests/data/calibration/programs|tests/workloads/services)/", "", key)
    key = re.sub(r"/[^ :`]*kelvin-(?:calibration|services)-[^/ :`]*/[^/ :`]*/", "", key)
    key = re.sub(r"/[^ :`]*/(registry/src/[^/]*|rustlib/src/rust/library|\.rustup/toolchains/[^/]*)/", "", key)
    return f"{key} ({kind})" if kind in ("interrupt", "compiler") and "(interrupt)" not in key else key


class Table:
    """The rows of a program's recordings, joined by keys, and by templates of keys where a key is not in all of them."""

    def __init__(self, recordings):
        self.recordings = recordings
        counts = collections.Counter(key for recording in recordings for key in {f["key"] for f in recording.functions.values()})
        self.rows, self.cells, self.edges = {}, collections.defaultdict(lambda: [[0.0] * 4 for _ in recordings]), []
        for at, recording in enumerate(recordings):
            ids = {}
            for function, f in recording.functions.items():
                name = f["key"] if counts[f["key"]] == len(recordings) else f["template"]
                ids[function] = name
                row = self.rows.setdefault(name, {"module": f["module"], "classes": collections.Counter()})
                row["classes"][f["class"]] += f["cells"][1]
                for i, value in enumerate(f["cells"]):
                    self.cells[name][at][i] += value
            edges = collections.Counter()
            for (caller, callee), total in recording.edges.items():
                if caller in ids and callee in ids and ids[caller] != ids[callee]:
                    edges[ids[caller], ids[callee]] += total
            self.edges.append(edges)
        self.find_callers()
        self.pool()

    def find_callers(self):
        sums = sum(self.edges, collections.Counter())
        callers, self.callees = collections.defaultdict(list), collections.defaultdict(set)
        for (caller, callee), total in sums.items():
            callers[callee].append((total, caller))
            self.callees[caller].add(callee)
        for name, row in self.rows.items():
            row["class"] = row["classes"].most_common(1)[0][0]
            whole = sum(cells[1] for cells in self.cells[name])
            total, row["caller"] = max(callers[name], default=(0, None))
            row["caller_share"] = min(1, total / whole) if whole > 0 else 0

    def pool(self):
        """Rows of few samples in all recordings become one of their class; callers of others stay."""
        kept = {name for name in self.rows if max(cells[1] for cells in self.cells[name]) >= LEAST_SAMPLES}
        kept |= {self.rows[name]["caller"] for name in kept} - {None}
        for name in sorted(set(self.rows) - kept):
            row = self.rows.pop(name)
            other = f"(other) ({row['class']})"
            self.rows.setdefault(other, {"module": "", "class": row["class"], "caller": None, "caller_share": 0})
            for at, cells in enumerate(self.cells.pop(name)):
                into = self.cells[other][at]
                for i, j in (0, 0), (1, 0), (2, 2), (3, 2):
                    into[i] += cells[j]

    def shared(self, name, at):
        """What the functions that a row and its main caller both call take below either."""
        caller = self.rows[name]["caller"]
        both = sorted(self.callees[name] & self.callees[caller])
        return [sum(self.edges[at][above, callee] for callee in both) for above in (name, caller)]

    def lines(self):
        order = sorted(self.rows, key=lambda name: (-sum(cells[1] for cells in self.cells[name]), name))
        ids = {name: at for at, name in enumerate(order)}
        for name in order:
            row = self.rows[name]
            has_caller = row["caller"] in ids
            cells = []
            for at, values in enumerate(self.cells[name]):
                words = [number(value, 5) for value in values]
                if row["class"] == "compiled" and has_caller:
                    words += [number(value, 5) for value in self.shared(name, at)]
                cells.append("." if values[1] == 0 and set(words) == {"0"} else ",".join(words))
            text = name if len(name) <= MOST_NAME else name[: MOST_NAME // 2] + "…" + name[-MOST_NAME // 2 :]
            yield "\t".join(
                [
                    "row",
                    str(ids[name]),
                    row["class"],
                    str(ids[row["caller"]]) if has_caller else "-",
                    number(row["caller_share"] if has_caller else 0, 2),
                    text,
                    *cells,
                ]
            )


def others_cpus(recording):
    its = recording.circumstances
    if its["kind"] == "service":
        return its["others_cpus"]
    return its["busy_cpus"] - recording.figures["run_cpu_seconds"] / its["window_seconds"]


def recording_line(recording):
    its, figures = recording.circumstances, recording.figures
    per_s = figures["requests"] / figures["seconds"] if figures["seconds"] else 0
    known = "counted" if figures["work"] == "sockets" and figures["requests"] > 0 else "run" if its["kind"] == "batch" else "unknown"
    words = [
        recording.id,
        its["condition"],
        *(number(figures[name], 9) for name in FIGURES),
        number(per_s),
        number(its.get("driven_per_s")),
        known,
        number(its.get("cpu_seconds") or figures["run_cpu_seconds"]),
        number(others_cpus(recording), 3),
        number(its["steal_cpus"], 3),
        number(its["pressure"], 3),
        number(its["load_average"], 3),
    ]
    return "\t".join(["recording", *words])


COLUMNS = (
    "recording\tid\tcondition\t"
    + "\t".join(FIGURES)
    + "\trequests_per_s\tdriven_per_s\twork\tcpu_s\tothers_cpus\tsteal_cpus\tpressure\tload_average"
)


def spread(recordings):
    """Standard deviation of the logarithm of the cost of a unit of work among restarts."""
    costs = []
    for recording in recordings:
        figures, its = recording.figures, recording.circumstances
        work = 1 if its["kind"] == "batch" else figures["requests"] or its.get("driven_per_s", 0) * figures["seconds"]
        if its["condition"] in ("restart", "run") and work > 0 and figures["total"] > 0:
            costs.append(math.log(figures["total"] * figures["period_ns"] / work))
    return statistics.stdev(costs) if len(costs) > 1 else float("nan")


def write_program(out, name, paths, metric, half):
    recordings = []
    for path in paths:
        try:
            recordings.append(Recording(path, metric))
        except subprocess.CalledProcessError as failure:
            print(f"{path}: {failure.stderr.strip()[:200]}", file=sys.stderr)
    if not recordings:
        return
    its, table = recordings[0].circumstances, Table(recordings)
    lines = [
        f"program\t{name}\t{its['kind']}\t{its['language']}\t{half}\t{metric}",
        COLUMNS,
        *map(recording_line, recordings),
        "\t".join(["row", "id", "class", "caller", "caller_share", "name", *(recording.id for recording in recordings)]),
    ]
    rows = list(table.lines())
    save(out, "\n".join(["# kelvin calibration 1", *lines, *rows, ""]))
    samples = sum(recording.figures["total"] for recording in recordings) / len(recordings)
    others = [others_cpus(recording) for recording in recordings]
    print(
        f"{os.path.basename(out):26}{its['language']:8}{half:5}{len(recordings):3} recordings "
        f"{len(rows):5} rows {samples:7.0f} samples each, "
        f"spread {spread(recordings):.3f}, "
        f"others {min(others):.2f} to {max(others):.2f} CPUs, {os.path.getsize(out) >> 10} kB"
    )


def write_suite(out, name, paths, half):
    recordings = [Recording(path, "cpu") for path in paths]
    its, names = recordings[0].circumstances, list(dict.fromkeys(fields[4] for recording in recordings for fields in recording.benchmarks))
    circumstances = ("steal_cpus", "pressure", "busy_cpus", "load_average")
    lines = [
        "# kelvin calibration 1",
        f"program\t{name}\tsuite\t{its['language']}\t{half}\tcpu",
        "\t".join(["recording", "id", "condition", *circumstances]),
    ]
    for recording in recordings:
        its = recording.circumstances
        lines.append("\t".join(["recording", recording.id, its["condition"], *(number(its[word], 3) for word in circumstances)]))
    lines.append("\t".join(["benchmark", "name", *(recording.id for recording in recordings)]))
    for benchmark in names:
        cells = []
        for recording in recordings:
            found = [fields for fields in recording.benchmarks if fields[4] == benchmark]
            cells.append(",".join([found[0][2], found[0][1], number(float(found[0][3]), 5)]) if found else ".")
        lines.append("\t".join(["benchmark", benchmark, *cells]))
    save(out, "\n".join([*lines, ""]))
    print(f"{os.path.basename(out):26}{its['language']:8}{half:5}{len(recordings):3} executions {len(names):5} benchmarks")


def main():
    out, names, half = sys.argv[1], sys.argv[2:], halves()
    for folder in sorted(glob.glob(os.environ["CALIBRATION_RECORDINGS"] + "/*/")):
        name = os.path.basename(folder[:-1])
        if (names and name not in names) or name not in half:
            continue
        paths = sorted(path for path in glob.glob(folder + "*.pb.gz") if os.path.exists(path[: -len("pb.gz")] + "json"))
        waits = [path for path in paths if "w-" in os.path.basename(path)]
        others = [path for path in paths if path not in waits]
        if name in batches.SUITES and others:
            write_suite(f"{out}/{name}.tsv.gz", name, others, half[name])
        elif others:
            write_program(f"{out}/{name}.tsv.gz", name, others, "cpu", half[name])
        if waits:
            write_program(f"{out}/{name}.waits.tsv.gz", name, waits, "off-cpu", half[name])


if __name__ == "__main__":
    main()
