# SPDX-License-Identifier: GPL-3.0-or-later
import sys

sys.path.insert(0, ".")
from pygments import format, lex
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

TEXT = "def f(a, b=1):\n    # a comment\n    for i in range(10):\n        print('x', i, a + b)\n    return [a, b]\n\n" * 120
TOKENS = list(lex(TEXT, PythonLexer()))
for _ in range(40):
    format(TOKENS, HtmlFormatter())
