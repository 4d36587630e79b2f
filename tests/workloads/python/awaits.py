# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of asyncio that wait: awaits.py [SECONDS]

A handler has two tasks, of which one waits for 20 ms and the other one for 50 ms, again and again. While both wait, each has half of the
time: so `brief` has a fifth of all, and `long` the rest."""
import asyncio
import sys
import time


async def pause(seconds):
    await asyncio.sleep(seconds)


async def brief():
    await pause(0.02)


async def long():
    await pause(0.05)


async def handle():
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(brief())
        tasks.create_task(long())


async def serve(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.create_task(handle())


asyncio.run(serve(float(sys.argv[1]) if len(sys.argv) > 1 else 2))
