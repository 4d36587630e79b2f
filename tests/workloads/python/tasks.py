# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of asyncio that measure their own CPU time: tasks.py FILE [SECONDS [NAMES]]

Some have names, of which one is not ASCII; one has none, and another one is asked for the name that asyncio gives it. Each gives way to the
others after a few milliseconds. FILE gets a line for each: the name, and its share of the time in percent. With NAMES so many more tasks
run one after the other, each with a name of its own."""
import asyncio
import sys
import threading
import time

spent = {}


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(300))


async def work(name, weight, seconds):
    begin = time.thread_time()
    compute(0.003 * weight)
    spent[name] = spent.get(name, 0) + time.thread_time() - begin


async def run(name, weight, seconds):
    if name == "asked":
        asyncio.current_task().get_name()
    while time.process_time() < seconds:
        await work(name, weight, seconds)
        await asyncio.sleep(0)


async def serve(seconds, names):
    tasks = [
        asyncio.create_task(run("fetch prices", 1, seconds), name="fetch prices"),
        asyncio.create_task(run("Überweisung", 2, seconds), name="Überweisung"),
        asyncio.create_task(run("", 1, seconds)),
        asyncio.create_task(run("asked", 1, seconds)),
    ]
    for task in tasks:
        await task
    for i in range(names):
        await asyncio.create_task(work(f"name {i}", 1, 0), name=f"name {i}")


def in_thread(seconds):
    async def other():
        await asyncio.create_task(run("in a thread", 1, seconds), name="in a thread")

    asyncio.run(other())


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    thread = threading.Thread(target=in_thread, args=(seconds,))
    thread.start()
    asyncio.run(serve(seconds, int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    thread.join()
    total = time.process_time()
    with open(sys.argv[1], "w") as file:
        for name, used in spent.items():
            print(f"{name}\t{100 * used / total:.3f}", file=file)


main()
