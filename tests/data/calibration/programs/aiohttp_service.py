# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of aiohttp: aiohttp_service.py PORT."""
import sys

from aiohttp import web

import work


async def answer(request):
    return web.Response(text=work.ANSWERS[request.path]())


async def orders(request):
    return web.json_response(work.ORDERS)


app = web.Application()
app.router.add_get("/orders", orders)
for path in work.ANSWERS:
    app.router.add_get(path, answer)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
