# SPDX-License-Identifier: GPL-3.0-or-later
import sys

sys.path.insert(0, ".")
import sqlparse

SQL = """select a.id, b.name, count(*) as c, case when a.x > 3 then 'x' else 'y' end from t1 a join t2 b on a.id = b.id
where a.x in (1, 2, 3) and b.y like '%foo%' and a.z = (select max(z) from t3) group by a.id having c > 3 order by a.id desc;"""

for _ in range(12):
    sqlparse.format(SQL * 4, reindent=True, keyword_case="upper")
