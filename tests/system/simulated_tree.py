# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file of the simulation tool (simulate/format.h) and prints how often each function of the program was called, by path.

    simulated_tree.py FILE PROGRAM     PART CALLS PATH of each function; the program is not position independent
    simulated_tree.py FILE             PART INSTRUCTIONS FIRST-MISSES LAST-MISSES SYSTEM-CALLS
"""
import bisect
import functools
import struct
import subprocess
import sys

NONE = 0xFFFFFFFF
PROCESS, MAPPING, BLOCKS, NODES, THREAD, PART, COUNTS, COSTS, END = range(1, 10)


class File:
    def __init__(self, path):
        self.mappings, self.blocks, self.nodes, self.parts, self.has_end = [], [], [], [], False
        data = open(path, "rb").read()
        at = 0
        while at < len(data):
            kind, entries, size = struct.unpack_from("<IIQ", data, at)
            payload = data[at + 16 : at + 16 + size]
            assert len(payload) == size and size % 8 == 0, "a record ends early"
            at += 16 + size
            used = 0
            for _ in range(entries):
                used += self.entry(kind, payload, used)
            assert used <= size < used + 8, f"record of kind {kind}: {used} of {size} bytes"

    def entry(self, kind, data, at):
        if kind == PROCESS:
            assert data[:8] == b"KELVINSM"
            return len(data)
        if kind == MAPPING:
            *_, length, _ = mapping = struct.unpack_from("<QQQQQII", data, at)
            self.mappings.append((mapping[0], mapping[1], data[48 : 48 + length].decode()))
            return len(data)
        if kind == BLOCKS:
            address, mapping, count, exits = struct.unpack_from("<QIHH", data, at)
            lengths = data[at + 16 : at + 16 + count]
            assert mapping < len(self.mappings)
            self.blocks.append((address, lengths, struct.unpack_from(f"<{exits}H", data, at + 16 + 2 * count)))
            return (16 + 2 * count + 2 * exits + 7) // 8 * 8
        if kind == NODES:
            parent, _, site, node_kind = struct.unpack_from("<IIQI", data, at)
            assert parent == NONE or parent < len(self.nodes), "a node before its parent"
            self.nodes.append((parent, site, node_kind))
            return 24
        if kind == THREAD:
            return 24
        if kind == PART:
            length = struct.unpack_from("<II", data, at)[1]
            self.parts.append((data[8 : 8 + length].decode(), [], []))
            return len(data)
        if kind == COUNTS:
            node, block = struct.unpack_from("<II", data, at)
            exits = len(self.blocks[block][2]) + 1
            assert node < len(self.nodes)
            self.parts[-1][1].append((node, block, struct.unpack_from(f"<{exits}Q", data, at + 8)))
            return 8 + 8 * exits
        if kind == COSTS:
            self.parts[-1][2].append(struct.unpack_from("<QIIQQQQQ", data, at))
            return 56
        assert kind == END, f"a record of kind {kind}"
        self.has_end = True
        return 8


def totals(file):
    for name, counts, costs in file.parts:
        instructions = 0
        for _, block, times in counts:
            _, lengths, left_after = file.blocks[block]
            instructions += sum(t * n for t, n in zip(times, left_after + (len(lengths),)))
        print(name or "-", instructions, *(sum(cost[i] for cost in costs) for i in (3, 4, 6)))


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
        while node != NONE and len(frames) < 12:
            node, site, kind = file.nodes[node]
            frame = name(site) if kind else None
            if frame and frame not in ("deregister_tm_clones", "frame_dummy"):
                frames.append(frame + (" interrupted" if kind == 2 else ""))
        return frames[::-1]

    for part, counts, _ in file.parts:
        paths = {}
        for node, block, times in counts:
            function = entries.get(file.blocks[block][0])
            if function:
                path = ";".join(path_of(node) + [function])
                paths[path] = paths.get(path, 0) + sum(times)
        for path in sorted(paths):
            print(part or "-", paths[path], path)


file = File(sys.argv[1])
assert file.has_end, "the file has no end"
if len(sys.argv) > 2:
    calls(file, sys.argv[2])
else:
    totals(file)
