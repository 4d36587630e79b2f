# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads lines of JSON, counts, matches and sorts: batch.py FOLDER."""
import collections
import csv
import heapq
import io
import json
import re
import sys


def read(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def count(rows):
    counts = collections.Counter()
    for row in rows:
        counts.update(row["tags"])
    return counts


def match(rows):
    pattern = re.compile(r"\b([a-f]+)\w* (\w*[aeiou]{2}\w*)")
    return sum(bool(pattern.search(row["name"])) for row in rows)


def write(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "name", "price"], extrasaction="ignore")
    for row in rows[: len(rows) // 3]:
        writer.writerow(row)
    return len(out.getvalue())


def shortest(counts):
    graph = {word: [other[::-1] for other in list(counts)[i % 50: i % 50 + 6]] for i, word in enumerate(counts)}
    queue, seen = [(0, next(iter(graph)))], {}
    while queue:
        distance, word = heapq.heappop(queue)
        if word in seen:
            continue
        seen[word] = distance
        for other in graph.get(word, graph.get(word[::-1], [])):
            heapq.heappush(queue, (distance + len(other), other))
    return len(seen)


rows = read(sys.argv[1] + "/rows.json")
counts = count(rows)
print(len(counts), match(rows), write(rows), shortest(counts), sorted(rows, key=lambda row: row["name"])[0]["id"])
