# SPDX-License-Identifier: GPL-3.0-or-later
"""Work as programs in Python have it: records are read from JSON, matched, summed up in classes of their own, sorted and written again.
Every tenth of a second a line says: the clock, the CPU time used so far, both in nanoseconds, and how many units of work are done."""
import json
import re
import time
from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Line:
    path: str
    status: int
    size: int

    def is_error(self):
        return self.status >= 500

    def weight(self):
        return self.size * (2 if self.is_error() else 1)


class Table:
    def __init__(self):
        self.sums = defaultdict(int)

    def add(self, line):
        self.sums[self.place(line.path)] += line.weight()

    def place(self, path):
        return PATTERN.sub("N", path)

    def top(self):
        return sorted(self.sums.items(), key=lambda item: -item[1])[:10]


PATTERN = re.compile(r"\d+")
TEXT = json.dumps(
    [{"path": f"/item/{i % 97}/part/{i % 7}", "status": 200 + i % 310, "size": i * 37 % 4096} for i in range(200)]
)


def parse(text):
    return [Line(**record) for record in json.loads(text)]


def unit():
    table = Table()
    for line in parse(TEXT):
        table.add(line)
    return json.dumps(table.top())


def main():
    count = 0
    at = time.monotonic()
    while True:
        unit()
        count += 1
        if time.monotonic() - at > 0.1:
            at = time.monotonic()
            print(time.monotonic_ns(), time.process_time_ns(), count, flush=True)


main()
