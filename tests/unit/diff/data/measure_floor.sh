#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How much a function's share differs between processes of one binary, beyond what blocks of time within a process show.
# Runs each program several times under perf, counts samples by function and quarter of a second, and writes
#   floor.csv: program, language, processes, seconds, functions, median, 90th percentile and largest relative standard deviation
# The floor is what is left of the variance of log shares between processes after the jackknife variance within them is taken off.
#
# usage: measure_floor.sh OUT.csv [PROCESSES] [SECONDS]
set -euo pipefail
export LC_ALL=C

out=$(realpath -m "${1:?usage: measure_floor.sh OUT.csv [PROCESSES] [SECONDS]}")
processes=${2:-10}
seconds=${3:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# write FILE: a program, with SECONDS filled in.
write() {
	sed "s/SECONDS/$seconds/g" >"$1"
}

write words.js <<'END'
const m = new Map(); let s = 0; const end = Date.now() + SECONDS * 1000;
function words(i) { return ('w' + (i * 7919) % 5003 + ' ' + i).split(' '); }
function count(w) { m.set(w, (m.get(w) || 0) + 1); }
function digest(o) { return JSON.stringify(JSON.parse(JSON.stringify(o))).length; }
for (let i = 0; Date.now() < end; i++) { words(i).forEach(count); if (m.size > 50000) m.clear(); s += digest({ i, a: [i, i * 2, 'x' + i] }); }
END

write words.py <<'END'
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
    re.findall(r'w(\d+)', ' '.join(list(d)[:300]))
    sorted(d.values())
END

write mix.c <<'END'
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
END

write words.go <<'END'
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
END

write words.cpp <<'END'
#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#define N __attribute__((noinline))
N static std::vector<std::string> words(int i) { std::ostringstream s; s << 'w' << i * 7919 % 5003 << " x" << i << " y" << i % 17; std::istringstream in(s.str()); std::vector<std::string> v; for (std::string w; in >> w;) v.push_back(w); return v; }
N static void count(std::map<std::string, int> &m, const std::vector<std::string> &v) { for (auto &w : v) m[w]++; }
N static size_t order(const std::map<std::string, int> &m) { std::vector<std::string> k; for (auto &e : m) if (k.size() < 400) k.push_back(e.first + "k"); std::sort(k.rbegin(), k.rend()); return k.size(); }
N static unsigned digest(const std::vector<std::string> &v) { unsigned h = 0; for (int r = 0; r < 40; r++) for (auto &w : v) for (char c : w) h = (h ^ (unsigned char)c) * 16777619u; return h; }
int main() { auto end = std::chrono::steady_clock::now() + std::chrono::seconds(SECONDS); std::map<std::string, int> m; size_t t = 0; for (int i = 0; std::chrono::steady_clock::now() < end; i++) { auto v = words(i); count(m, v); t += digest(v); if (i % 300 == 0) t += order(m); if (m.size() > 30000) m.clear(); } return t == 1; }
END

write words.rs <<'END'
use std::collections::HashMap;
use std::time::{Duration, Instant};
#[inline(never)] fn words(i: u64) -> Vec<String> { format!("w{} x{} y{}", i * 7919 % 5003, i, i % 17).split(' ').map(|w| w.to_string()).collect() }
#[inline(never)] fn count(m: &mut HashMap<String, u64>, v: &[String]) { for w in v { *m.entry(w.clone()).or_insert(0) += 1; } }
#[inline(never)] fn order(m: &HashMap<String, u64>) -> usize { let mut k: Vec<_> = m.keys().take(400).cloned().collect(); k.sort(); k.len() }
#[inline(never)] fn digest(v: &[String]) -> u32 { let mut h = 0u32; for _ in 0..40 { for w in v { for b in w.bytes() { h = (h ^ b as u32).wrapping_mul(16777619); } } } h }
fn main() { let end = Instant::now() + Duration::from_secs(SECONDS); let mut m = HashMap::new(); let mut t = 0u64; let mut i = 0; while Instant::now() < end { let v = words(i); count(&mut m, &v); t = t.wrapping_add(digest(&v) as u64); if i % 300 == 0 { t += order(&m) as u64; } if m.len() > 30000 { m.clear(); } i += 1; } if t == 1 { std::process::exit(1) } }
END

write Words.java <<'END'
import java.util.*;
public class Words {
    static String[] words(int i) { return ("w" + i * 7919 % 5003 + " x" + i + " y" + i % 17).split(" "); }
    static void count(Map<String, Integer> m, String[] v) { for (String w : v) m.merge(w, 1, Integer::sum); }
    static int order(Map<String, Integer> m) { List<String> k = new ArrayList<>(); for (String x : m.keySet()) { if (k.size() == 400) break; k.add(x); } Collections.sort(k); return k.size(); }
    static int digest(String[] v) { int h = 0; for (int r = 0; r < 40; r++) for (String w : v) for (int i = 0; i < w.length(); i++) h = (h ^ w.charAt(i)) * 16777619; return h; }
    public static void main(String[] a) { long end = System.nanoTime() + SECONDS * 1000000000L; Map<String, Integer> m = new HashMap<>(); long t = 0; for (int i = 0; System.nanoTime() < end; i++) { String[] v = words(i); count(m, v); t += digest(v); if (i % 300 == 0) t += order(m); if (m.size() > 30000) m.clear(); } if (t == 1) System.exit(1); }
}
END

write words.rb <<'END'
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
m = Hash.new(0); t = 0; i = 0
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  100.times do
    i += 1
    "w#{i * 7919 % 5003} x#{i} y#{i % 17}".split(' ').each { |w| m[w] += 1 }
  end
  t += m.keys.first(400).sort.length
  t += m.values.first(500).inject(:+)
  m.clear if m.size > 30000
end
exit 1 if t == 1
END

# Samples of one process: "block function" a line, a block being a quarter of a second.
record() {
	local file=$1
	shift

	perf record -q -F 997 -e cpu-clock:u -o perf.data -- "$@" >/dev/null 2>&1
	perf script -i perf.data -F time,ip,sym 2>/dev/null |
		awk 'match($0, /^ *[0-9.]+: +[0-9a-f]+ +/) {
			name = substr($0, RLENGTH + 1)
			sub(/^[~*^+]+/, "", name)
			split($0, part, ":")
			print int(part[1] * 4) "\t" name
		}' >"$file"
}

