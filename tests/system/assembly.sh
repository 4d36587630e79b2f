#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The instructions of a line: those of the program that ran, after it was replaced, as objdump has them, with times that add up.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
[[ $(uname -m) == x86_64 ]] || skip "instructions have a text on x86-64 alone"

# program DIVISOR: p.c, and the program that is built of it.
program() {
	cat >p.c <<END
#include <stdlib.h>

static inline unsigned long mix(unsigned long sum, unsigned long i)
{
	return sum * 31 + (i ^ (sum >> 7));
}

__attribute__((noinline)) unsigned long helper(unsigned long x)
{
	return x / $1 + x % 13;
}

__attribute__((noinline)) unsigned long slow(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum = mix(sum, i) + helper(sum);
	return sum;
}

int main(int argc, char **argv)
{
	static volatile unsigned long sink;

	sink = slow(argc > 1 ? strtoul(argv[1], NULL, 0) : 200000000);
	return 0;
}
END
	gcc -g -O2 p.c -o program
}

# listed: the instructions of the last report: "ADDRESS NAME".
listed() {
	sed -nE 's/^ *[0-9.]+( %)? +([0-9a-f]+)  ([a-z][a-z0-9]*).*$/\2 \3/p' stdout | sort -u
}

# ---- What ran, after it was replaced ----

program 7
cp program old
run 0 kelvin record --sources -o base.pb.gz -- ./program
run 0 kelvin record --no-sources -o none.pb.gz -- ./program
run 0 kelvin record --project-root /nowhere -o elsewhere.pb.gz -- ./program
program 9
run 0 kelvin record --sources -o head.pb.gz -- ./program
rm program p.c
run 0 kelvin report base.pb.gz --text - --list '^(slow|helper)$' --assembly
says stdout 'sum = mix\(sum, i\) \+ helper\(sum\);'
says stdout '^Below a line: the instructions that samples were taken at'
listed >instructions
at_least "$(wc -l <instructions)" 8 "instructions"
if command -v objdump >/dev/null; then
	objdump -d -w --no-show-raw-insn -M intel old |
		sed -nE 's/^ *([0-9a-f]+):\t([a-z][a-z0-9]*).*$/\1 \2/p' >known
	# The same instructions have two names.
	sed -E 's/ j(z|nz|nb|nbe)$/ j/' instructions | sort -u >ours
	sed -E 's/ j(e|ne|ae|a)$/ j/; s/ movabs$/ mov/' known | sort -u >theirs
	comm -23 ours theirs >wrong
	[[ ! -s wrong ]] || { cat wrong >stdout; fail "these are not the program's instructions"; }
fi

# ---- Times add up ----

# Of a line without inlined code, its instructions have what it has itself.
run 0 kelvin report base.pb.gz --text - --list '^helper$' --assembly
awk '
	/%.*%/ { inside = / return x /; line = inside ? $1 : line; next }
	inside && $2 == "%" { sum += $1 }
	END { printf "%s %% of the line, %s %% of its instructions\n", line, sum; exit !(line > 5 && sum - line < 1 && line - sum < 1) }' stdout ||
	fail "the times of instructions are not those of their line"

# ---- Without unwind tables ----

if command -v go >/dev/null; then
	cat >g.go <<'END'
package main

import "fmt"

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s = s*31 + i%7
	}
	return s
}

func main() { fmt.Println(work(300000000)) }
END
	use_go_cache
	go build -o g g.go || fail "go build"
	run 0 kelvin record --sources -o g.pb.gz -- ./g
	run 0 kelvin report g.pb.gz --text - --list '^main.work$' --assembly
	at_least "$(listed | wc -l)" 4 "instructions of Go"
fi

# ---- Both sides ----

# Whether a change is proven in so short a time is not asked.
run_any kelvin diff base.pb.gz head.pb.gz --text - --list '^helper$' --assembly
says stdout ' base [0-9a-f]+  (mul|mov|lea|shr|sub)'
says stdout ' head [0-9a-f]+  (mul|mov|lea|shr|sub)'

run_any kelvin diff base.pb.gz head.pb.gz --json both.json --list '^helper$' --assembly
if command -v jq >/dev/null; then
	jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d both.json -f "$ROOT/tests/system/schema.jq" >stdout
	[[ ! -s stdout ]] || fail "both.json is not what docs/diff.schema.json says"
	for side in base head; do
		jq -e --arg side "$side" '[.lines[0].rows[][$side + "_instructions"][] | select(.self_ns > 0 and (.address | startswith("0x")) and (.text | length > 0))] | length > 4' both.json >stdout ||
			fail "JSON has no instructions of $side"
	done
fi

# ---- Where there is none ----

for profile in none elsewhere; do
	run 0 kelvin report "$profile.pb.gz" --text - --list '^helper$' --assembly
	says stdout '^No instructions are known: the recordings have kept no code of these functions'
done
run 0 kelvin report base.pb.gz --text - --list '^helper$'
says_not stdout 'Below a line|mul rdi'
run 2 kelvin report base.pb.gz --text - --assembly
says stderr 'add --list REGEX'

# ---- A function that is longer than what is kept of one ----

{
	echo 'unsigned long sum; __attribute__((noinline)) void large(volatile unsigned long *p) {'
	for ((i = 0; i < 4000; i++)); do echo "p[$((i % 7))] += $i;"; done
	echo 'for (unsigned long k = 0; k < 100000000; k++) sum = sum * 31 + (k ^ sum >> 3); /* hot */'
	echo '} int main(void) { unsigned long some[7] = { 0 }; large(some); return 0; }'
} >large.c
gcc -g -O2 large.c -o large
run 0 kelvin record --sources -o large.pb.gz -- ./large
run 0 kelvin report large.pb.gz --text - --list '^large$' --assembly
at_least "$(listed | wc -l)" 3 "instructions at the end of a long function"

# ---- Several executions of one build have it once; a program that is merged with itself stays what it is ----

gcc -g -O2 -x c - -o twice <<'END'
int main(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < 100000000; i++)
		sum += i;
	return 0;
}
END
run 0 kelvin record --sources --runs 2 -o twice.pb.gz -- ./twice
run 0 kelvin report twice.pb.gz --text - --list '^main$' --assembly
at_least "$(listed | wc -l)" 2 "instructions of two executions"
