# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file of the simulation tool (sampler/simulated/format.h) and prints how often each function of the program was called, by path.

    simulated_tree.py FILE PROGRAM     PART CALLS PATH of each function; the program is not position independent
    simulated_tree.py FILE             PART INSTRUCTIONS FIRST-MISSES LAST-MISSES SYSTEM-CALLS
    simulated_tree.py FILE --records   how many records of counts there are, and how many parts that were not meant
"""
import bisect
import functools
import struct
import subprocess
import sys

PROCESS, MAPPING, BLOCKS, NODES, THREAD, COUNTS, DUMP, END = range(1, 9)
COUNT_END, COUNT_FIRST, COUNT_ALL = range(3)
HAS_NODE, HAS_COSTS, VALUES = 4, 8, 5
TRIGGER_ZERO = 2


class Payload:
    """The payload of a record, and the entry before the one that is read."""

    def __init__(self, data):
        self.data, self.at, self.address, self.site, self.block, self.node = data, 0, 0, 0, 0, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def step(self, before):
        return before + unzigzag(self.number())


def unzigzag(number):
    return number >> 1 ^ -(number & 1)


class File:
    def __init__(self, path):
        self.mappings, self.blocks, self.nodes, self.parts, self.has_end = [], [], [], [], False
        self.counts, self.records, self.zeroed = [], 0, 0
        data = open(path, "rb").read()
        at = 0
        while at < len(data):
            kind, entries, size = struct.unpack_from("<IIQ", data, at)
            payload = Payload(data[at + 16 : at + 16 + size])
            assert len(payload.data) == size and size % 8 == 0, "a record ends early"
            at += 16 + size
            self.records += kind == COUNTS
            for _ in range(entries):
                self.entry(kind, payload)
            assert payload.at <= size < payload.at + 8, f"record of kind {kind}: {payload.at} of {size} bytes"
        assert not self.counts, "counts of no dump"

    def entry(self, kind, payload):
        if kind == PROCESS:
            assert payload.take(len(payload.data))[:8] == b"KELVINSM"
        elif kind == MAPPING:
            *_, length, _ = mapping = struct.unpack("<QQQQQII", payload.take(48))
            self.mappings.append((mapping[0], mapping[1], payload.take(length).decode()))
        elif kind == BLOCKS:
            self.block(payload)
        elif kind == NODES:
            distance, place = payload.number(), payload.number()
            payload.site = payload.step(payload.site)
            assert distance <= len(self.nodes), "a node before its parent"
            self.nodes.append((len(self.nodes) - distance if distance else None, payload.site, place % 4))
        elif kind == COUNTS:
            self.count(payload)
        elif kind == DUMP:
            trigger, length = struct.unpack("<II", payload.take(8))
            name = payload.take(length).decode()
            if trigger == TRIGGER_ZERO:
                self.zeroed += 1
            else:
                self.parts.append((name, self.counts))
            self.counts = []
        elif kind == THREAD:
            payload.take(24)
        else:
            assert kind == END, f"a record of kind {kind}"
            payload.take(8)
            self.has_end = True

    def block(self, payload):
        address, mapping, count, exits = payload.step(payload.address), payload.number(), payload.number(), payload.number()
        assert mapping <= len(self.mappings)
        lengths, left_after = [], [0]
        for _ in range(count):
            length = payload.number()
            payload.take(length & 1)
            lengths.append(length >> 1)
        for _ in range(exits):
            left_after.append(left_after[-1] + payload.number())
        self.blocks.append((address, lengths, tuple(left_after[1:])))
        payload.address = address + sum(lengths)

    def count(self, payload):
        head = payload.number()
        payload.block += unzigzag(head >> 4)
        if head & HAS_NODE:
            payload.node = payload.step(payload.node)
        assert payload.node < len(self.nodes)
        _, lengths, left_after = self.blocks[payload.block]
        times = [0] * (len(left_after) + 1)
        if head & 3 == COUNT_ALL:
            times = [payload.number() for _ in times]
        else:
            times[{COUNT_END: -1, COUNT_FIRST: 0}[head & 3]] = payload.number()
        values, instruction, more = [0] * VALUES, 0, head & HAS_COSTS
        while more:
            cost = payload.number()
            instruction, more = instruction + (cost >> 6), cost & 1
            assert instruction < len(lengths) and cost & 62
            for i in range(VALUES):
                if cost >> 1 + i & 1:
                    values[i] += payload.number()
        self.counts.append((payload.node, payload.block, times, values))


def totals(file):
    for name, counts in file.parts:
        instructions = 0
        for _, block, times, _ in counts:
            _, lengths, left_after = file.blocks[block]
            instructions += sum(t * n for t, n in zip(times, left_after + (len(lengths),)))
        print(name or "-", instructions, *(sum(count[3][i] for count in counts) for i in (0, 1, 3)))


def calls(file, program):
    symbols = []
    for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "tT" and not fields[2].startswith("_"):
            symbols.append((int(fields[0], 16), fields[2]))
    symbols.sort()
    starts = [address for address, _ in symbols]
    entries = dict(symbols)

    @functools.lru_cache(maxsize=None)
    def name(address):
        if not any(start <= address < end and path == program for start, end, path in file.mappings):
            return None
        return symbols[max(bisect.bisect_right(starts, address) - 1, 0)][1]

    @functools.lru_cache(maxsize=None)
    def path_of(node):
        frames = []
        while node is not None and len(frames) < 12:
            node, site, kind = file.nodes[node]
            frame = name(site) if kind else None
            if frame and frame not in ("deregister_tm_clones", "frame_dummy"):
                frames.append(frame + (" interrupted" if kind == 2 else ""))
        return frames[::-1]

    for part, counts in file.parts:
        paths = {}
        for node, block, times, _ in counts:
            function = entries.get(file.blocks[block][0])
            if function:
                path = ";".join(path_of(node) + [function])
                paths[path] = paths.get(path, 0) + sum(times)
        for path in sorted(paths):
            print(part or "-", paths[path], path)


file = File(sys.argv[1])
assert file.has_end, "the file has no end"
if sys.argv[2:] == ["--records"]:
    print(file.records, file.zeroed)
elif len(sys.argv) > 2:
    calls(file, sys.argv[2])
else:
    totals(file)
