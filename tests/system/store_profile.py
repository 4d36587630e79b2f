# SPDX-License-Identifier: GPL-3.0-or-later
"""A pprof for tests of stores, as an agent of another tool writes it.

    store_profile.py NAME START BETA

It began START seconds ago. alpha takes 1,000 ms of CPU time and beta BETA, somewhat. BETA 0: 20,000 stacks and one of 1,500 frames, one
of whose names is no UTF-8.
"""
import gzip
import random
import sys
import time


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def main():
    name, start, beta = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    random.seed(name)
    texts = [b"", b"cpu", b"nanoseconds", b"off-cpu", b"main", b"alpha", b"beta"]
    stacks = [((2, 1), 1000), ((3, 1), beta)]
    functions = 3
    if beta == 0:
        functions = 1700
        texts = texts[:4] + [b"f%d" % i for i in range(functions - 1)] + [b"caf\xe9"]
        stacks = [((2 + i // 150, 2 + i % 150, 1), 1 + i % 7) for i in range(20000)] + [(tuple(range(1500, 0, -1)), 5), ((functions, 1), 3)]
    out = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 2))
    for stack, mean in stacks:
        value = int(mean * random.gauss(1, 0.02)) * 1000000 if beta else mean * 1000000
        out += field(2, field(1, b"".join(map(varint, stack))) + field(2, varint(value) + varint(value // 2)))
    for i in range(1, functions + 1):
        out += field(4, field(1, i) + field(4, field(1, i))) + field(5, field(1, i) + field(2, i + 3))
    out += b"".join(field(6, text) for text in texts)
    out += field(9, int((time.time() - start) * 1e9)) + field(10, 5 * 10**9) + field(11, field(1, 1) + field(2, 2)) + field(12, 1000000)
    with open(name, "wb") as file:
        file.write(gzip.compress(out, 1))


main()
