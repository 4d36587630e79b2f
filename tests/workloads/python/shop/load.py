# SPDX-License-Identifier: GPL-3.0-or-later
"""load.py PORT RATE: asks the shop RATE times a second, for ever, however long the answers take to come. `load.py PORT 0` asks once."""
import asyncio
import itertools
import sys

PATHS = ("/list?noun=lamp", "/search?words=old+lamp", "/list?noun=bowl", "/search?words=green+chair+17")


async def ask(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.0\r\nHost: shop\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    if b" 200 " not in answer[:20]:
        raise SystemExit(answer[:200])


async def main():
    port, rate = int(sys.argv[1]), float(sys.argv[2])
    if rate == 0:
        await ask(port, PATHS[0])
        return
    loop = asyncio.get_running_loop()
    begin = loop.time()
    running = set()
    for count, path in enumerate(itertools.cycle(PATHS)):
        await asyncio.sleep(begin + count / rate - loop.time())
        task = asyncio.create_task(ask(port, path))
        running.add(task)
        task.add_done_callback(running.discard)


asyncio.run(main())
