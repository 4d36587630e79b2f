#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a function's share differs between processes of one binary, beyond what blocks of time within a process show.

Runs each command several times under perf, counts samples by (function, quarter of a second), and writes
  floor.csv: program, language, processes, functions, median and 90th percentile of the relative standard deviation between processes.
The floor is what is left of the variance of log shares between processes after the jackknife variance within them is taken off.

usage: measure_floor.py OUT.csv [PROCESSES] [SECONDS]
"""
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile

NODE = """
const m = new Map(); let s = 0; const end = Date.now() + SECONDS * 1000;
function words(i) { return ('w' + (i * 7919) % 5003 + ' ' + i).split(' '); }
function count(w) { m.set(w, (m.get(w) || 0) + 1); }
function digest(o) { return JSON.stringify(JSON.parse(JSON.stringify(o))).length; }
for (let i = 0; Date.now() < end; i++) { words(i).forEach(count); if (m.size > 50000) m.clear(); s += digest({ i, a: [i, i * 2, 'x' + i] }); }
"""
PYTHON = """
import time, json, re
end = time.time() + SECONDS
d = {}
i = 0
while time.time() < end:
    for _ in range(1000):
        i += 1
        k = 'w%d' % (i * 7919 % 5003)
        d[k] = d.get(k, 0) + 1
    json.loads(json.dumps(list(d.items())[:200]))
    re.findall(r'w(\\d+)', ' '.join(list(d)[:300]))
    sorted(d.values())
"""
C_PROGRAM = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define N __attribute__((noinline))
static uint32_t s = 1; static uint32_t table[1 << 16]; struct node { struct node *l, *r; uint32_t k; }; static struct node *root;
N static uint32_t next(void) { s ^= s << 13; s ^= s >> 17; return s ^= s << 5; }
N static int cmp(const void *a, const void *b) { return (*(uint32_t *)a > *(uint32_t *)b) - (*(uint32_t *)a < *(uint32_t *)b); }
N static void fill(uint32_t *v, int n) { for (int i = 0; i < n; i++) v[i] = next(); }
N static uint32_t probe(const uint32_t *v, int n) { uint32_t h = 0; for (int i = 0; i < n; i++) h += table[(v[i] * 2654435761u) >> 16]++; return h; }
N static void insert(uint32_t k) { struct node **p = &root; int d = 0; while (*p && d++ < 40) p = k < (*p)->k ? &(*p)->l : &(*p)->r; if (!*p) { *p = calloc(1, sizeof **p); (*p)->k = k; } }
N static void drop(struct node *n) { if (n) { drop(n->l); drop(n->r); free(n); } }
N static double smooth(const uint32_t *v, int n) { double m = 0; for (int i = 0; i < n; i++) m += sqrt(v[i] & 1023) * 0.5; return m; }
N static int format(char *b, const uint32_t *v, int n) { int t = 0; for (int i = 0; i < n; i++) t += sprintf(b, "%u:%x", v[i], v[i]); return t; }
N static int scan(const char *b) { int t = 0; for (int i = 0; i < 60; i++) t += strstr(b, "deadbeef") != 0; return t; }
int main(int c, char **a) { uint32_t v[2000]; char b[4000]; double t = 0; time_t end = time(0) + atoi(a[c - 1]); memset(b, 'd', 3999); b[3999] = 0;
  while (time(0) < end) { fill(v, 2000); t += probe(v, 2000) + smooth(v, 2000) + format(b + 3900, v, 60) + scan(b); qsort(v, 400, 4, cmp); for (int i = 0; i < 200; i++) insert(v[i]); if (next() % 50 == 0) { drop(root); root = 0; } }
  return t == 1; }
"""
GO_PROGRAM = """
package main
import ("fmt"; "sort"; "strings"; "time")
var sink int
//go:noinline
func words(i int) []string { return strings.Fields(fmt.Sprintf("w%d x%d y%d", i*7919%5003, i, i%17)) }
//go:noinline
func count(m map[string]int, w []string) { for _, x := range w { m[x]++ } }
//go:noinline
func order(m map[string]int) { k := make([]string, 0, 400); for x := range m { if len(k) == 400 { break }; k = append(k, x) }; sort.Strings(k); sink += len(k) }
func main() { end := time.Now().Add(SECONDS * time.Second); m := map[string]int{}; for i := 0; time.Now().Before(end); i++ { count(m, words(i)); if i%300 == 0 { order(m) }; if len(m) > 30000 { m = map[string]int{} } } }
"""


