# SPDX-License-Identifier: GPL-3.0-or-later
# The four benchmarks that the suites of all languages have, for pytest-codspeed. The function of each that does the work has its name.
import json
import random

numbers = random.Random(1).sample(range(1000000), 2000)
text = json.dumps([{"name": f"key{i}", "values": [i, i * 0.5, None]} for i in range(200)])


def work_fib(n):
    return n if n < 2 else work_fib(n - 1) + work_fib(n - 2)


def work_sort(values):
    values = list(values)
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, len(values)):
            value = values[i]
            while i >= gap and values[i - gap] > value:
                values[i] = values[i - gap]
                i -= gap
            values[i] = value
    return values


def work_parse(source):
    return sum(json.loads(source)[i]["values"][1] for i in range(3))


def work_map(keys):
    counts = {}
    for key in keys:
        counts[key % 509] = counts.get(key % 509, 0) + key
    return counts


def test_fib(benchmark):
    assert benchmark(work_fib, 15) == 610


def test_sort(benchmark):
    assert benchmark(work_sort, numbers) == sorted(numbers)


def test_parse(benchmark):
    assert benchmark(work_parse, text) == 1.5


def test_map(benchmark):
    assert len(benchmark(work_map, numbers)) <= 509
