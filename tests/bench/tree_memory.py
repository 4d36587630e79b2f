#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tree_memory.py COMMAND...: runs a recorder, and prints the most memory, in kB, that all of its processes had together (each page is
# counted once, however many of them share it: the sum of their Pss), the most that one of them had, and how much the kernel holds for
# it in rings. What the recorder records is another program, and is not counted.
import os
import subprocess
import sys
import time

PAUSE_S = 0.002


def tree(pid):
    yield pid
    try:
        for task in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{task}/children') as children:
                for child in children.read().split():
                    yield from tree(int(child))
    except OSError:
        pass


def program_of(pid):
    try:
        return os.readlink(f'/proc/{pid}/exe')
    except OSError:
        return None


def pss(pid):
    try:
        with open(f'/proc/{pid}/smaps_rollup') as rollup:
            return sum(int(line.split()[1]) for line in rollup if line.startswith('Pss:'))
    except OSError:
        return 0


def rings(pid):
    total = 0
    try:
        with open(f'/proc/{pid}/maps') as maps:
            for line in maps:
                if 'anon_inode:[perf_event]' in line:
                    start, end = line.split()[0].split('-')
                    total += int(end, 16) - int(start, 16)
    except OSError:
        pass
    return total >> 10


def main():
    recorder = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    together = alone = locked = 0
    while recorder.poll() is None:
        program = program_of(recorder.pid)
        sizes = [pss(pid) for pid in tree(recorder.pid) if program and program_of(pid) == program]
        together = max(together, sum(sizes))
        alone = max([alone, *sizes])
        locked = max(locked, rings(recorder.pid))
        time.sleep(PAUSE_S)
    print(together, alone, locked)
    return recorder.returncode


sys.exit(main())
