#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# JavaScript functions have names without flags: those that node gives them where it writes a perf map.
# STACKS | Node.js | 18 to 24 | functions and lines, interpreted, compiled and inlined, without flags
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs node
cat >frames.js <<'END'
'use strict';
function top(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
class Shape {
	area(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
}
const arrow = (n) => { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; };
function make(k) {
	return function closure(n) { let s = k; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; };
}
async function later(n) { await null; let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const shape = new Shape();
function area(n) { return shape.area(n); }
/* More targets than any compiler takes into its caller; a new closure each time, which the collector moves. */
function calls() { return [[top, 1], [area, 2], [arrow, 3], [make(3), 2], [(n) => n, 1]]; }
async function work() {
	for (;;) {
		for (const [call, share] of calls())
			for (let i = 0; i < share; i++)
				call(20000);
		await later(40000);
	}
}
work();
END

# shares FILE: how much of the samples in functions of the script each of them has itself, without tier, line and column.
shares() {
	sed -E 's/^.*;//; s/^(JS|LazyCompile|Function):[~^*+'"'"']*//; s/(:[0-9]+)+_?( [0-9.]+)$/\2/' "$(folded "$1")" |
		awk '$2 ~ /frames\.js$/ { sum += $NF; part[$1] += $NF }
			END { for (name in part) if (part[name] > sum / 50) printf "%s %d\n", name, 100 * part[name] / sum }' | sort
}

# leaves FILE PATTERN: how many samples are in a function that matches, itself.
leaves() {
	sed 's/^.*;//' "$(folded "$1")" | awk -v pattern="$2" '$0 ~ pattern { sum += $NF } END { print sum + 0 }'
}

# record FILE OPTIONS...: node with options, by its pid.
record() {
	local file=$1

	shift
	start node "$@" "$PWD/frames.js"
	wait_until "node works" eval "[[ \$(ticks $pid) -gt 30 ]]"
	record_enough 1000 -p "$pid" -o "$file"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	rm -f "/tmp/perf-$pid.map"
}

record plain.pb.gz
record map.pb.gz --perf-basic-prof --interpreted-frames-native-stack

named=$(leaves plain.pb.gz '^(JS|LazyCompile|Function):') unnamed=$(leaves plain.pb.gz '^//anon')
at_least $((${named%.*} * 100 / (${named%.*} + ${unnamed%.*} + 1))) 98 "percent of the samples in code made at run time with a name"
says "$(folded plain.pb.gz)" 'JS:[~^*+]work [^ ]*/frames\.js:15:[0-9]+;'

shares plain.pb.gz >plain
shares map.pb.gz >map
cat plain map >stdout
diff <(cut -d ' ' -f 1 plain) <(cut -d ' ' -f 1 map) >/dev/null || fail "other functions than in the perf map"
[[ $(cut -d ' ' -f 1 plain | tr '\n' ' ') == "area arrow closure later top " ]] || fail "other functions than those that work"
# 1,000 samples or more: a share of 30 % is known to 1.5 %, and work is shared 1 : 2 : 3 : 2 : 2.
while read -r name share _ other; do
	at_least "$share" $((other - 10)) "$name without flags"
	at_most "$share" $((other + 10)) "$name without flags"
done < <(paste -d ' ' plain map)
