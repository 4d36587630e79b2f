# SPDX-License-Identifier: GPL-3.0-or-later
import sys

sys.path.insert(0, ".")
import sqlparse

SQL = "insert into t values " + ", ".join(f"({i}, 'a', {i} + 1)" for i in range(1500)) + ";"
for _ in range(2):
    sqlparse.parse(SQL)
