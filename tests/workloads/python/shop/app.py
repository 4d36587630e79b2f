# SPDX-License-Identifier: GPL-3.0-or-later
"""A shop of the demo: a list of articles as a page, and a search as JSON. Prices are written by the package `amounts`, which the demo
upgrades."""
import json

import flask

from amounts import format_amount

app = flask.Flask(__name__)
ADJECTIVES = ("small", "green", "round", "wooden", "old", "light", "sharp")
NOUNS = ("table", "lamp", "chair", "shelf", "bowl")


class Article:
    def __init__(self, number):
        self.number = number
        self.name = f"{ADJECTIVES[number % 7]} {NOUNS[number % 5]} {number}"
        self.cents = 199 + number * 7919 % 250_000
        self.words = set(self.name.split())

    def score(self, wanted):
        return len(self.words & wanted) / len(self.words | wanted)

    @property
    def price(self):
        return format_amount(self.cents)

    @property
    def tax(self):
        return format_amount(self.cents * 19 // 119)

    @property
    def net(self):
        return format_amount(self.cents - self.cents * 19 // 119)

    def as_record(self):
        return {"number": self.number, "name": self.name, "price": self.price, "tax": self.tax}


ARTICLES = [Article(number) for number in range(500)]


def cheapest(articles, count):
    return sorted(articles, key=lambda article: article.cents)[:count]


def find(wanted, count):
    found = [(article.score(wanted), article) for article in ARTICLES]
    found.sort(key=lambda pair: -pair[0])
    return [article for score, article in found[:count] if score > 0]


@app.get("/list")
def list_articles():
    noun = flask.request.args.get("noun", "lamp")
    chosen = cheapest((article for article in ARTICLES if noun in article.words), 100)
    return flask.render_template("list.html", noun=noun, articles=chosen)


@app.get("/search")
def search():
    wanted = set(flask.request.args.get("words", "old lamp").split())
    records = [article.as_record() for article in find(wanted, 40)]
    return flask.Response(json.dumps(records), mimetype="application/json")
