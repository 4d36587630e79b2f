# SPDX-License-Identifier: GPL-3.0-or-later
"""gaps.py LIBRARY DEPTH: below DEPTH frames of Python, looks for gaps in its time by tests/bench/gaps.c. For each tenth of a second it prints
their lengths in nanoseconds, in one line."""
import ctypes
import sys

find_gaps = ctypes.CDLL(sys.argv[1]).find_gaps
find_gaps.argtypes = (ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t)
find_gaps.restype = ctypes.c_size_t
gaps = (ctypes.c_uint32 * 10000)()


def descend(depth):
    if depth > 0:
        descend(depth - 1)
        return
    while True:
        count = find_gaps(100_000_000, gaps, len(gaps))
        print(*gaps[:count], flush=True)


# The module and the innermost call are frames as well.
descend(int(sys.argv[2]) - 2)
