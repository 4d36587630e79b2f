# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that cost what the program says: `lines.py ROUNDS`. Rounds differ in length, so that no sampling keeps step."""
import functools
import random
import sys
import time

LAPS = {}


class Watch:
    """Charges the time since the last lap to a line: by default to that before the call."""

    def __init__(self):
        self.last = time.thread_time_ns()

    def lap(self, line=0):
        now = time.thread_time_ns()
        line = line or sys._getframe(1).f_lineno - 1
        LAPS[line] = LAPS.get(line, 0) + now - self.last
        self.last = time.thread_time_ns()


def repeated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + 1
    return wrapper


@repeated
@functools.lru_cache(maxsize=0)
def decorated(count):
    watch = Watch()
    value = sum(i & 3 for i in range(count))
    watch.lap()
    return value


def spin(count, line):
    watch = Watch()
    value = sum(range(count))
    watch.lap(line)
    return value


def numbers(count):
    watch = Watch()
    for step in range(4):
        value = sum(range(count))
        watch.lap()
        yield value + step
        watch = Watch()


def work():
    scale = random.randint(2, 20)
    watch = Watch()
    value = sum(range(6000 * scale))
    watch.lap()
    value += len([i * i % 7 for i in range(2000 * scale)])
    watch.lap()
    value += len({i: -i for i in range(1000 * scale)})
    watch.lap()
    for i in range(3000 * scale): value ^= i  # noqa: E701
    watch.lap()
    value += (spin(4000 * scale, sys._getframe().f_lineno)
              + spin(12000 * scale, sys._getframe().f_lineno))
    watch = Watch()
    value += decorated(3000 * scale)
    watch.lap()
    value += max(numbers(3000 * scale))
    watch.lap()
    return value


def main():
    start = time.thread_time_ns()
    for _ in range(int(sys.argv[1])):
        work()
    print("total", time.thread_time_ns() - start)
    for line, spent in LAPS.items():
        print(f"lines.py:{line} {spent}")


main()
