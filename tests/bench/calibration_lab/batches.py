# SPDX-License-Identifier: GPL-3.0-or-later
"""Batch programs and suites of benchmarks that constants are calibrated on."""

import json
import os
import random


def input_of(lab):
    """A folder of inputs: the same bytes on every machine."""
    folder = f"{lab.build}/input"
    if os.path.isdir(folder):
        return folder
    chance = random.Random(1)
    os.makedirs(f"{folder}.new")
    words = ["".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(chance.randrange(2, 11))) for _ in range(4000)]
    with open(f"{folder}.new/text", "w", encoding="ascii") as file:
        for i in range(500000):
            file.write(f"{i} {' '.join(words[int(chance.paretovariate(0.4)) % 4000] for _ in range(9))} {chance.random():.6f}\n")
    with open(f"{folder}.new/rows.json", "w", encoding="ascii") as file:
        for i in range(150000):
            json.dump(
                {
                    "id": i,
                    "name": " ".join(chance.choices(words, k=3)),
                    "price": round(chance.random() * 100, 2),
                    "tags": chance.choices(words, k=4),
                },
                file,
            )
            file.write("\n")
    with open(f"{folder}.new/unit.c", "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <string.h>\n")
        for i in range(220):
            file.write(
                f"static int table{i}[{i % 17 + 4}];\nint part{i}(const char *text, int n)\n{{\n"
                f" int sum = {i};\n for (int j = 0; j < n; j++) {{\n"
                f"  switch (text[j] % {i % 7 + 3}) {{ case 0: sum += table{i}[j % {i % 17 + 4}]; break;"
                f" case 1: sum ^= (int)strlen(text + j); break;\n"
                f"  case 2: sum = sum * {i % 31 + 3} + n; break; default: table{i}[{i % 4}] += sum / {i % 13 + 2}; }}\n }}\n"
                f" return sum + {f'part{i - 1}(text, n - 1)' if i else 0};\n}}\n"
            )
    os.rename(f"{folder}.new", folder)
    return folder


SHORT = "head -c {} {{input}}/text | {}"


def piped(size, command):
    return ["sh", "-c", SHORT.format(size, command)]


# Name: language, command.
ALL = {
    "batch-bzip2": ("c", piped("22M", "bzip2 -9 >/dev/null")),
    "batch-gawk": (
        "c",
        piped(
            "22M",
            "gawk '{{ for (i = 2; i < NF; i++) {{ n[$i]++;"
            " if ($i ~ /[aeiou]{{2}}.*z/) f++ }} s += $NF }} END {{ print length(n), f, s }}'",
        ),
    ),
    "batch-gcc": ("c++", ["gcc", "-O2", "-c", "-o", "{folder}/out.o", "{input}/unit.c"]),
    "batch-gxx": ("c++", ["g++", "-O1", "-std=c++17", "-c", "-o", "{folder}/out.o", "{programs}/httplib.cpp"]),
    "batch-gzip": ("c", piped("40M", "gzip -7 >/dev/null")),
    "batch-jq": (
        "c",
        [
            "jq",
            "-c",
            "select(.price > 30) | {{name: (.name | ascii_upcase), tags: (.tags | map(length) | add), p: (.price * 2 | floor)}}",
            "{input}/rows.json",
        ],
    ),
    "batch-sqlite3": ("c", ["sh", "-c", "sqlite3 :memory: < {programs}/batch.sql"]),
    "batch-sort": (
        "c",
        ["sort", "-k4", "-S", "64M", "--parallel=1", "-T", "{folder}", "-o", "{folder}/out", "{input}/text", "{input}/text"],
    ),
    "batch-xz": ("c", piped("3M", "xz -6 -T1 >/dev/null")),
    "batch-zstd": ("c", piped("40M", "cat - {{input}}/rows.json | zstd -9 --single-thread >/dev/null")),
    "batch-clang": ("c++", ["clang", "-O2", "-c", "-o", "{folder}/out.o", "{input}/unit.c"]),
    "batch-rust": ("rust", ["{bin}/batch_rs", "{input}"]),
    "batch-rustc": ("rust", ["rustc", "-O", "--edition", "2021", "-o", "{folder}/out", "{programs}/service.rs"]),
    "batch-go": ("go", ["{bin}/batch_go", "{input}"]),
    "batch-gofmt": ("go", ["sh", "-c", "gofmt -s -l $(go env GOROOT)/src/net $(go env GOROOT)/src/cmd/compile/internal/ssa >{folder}/out"]),
    "batch-python": ("python", ["/usr/bin/python3", "{programs}/batch.py", "{input}"]),
    "batch-python-ast": (
        "python",
        [
            "/usr/bin/python3",
            "-c",
            "import ast, glob\nfor path in sorted(glob.glob('/usr/lib/python3.11/*.py')):\n"
            " ast.unparse(ast.parse(open(path, encoding='utf-8').read()))",
        ],
    ),
    "batch-node": ("node", ["node", "{programs}/batch.js", "{input}"]),
    "batch-java": ("java", ["java", "-Xmx1g", "-cp", "{bin}", "Batch", "{input}"]),
    "batch-javac": (
        "java",
        [
            "javac",
            "-cp",
            ":".join(f"/usr/share/java/{name}.jar" for name in ("jetty9-server", "jetty9-util", "jetty9-http", "jetty9-io", "servlet-api")),
            "-d",
            "{folder}",
            "{programs}/JettyService.java",
            "{programs}/Batch.java",
        ],
    ),
    "batch-php": ("php", ["php", "{programs}/batch.php", "{input}"]),
    "batch-ruby": ("ruby", ["ruby", "{programs}/batch.rb", "{input}"]),
    "batch-perl": ("c", ["perl", "{programs}/batch.pl", "{input}"]),
    "batch-lua": ("c", ["lua5.4", "{programs}/batch.lua", "{input}"]),
}
SUITES = {
    "suite-cpp": ("c++", ["{bin}/suite_cpp", "--benchmark_min_time=0.1"]),
    "suite-go": ("go", ["{bin}/suite_go", "-test.bench=.", "-test.benchtime=100ms"]),
}
