# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of asyncio alone: asyncio_shop.py PORT. CHANGE names what its next release does in another way."""
import asyncio
import os
import sys

import count

CHANGE = os.environ.get("CHANGE", "")
counted = count.Count()
STOCK = {f"sku-{i}": i % 17 for i in range(500)}


async def look_up(sku):
    return STOCK[sku]


async def amounts(skus):
    if CHANGE == "tasks":
        return await asyncio.gather(*[asyncio.create_task(look_up(sku)) for sku in skus])
    return [await look_up(sku) for sku in skus]


async def answer(reader, writer):
    skus = list(STOCK)[:200]
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            counted.add()
            body = b"%d\n" % sum(await amounts(skus))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(port):
    server = await asyncio.start_server(answer, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1])))
