# SPDX-License-Identifier: GPL-3.0-or-later
"""What the services in Python do for a request: each function makes the text of one answer."""
import collections
import hashlib
import json
import re
import string

ORDERS = [{"id": i, "name": f"order {i * 7919 % 503} of customer {i % 9}", "price": i * 1.25, "tags": [i % 5, i % 7]} for i in range(80)]
TEXT = json.dumps(ORDERS)
ROW = string.Template("<tr><td>$id</td><td>$name</td><td>$price</td></tr>")
PATTERN = re.compile(r"order (\d+)7 of customer (\d)")


def render():
    return "<table>" + "".join(ROW.substitute(order) for order in ORDERS[:25]) + "</table>"


def parse():
    sums = collections.Counter()
    for order in json.loads(TEXT):
        for tag in order["tags"]:
            sums[tag] += order["price"]
    return json.dumps(sums)


def match():
    return str(sum(int(found[1]) for found in PATTERN.finditer(TEXT)))


def rank():
    ranked = sorted(ORDERS, key=lambda order: (order["name"].split()[-1], -order["price"]))
    return hashlib.sha256(repr(ranked[:20]).encode()).hexdigest()


ANSWERS = {"/render": render, "/parse": parse, "/match": match, "/rank": rank}
