# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that says itself in which calls it is: steps.py FILE [OPTIONS]

It goes through chains of calls of all kinds. At the end of each it has its thread named after the step, computes for a while, and gives
the thread its old name back: the thread's name in a sample tells the step, to the instruction. FILE gets the chain of each step, as
sys._getframe() tells it: `STEP NAME FILE LINE` for each frame, the outermost first. The line of the innermost one is 0, for it moves on.
An empty line follows.

    --seconds S       CPU time of each step in each round (default 0.05)
    --rounds N        default 1
    --wait-for PATH   begins when the file exists
    --steps A,B,...   of all
    --without A,B,... not these
    --depth N         of the step `deep` (default 200)
    --execute PYTHON  at the end another Python takes the place of this one, for the step `executed`
"""
import argparse
import asyncio
import contextlib
import ctypes
import functools
import inspect
import itertools
import json
import multiprocessing
import os
import re
import sys
import threading
import time
import zlib

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--seconds", type=float, default=0.05)
parser.add_argument("--rounds", type=int, default=1)
parser.add_argument("--wait-for")
parser.add_argument("--steps")
parser.add_argument("--without", default="")
parser.add_argument("--depth", type=int, default=200)
parser.add_argument("--execute")
options = parser.parse_args()
seconds = options.seconds
chains = {}
callers = []  # the chain of the interpreter that runs this one
log = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
sys.setrecursionlimit(5000)


def own_awaiters():
    """The frame of the outermost coroutine of the task that runs, and those of the tasks that await it, from the innermost on: since 3.14
    asyncio tells them."""
    try:
        task = asyncio.current_task()
        graph = asyncio.capture_call_graph()
    except (AttributeError, RuntimeError):
        return None, []
    frames = []
    while graph and len(graph.awaited_by) == 1:
        graph = graph.awaited_by[0]
        frames += [entry.frame for entry in graph.call_stack]
    return task and task.get_coro().cr_frame, frames


def own_chain():
    frames = []
    frame = sys._getframe(2)
    outermost, awaiters = own_awaiters()
    while frame:
        for one in [frame, *awaiters] if frame is outermost else [frame]:
            code = one.f_code
            name = getattr(code, "co_qualname", code.co_name)
            frames.append((name, code.co_filename, one.f_lineno if frames else 0))
        frame = frame.f_back
    return callers + frames[::-1]


class NamedThread:
    """While it lasts, the thread's name says which step it is in."""

    def __init__(self, step):
        chain = own_chain()
        if chains.setdefault(step, chain) != chain:
            raise SystemExit(f"step {step} has several chains")
        lines = (f"{step}\t{name}\t{path}\t{line}\n" for name, path, line in chain)
        os.write(log, ("".join(lines) + "\n").encode())
        self.step = step
        self.comm = os.open("/proc/thread-self/comm", os.O_RDWR)
        self.before = os.read(self.comm, 16)

    def __enter__(self):
        os.write(self.comm, b"step:" + self.step.encode()[:10])

    def __exit__(self, *_):
        os.write(self.comm, self.before)
        os.close(self.comm)


def tick(i):
    return i & 7


def here(step):
    """The end of a chain: computes in Python, with calls."""
    with NamedThread(step):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            total = 0
            for i in range(2000):
                total += tick(i)


BYTES = bytes(range(256)) * 400
NUMBERS = list(range(2000))
PATTERN = re.compile("(a|b)+c")
TEXT = "abababc" * 1000


def here_in_c(step):
    """The end of a chain: computes in C code that calls nothing back."""
    with NamedThread(step):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            zlib.compress(BYTES, 9)
            sum(NUMBERS)
            sorted(NUMBERS)
            PATTERN.findall(TEXT)


def outer(step):
    middle(step)


def middle(step):
    inner(step)


def inner(step):
    here(step)


