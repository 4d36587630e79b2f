# SPDX-License-Identifier: GPL-3.0-or-later
import sys

sys.path.insert(0, ".")
from lark import Lark

GRAMMAR = r"""
?value: object | array | string | SIGNED_NUMBER -> number | "true" -> true
array : "[" [value ("," value)*] "]"
object : "{" [pair ("," pair)*] "}"
pair : string ":" value
string : ESCAPED_STRING
%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER
%import common.WS
%ignore WS
"""
PARSER = Lark(GRAMMAR, start="value", parser="lalr")
TEXT = "[" + ", ".join('{"name": "x", "list": [1, 2, true]}' for _ in range(700)) + "]"
for _ in range(5):
    PARSER.parse(TEXT)