def commands(directory, seconds):
    """(program, language, argv); only what this machine has."""
    found = []

    def write(name, text):
        path = os.path.join(directory, name)
        with open(path, "w") as out:
            out.write(text.replace("SECONDS", str(seconds)))
        return path

    def has(*argv):
        try:
            return subprocess.run(argv, capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    if has("cc", "-O2", "-g", "-o", os.path.join(directory, "mix"), write("mix.c", C_PROGRAM), "-lm"):
        found.append(("mix", "c", [os.path.join(directory, "mix"), str(seconds)]))
    if has("node", "--version"):
        found.append(("words.js", "node", ["node", "--perf-basic-prof", write("words.js", NODE)]))
    if has("python3", "--version"):
        executable = subprocess.run(["python3", "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=True)
        found.append(("words.py", "python", [executable.stdout.strip(), write("words.py", PYTHON)]))
    if has("go", "build", "-o", os.path.join(directory, "words"), write("words.go", GO_PROGRAM)):
        found.append(("words.go", "go", [os.path.join(directory, "words")]))
    return found


def record(argv, directory):
    """Samples of one process: a list of (block, function)."""
    data = os.path.join(directory, "perf.data")
    subprocess.run(["perf", "record", "-q", "-F", "997", "-e", "cpu-clock:u", "-o", data, "--"] + argv, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = subprocess.run(["perf", "script", "-i", data, "-F", "time,ip,sym"], capture_output=True, text=True, check=True)
    samples = []
    for line in script.stdout.splitlines():
        head, _, rest = line.strip().partition(": ")
        fields = rest.split(None, 1)
        if len(fields) == 2:
            samples.append((int(float(head) * 4), fields[1].lstrip("~*^+")))
    return samples


def jackknife(samples, function):
    """Relative variance of a function's share by leaving out one block at a time."""
    blocks = {}
    for block, name in samples:
        total, own = blocks.get(block, (0, 0))
        blocks[block] = (total + 1, own + (name == function))
    total = sum(t for t, _ in blocks.values())
    own = sum(o for _, o in blocks.values())
    n = len(blocks)
    if n < 4 or own == 0:
        return None
    left = [(own - o) / (total - t) / (own / total) for t, o in blocks.values()]
    mean = sum(left) / n
    return max((n - 1) / n * sum((x - mean) ** 2 for x in left), 1 / own)


def floors(processes):
    """Relative standard deviation between processes for every function of at least 2 % in all of them."""
    counts = []
    for samples in processes:
        own = {}
        for _, name in samples:
            own[name] = own.get(name, 0) + 1
        counts.append(own)
    result = {}
    for name in counts[0]:
        shares = [c.get(name, 0) / sum(c.values()) for c in counts]
        if min(shares) < 0.02:
            continue
        within = [jackknife(samples, name) for samples in processes]
        between = statistics.variance([math.log(s) for s in shares]) - statistics.mean(within)
        result[name] = math.sqrt(max(between, 0))
    return result


def main():
    out, count, seconds = sys.argv[1], int((sys.argv + [0, 0])[2] or 10), int((sys.argv + [0, 0, 0])[3] or 8)
    with tempfile.TemporaryDirectory() as directory, open(out, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["program", "language", "processes", "seconds", "functions", "median_rsd", "p90_rsd", "largest_rsd"])
        for program, language, argv in commands(directory, seconds):
            values = sorted(floors([record(argv, directory) for _ in range(count)]).values())
            if values:
                table.writerow([program, language, count, seconds, len(values)] + [
                    f"{v:.3f}" for v in (statistics.median(values), values[min(len(values) - 1, int(0.9 * len(values)))], values[-1])])
            file.flush()


if __name__ == "__main__":
    main()
