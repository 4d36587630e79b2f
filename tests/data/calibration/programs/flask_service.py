# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of Flask below gunicorn."""
import flask

import work

app = flask.Flask(__name__)
PAGE = "{% for order in orders %}<tr><td>{{ order.id }}</td><td>{{ order.name|title }}</td><td>{{ '%.2f' % order.price }}</td></tr>{% endfor %}"
page = app.jinja_env.from_string(PAGE)


@app.route("/render")
def render():
    return page.render(orders=work.ORDERS)


@app.route("/parse")
def parse():
    return work.parse()


@app.route("/orders")
def orders():
    return flask.jsonify(work.ORDERS[:40])
