# SPDX-License-Identifier: GPL-3.0-or-later
import sys

sys.path.insert(0, "src")
from jinja2 import Environment

ENVIRONMENT = Environment()
TEXT = "<li>{% for a in items if a.b > 3 and (a.c | upper) == 'X' %}{{ a.name ~ '-' ~ (1 + 2 * 3) }}{% endfor %}</li>\n" * 150
for _ in range(5):
    ENVIRONMENT.parse(TEXT)
