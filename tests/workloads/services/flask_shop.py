# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of Flask below gunicorn. CHANGE names what its next release does in another way."""
import copy
import hashlib
import logging
import os
import sqlite3

import flask
import jinja2
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import count

CHANGE = os.environ.get("CHANGE", "")
VERSIONS = [f"{major}.{minor}.{patch}" for major in range(1, 4) for minor in range(4) for patch in range(2)]
WANTED = [">=1.1,<3", "~=2.1", "!=2.2.0,>=1.3", ">=1.0,<2.3,!=1.2.1", "==2.*"]
PAGE = """<table>{% for order in orders %}<tr class="{{ loop.cycle('odd', 'even') }}"><td>{{ order.id }}</td>
<td>{{ order.name|title }}</td><td>{{ '%.2f' % order.price }}</td>{% if order.late %}<td>late</td>{% endif %}</tr>{% endfor %}
</table>{% macro total(orders) %}{{ orders|sum(attribute='price') }}{% endmacro %}{{ total(orders) }}"""
ORDERS = [{"id": i, "name": f"order number {i}", "price": i * 1.25, "late": i % 3 == 0, "tags": [i % 5, i % 7]} for i in range(120)]

app = flask.Flask(__name__)
counted = count.Count()
templates = jinja2.Environment(autoescape=True)
page_template = templates.from_string(PAGE)
log = logging.getLogger("shop")
log.propagate = False
log.addHandler(logging.FileHandler(os.devnull))
log.handlers[0].setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(funcName)s %(message)s"))
log.setLevel(logging.DEBUG if CHANGE == "debug" else logging.INFO)


def open_orders():
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table orders (id integer primary key, name text)")
    database.execute("create table lines (order_id integer, price real)")
    database.execute("create index lines_by_order on lines (order_id)")
    database.executemany("insert into orders values (?, ?)", [(order["id"], order["name"]) for order in ORDERS])
    database.executemany("insert into lines values (?, ?)", [(i % len(ORDERS), i * 0.5) for i in range(600)])
    return database


database = open_orders()


@app.before_request
def count_request():
    counted.add()


def newest(wanted):
    specifiers = SpecifierSet(wanted)
    return max((version for version in map(Version, VERSIONS) if specifiers.contains(version)), default=None)


@app.route("/resolve")
def resolve():
    return {wanted: str(newest(wanted)) for wanted in WANTED}


def load_template():
    return templates.from_string(PAGE) if CHANGE == "templates" else page_template


@app.route("/page")
def page():
    return load_template().render(orders=ORDERS[:40])


def totals():
    if CHANGE == "lines":
        return [sum(price for (price,) in lines_of(order)) for (order,) in database.execute("select id from orders").fetchall()]
    return [total for (total,) in database.execute("select sum(price) from lines group by order_id").fetchall()]


def lines_of(order):
    return database.execute("select price from lines where order_id = ?", (order,)).fetchall()


@app.route("/totals")
def show_totals():
    return {"totals": totals()}


def check_password(password):
    rounds = 12000 if CHANGE == "password" else 2000
    return hashlib.pbkdf2_hmac("sha256", password, b"salt of this service", rounds)


@app.route("/login")
def login():
    return check_password(b"correct horse battery staple").hex()


def prices():
    orders = copy.deepcopy(ORDERS) if CHANGE == "deepcopy" else ORDERS
    found = {}
    for order in orders:
        for tag in order["tags"]:
            found[tag] = found.get(tag, 0) + order["price"]
        log.debug("order %s of price %s", order["id"], order["price"])
    return found


@app.route("/prices")
def show_prices():
    return {"prices": sorted(prices().items())}
