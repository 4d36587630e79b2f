# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of Tornado: tornado_service.py PORT."""
import sys

import tornado.ioloop
import tornado.template
import tornado.web

import work

page = tornado.template.Template("{% for order in orders %}<tr><td>{{ order['id'] }}</td><td>{{ order['name'] }}</td></tr>{% end %}")


class Page(tornado.web.RequestHandler):
    def get(self):
        self.write(page.generate(orders=work.ORDERS))


class Answer(tornado.web.RequestHandler):
    def get(self):
        self.write(work.ANSWERS[self.request.path]())


tornado.web.Application([("/page", Page), ("/.*", Answer)]).listen(int(sys.argv[1]), "127.0.0.1")
tornado.ioloop.IOLoop.current().start()