# The floors of all functions that have at least 2 % in every process, in order.
floors() {
	awk -F '\t' '
		FNR == 1 { p++; blocks = 0; delete seen }
		{
			if (!($1 in seen)) { seen[$1] = ++blocks; count[p] = blocks }
			b = seen[$1]; all[p]++; size[p, b]++; own[p, $2]++; part[p, b, $2]++
			if (p == 1) names[$2]
		}
		function jackknife(p, f,    b, n, left, mean, sum, kept) {
			n = count[p]
			if (n < 4) return 0
			for (b = 1; b <= n; b++) {
				kept = all[p] - size[p, b]
				left[b] = (own[p, f] - part[p, b, f]) / kept / (own[p, f] / all[p])
				mean += left[b] / n
			}
			for (b = 1; b <= n; b++) sum += (left[b] - mean) ^ 2
			sum *= (n - 1) / n
			return (sum > 1 / own[p, f]) ? sum : 1 / own[p, f]
		}
		END {
			for (f in names) {
				mean = within = between = 0
				for (i = 1; i <= p; i++) {
					if (own[i, f] < 0.02 * all[i]) break
					share[i] = log(own[i, f] / all[i])
					mean += share[i] / p
					within += jackknife(i, f) / p
				}
				if (i <= p) continue
				for (i = 1; i <= p; i++) between += (share[i] - mean) ^ 2 / (p - 1)
				between -= within
				printf "%.6f\n", (between > 0 ? sqrt(between) : 0)
			}
		}' "$@" | sort -g
}

# measure PROGRAM LANGUAGE COMMAND...: one line of the table.
measure() {
	local program=$1 language=$2 i
	shift 2

	for ((i = 1; i <= processes; i++)); do
		record "samples.$i" "$@"
	done
	floors samples.* | awk -v head="$program,$language,$processes,$seconds" '
		{ v[NR] = $1 }
		END {
			if (NR == 0) exit
			nine = int(0.9 * NR) + 1
			if (nine > NR) nine = NR
			printf "%s,%d,%.3f,%.3f,%.3f\n", head, NR, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[nine], v[NR]
		}' >>"$out"
	rm -f samples.*
}

printf 'program,language,processes,seconds,functions,median_rsd,p90_rsd,largest_rsd\n' >"$out"
if cc -O2 -g -o mix mix.c -lm 2>/dev/null; then measure mix c ./mix "$seconds"; fi
if command -v node >/dev/null; then measure words.js node node --perf-basic-prof words.js; fi
if command -v python3 >/dev/null; then measure words.py python "$(python3 -c 'import sys; print(sys.executable)')" words.py; fi
if go build -o words words.go 2>/dev/null; then measure words.go go ./words; fi
if c++ -O2 -g -o words_cpp words.cpp 2>/dev/null; then measure words.cpp c++ ./words_cpp; fi
if rustc -O -g -o words_rs words.rs 2>/dev/null; then measure words.rs rust ./words_rs; fi
# The machine names its code when it ends, before perf asks.
if javac Words.java 2>/dev/null; then measure Words.java java java -XX:+DumpPerfMapAtExit Words; fi
if command -v ruby >/dev/null; then measure words.rb ruby ruby words.rb; fi
