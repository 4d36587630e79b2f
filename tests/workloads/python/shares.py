# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of known CPU shares: shares.py FILE [SECONDS]

Parts of different kinds (a function, a method, a lambda, a generator, a coroutine, code of a module, a callback of C code, a thread, ...)
run in turn, in slices, until the process has used SECONDS of CPU time (default 3). FILE then has a line for each: the qualified name and
the file of the function that the part is, and the CPU time that its thread used while it ran, in percent of that of the process.
"""
import asyncio
import ctypes
import functools
import json
import re
import sys
import threading
import time

SLICE_NS = 4_000_000
spent = {}


class Part:
    """Adds the CPU time of a block to the function that it is in."""

    def __enter__(self):
        code = sys._getframe(1).f_code
        self.name = getattr(code, "co_qualname", code.co_name), code.co_filename
        self.begin = time.thread_time_ns()

    def __exit__(self, *_):
        used = time.thread_time_ns() - self.begin
        spent[self.name] = spent.get(self.name, 0) + used


def work(weight=1.0):
    """Computes for a slice."""
    end = time.thread_time_ns() + int(SLICE_NS * weight)
    total = 0
    while time.thread_time_ns() < end:
        for i in range(3000):
            total += i & 7
    return total


def plain():
    with Part():
        work(2)


class Outer:
    class Inner:
        def method(self):
            with Part():
                work()

        @property
        def attribute(self):
            with Part():
                work()
            return 1

    def __add__(self, other):
        with Part():
            work()
        return self


def outer_function():
    with Part():
        work(0.5)
        inner_function()


def inner_function():
    with Part():
        work(1.5)


def closure():
    def enclosed():
        with Part():
            work()

    return enclosed


def comprehension():
    with Part():
        return [work(0.5) for _ in range(2)]


def generated():
    with Part():
        work()
    yield 1


def delegating():
    yield from generated()


async def awaited():
    with Part():
        work()


async def coroutine():
    await awaited()
    await asyncio.sleep(0)


def sort_key(value):
    if value == 1:
        with Part():
            work()
    return value


def replace_match(match):
    with Part():
        work()
    return match.group(0)


def default_of_json(value):
    with Part():
        work()
    return 0


def compare_for_c(a, b):
    with Part():
        work()
    return 0


def in_c_code():
    """Its time is C code's that calls nothing back."""
    with Part():
        end = time.thread_time_ns() + SLICE_NS
        while time.thread_time_ns() < end:
            re.search("(a|b|ab)*c", "ab" * 8)
            json.dumps(NUMBERS)
            sorted(NUMBERS)


def recursion(depth):
    if depth > 0:
        return recursion(depth - 1)
    with Part():
        work()
    return 0


def in_thread():
    with Part():
        work()


def run_thread():
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()


MODULE = compile(
    "with Part():\n    work()\n", __file__.replace("shares.py", "shares_module.py"), "exec"
)
NUMBERS = list(range(500, 0, -1))
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(compare_for_c)
in_lambda = lambda: in_lambda_called()


def in_lambda_called():
    with Part():
        work()


def call_from_libc():
    pair = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(pair, ctypes.c_size_t(2), ctypes.c_size_t(4), COMPARE)


PARTS = [
    plain,
    lambda: Outer.Inner().method(),
    lambda: Outer.Inner().attribute,
    lambda: Outer() + 1,
    outer_function,
    lambda: closure()(),
    comprehension,
    lambda: list(delegating()),
    lambda: asyncio.run(coroutine()),
    lambda: sorted([2, 1], key=sort_key),
    lambda: re.sub("b", replace_match, "abc"),
    lambda: json.dumps(object(), default=default_of_json),
    functools.partial(recursion, 100),
    lambda: in_lambda(),
    in_c_code,
    call_from_libc,
    run_thread,
    lambda: exec(MODULE, globals()),
]


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3
    while time.process_time() < seconds:
        for part in PARTS:
            part()
    total = time.process_time_ns()
    with open(sys.argv[1], "w") as file:
        for (name, path), ns in spent.items():
            print(f"{name}\t{path}\t{100 * ns / total:.4f}", file=file)


main()