class Shape:
    class Part:
        def method(self, step):
            here(step)

        @classmethod
        def of_class(cls, step):
            here(step)

        @staticmethod
        def static(step):
            here(step)

    def __getattr__(self, name):
        here(name)
        return 1

    def __add__(self, step):
        here(step)
        return self

    def __iter__(self):
        here("iter")
        return iter(())

    def __del__(self):
        if not hasattr(type(self), "is_quiet"):
            here("del")

    def __call__(self, step):
        here(step)

    def __lt__(self, other):
        here("compare")
        return False


class Quiet(Shape):
    is_quiet = True


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@decorate
@decorate
def decorated(step):
    here(step)


def generator(step):
    here(step)
    yield 1


def delegating(step):
    yield from generator(step)


def first_only(step):
    def key(value):
        if value == 1:
            here(step)
        return value

    return key


@contextlib.contextmanager
def manager(step):
    here(step)
    yield


async def awaited(step):
    await asyncio.sleep(0)
    here(step)


async def task(step):
    await awaited(step)


async def gather(step):
    await asyncio.gather(asyncio.create_task(task(step)))


async def group(step):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(gather(step))


async def nested(step):
    await asyncio.wait_for(asyncio.create_task(group(step)), None)


async def shared(step):
    """Two tasks await one: the chain ends there."""
    one = asyncio.create_task(gather(step))

    async def other():
        await one

    await asyncio.gather(asyncio.create_task(other()), one)


async def asynchronous(step):
    yield 1
    here(step)


async def iterate(step):
    async for _ in asynchronous(step):
        pass


def recurse(depth, step):
    if depth > 0:
        recurse(depth - 1, step)
    else:
        here(step)


def recurse_through_c(depth, step):
    if depth > 0:
        list(map(functools.partial(recurse_through_c, depth - 1), (step,)))
    else:
        here(step)


def call_from_libc(step):
    def compare(_a, _b):
        here(step)
        return 0

    pointer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(compare)
    pair = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(pair, ctypes.c_size_t(2), ctypes.c_size_t(4), pointer)


def raise_and_catch(step):
    try:
        raise KeyError(step)
    except KeyError as error:
        here(error.args[0])
    finally:
        pass


def in_thread(step):
    thread = threading.Thread(target=middle, args=(step,))
    thread.start()
    thread.join()


def import_interpreters():
    for name in "_interpreters", "_xxsubinterpreters":
        with contextlib.suppress(ImportError):
            return __import__(name)


def code_of(step, call):
    """What another interpreter runs: it knows who has called it, whose line moves on."""
    known = {"seconds": seconds, "log": log, "chains": {}, "callers": own_chain(), "SOURCE": SOURCE}
    return "\n".join([*(f"{name} = {value!r}" for name, value in known.items()), SOURCE, f"{call}({step!r})"])


def in_interpreter(step, call="outer", interpreter=None):
    interpreters = import_interpreters()
    run = getattr(interpreters, "run_string", None) or interpreters.exec
    failed = run(interpreter or interpreters.create(), code_of(step, call))
    if failed:
        raise SystemExit(f"step {step}: {failed}")


def in_other(step):
    in_interpreter(step, "middle")


# What another interpreter has of this program.
SOURCE = "import contextlib, os, sys, time\nown_awaiters = lambda: (None, [])\n" + "\n".join(
    map(
        inspect.getsource,
        (own_chain, NamedThread, tick, here, inner, middle, outer, import_interpreters, code_of, in_interpreter, in_other),
    )
)


def in_interpreter_of_another_thread(step):
    interpreter = import_interpreters().create()
    thread = threading.Thread(target=in_interpreter, args=(step, "outer", interpreter))
    thread.start()
    thread.join()


def forked(step):
    pid = os.fork()
    if pid == 0:
        middle(step)
        os._exit(0)
    os.waitpid(pid, 0)


def forked_by_library(step):
    process = multiprocessing.get_context("fork").Process(target=middle, args=(step,))
    process.start()
    process.join()


def made(step):
    """Functions that are made, run and freed one after the other, so that their code has the address of the one before."""
    for i in range(int(seconds / 0.01)):
        scope = dict(globals())
        exec(compile("\n" * i + f"def made_{i}(step):\n    here_briefly(step)\n", f"made_{i}.py", "exec"), scope)
        scope[f"made_{i}"](f"made{i}")
        del scope


def here_briefly(step):
    with NamedThread(step):
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            for i in range(1000):
                tick(i)


def deleted():
    shape = Shape()
    del shape


# Their code stays: that of the step `made` does not.
EXPRESSION = compile("[inner(s), 1]", "<expression>", "eval")
STATEMENTS = compile("def defined():\n    outer('exec')\n\ndefined()", "<statements>", "exec")

STEPS = [
    ("plain", lambda s: outer(s)),
    ("in_c", lambda s: here_in_c(s)),
    ("method", lambda s: Shape.Part().method(s)),
    ("classm", lambda s: Shape.Part.of_class(s)),
    ("static", lambda s: Shape.Part.static(s)),
    ("lambda", lambda s: (lambda t: (lambda u: inner(u))(t))(s)),
    ("listcomp", lambda s: [inner(t) for t in (s,)]),
    ("dictcomp", lambda s: {t: inner(t) for t in (s,)}),
    ("genexpr", lambda s: any(inner(t) for t in (s,))),
    ("generator", lambda s: list(generator(s))),
    ("delegate", lambda s: [x for x in delegating(s)]),
    ("task", lambda s: asyncio.run(gather(s))),
    ("tasks", lambda s: asyncio.run(nested(s))),
    ("shared", lambda s: asyncio.run(shared(s))),
    ("asyncgen", lambda s: asyncio.run(iterate(s))),
    ("attribute", lambda s: getattr(Quiet(), s)),
    ("operator", lambda s: Quiet() + s),
    ("iter", lambda s: [*Quiet()]),
    ("callable", lambda s: Quiet()(s)),
    ("compare", lambda s: sorted([Quiet(), Quiet()])),
    ("del", lambda s: deleted()),
    ("decorated", lambda s: decorated(s)),
    ("partial", lambda s: functools.partial(outer, s)()),
    ("sorted", lambda s: sorted([2, 1], key=first_only(s))),
    ("resub", lambda s: re.sub("b", lambda m: inner(s) or "", "abc")),
    ("jsondump", lambda s: json.dumps(object(), default=lambda o: inner(s))),
    ("jsonload", lambda s: json.loads('{"a": 1}', object_hook=lambda o: inner(s))),
    ("map", lambda s: list(map(middle, (s,)))),
    ("filter", lambda s: list(itertools.filterfalse(outer, (s,)))),
    ("reduce", lambda s: functools.reduce(lambda a, b: inner(s), (1, 2))),
    ("with", lambda s: manager(s).__enter__()),
    ("except", lambda s: raise_and_catch(s)),
    ("eval", lambda s: eval(EXPRESSION, globals(), {"s": s})),
    ("exec", lambda s: exec(STATEMENTS, globals())),
    ("libc", lambda s: call_from_libc(s)),
    ("thread", lambda s: in_thread(s)),
    ("fork", lambda s: forked(s)),
    ("multiproc", lambda s: forked_by_library(s)),
    ("sub", lambda s: in_interpreter(s)),
    ("subsub", lambda s: in_interpreter(s, "in_other")),
    ("subthread", lambda s: in_interpreter_of_another_thread(s)),
    ("depth20", lambda s: recurse(20, s)),
    ("depth20c", lambda s: recurse_through_c(20, s)),
]
OTHERS = [
    ("executed", lambda s: outer(s)),
    ("deep", lambda s: recurse(options.depth, s)),
    ("made", lambda s: made(s)),
]


def main():
    chosen = STEPS
    if options.steps is not None:
        chosen = [step for step in STEPS + OTHERS if step[0] in options.steps.split(",")]
    chosen = [step for step in chosen if step[0] not in options.without.split(",")]
    while options.wait_for and not os.path.exists(options.wait_for):
        time.sleep(0.02)
    for _ in range(options.rounds):
        for step, run in chosen:
            run(step)
    if options.execute:
        os.execv(options.execute, [options.execute, __file__, options.file, f"--seconds={seconds}", "--steps=executed"])


main()
