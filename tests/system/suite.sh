#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kelvin diff and report of profiles whose parts have names: benchmark by benchmark, or the one that is asked for. The profiles are
# simulated, since their counts are the same on every machine.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v valgrind >/dev/null || skip "valgrind is not installed"
command -v jq >/dev/null || skip "jq is not installed"
cat >suite.c <<'C'
#include <valgrind/callgrind.h>
#ifndef EXTRA
#define EXTRA 0
#endif
#ifndef LESS
#define LESS 0
#endif
__attribute__((noinline)) int work(int n) { int sum = 0; for (int i = 0; i < n; i++) __asm__ volatile("" : "+r"(sum)); return sum; }
__attribute__((noinline)) int
parse_number(int n)
{
	int sum = 0;
	for (int i = 0; i < n + EXTRA; i++)
		__asm__ volatile("" : "+r"(sum)); /* line 15 */
	return sum;
}
int main(void)
{
	CALLGRIND_ZERO_STATS;
	work(50000); parse_number(100000); CALLGRIND_DUMP_STATS_AT("suite.c::parse[numbers]");
	work(70000); CALLGRIND_DUMP_STATS_AT("suite.c::dump");
	work(90000 - LESS); CALLGRIND_DUMP_STATS_AT("other.c::dump");
	work(20000); CALLGRIND_DUMP_STATS_AT(EXTRA ? "suite.c::new" : "suite.c::old");
	return 0;
}
C
cc -O1 -g -o base suite.c || fail "base is not built"
cc -O1 -g -DEXTRA=20000 -o head suite.c || fail "head is not built"
cc -O1 -g -DEXTRA=20000 -DLESS=30000 -o mixed suite.c || fail "mixed is not built"
cc -O1 -g -o plain -DNVALGRIND suite.c || fail "the program without parts is not built"
for side in base head mixed plain; do
	run 0 kelvin simulate -q -o $side.pb.gz -- ./$side
done

run 1 kelvin diff base.pb.gz head.pb.gz --metric instructions --text --json diff.json --markdown comment.md -o page.html --svg all.svg
says stdout '^Regressed: '
says stdout '^  parse\[numbers\] .* \+1[0-9]\.[0-9] % +regressed( +[^ ]+)?$'
says stdout '^  suite\.c::dump .* unchanged$'
says stdout '^  other\.c::dump .* unchanged$'
says stdout '^  new .* added$'
says stdout '^  old .* removed$'
says stdout '^- parse_number \(suite\.c:1[3-6]\) takes 1\.[12][0-9] times as many instructions: \+[1-9][0-9,]* per execution$'
[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d diff.json -f "$ROOT/tests/system/schema.jq" | tee stdout) ]] ||
	fail "the document does not fit its schema"
[[ $(jq -r '[.verdict, .benchmarks[0].uri, .benchmarks[0].verdict, .benchmarks[0].top[0], (.benchmarks | length)] | join(" ")' diff.json) == \
	"regressed suite.c::parse[numbers] regressed parse_number 5" ]] || fail "JSON has other benchmarks"
[[ $(jq '.benchmarks[0] | .base > 0 and .head > .base and .delta_pct > 10 and has("base_ns") == false' diff.json) == true ]] ||
	fail "JSON has other figures"
[[ $(head -n 1 comment.md) == "<!-- kelvin-diff -->" ]] || fail "a comment has another marker"
says comment.md '^### Regressed: '
says comment.md 'parse&#95;number</code> \(suite\.c:1[3-6]\)'
[[ -s page.html && -s all.svg ]] || fail "outputs are missing"

[[ $(jq -r '.benchmarks[0].because | .function + " " + .place' diff.json) =~ ^parse_number\ suite\.c:1[3-6]$ ]] ||
	fail "another function explains: $(jq -c '.benchmarks[0].because' diff.json)"

# One benchmark is an ordinary diff, by its name or its URI; its verdict is that of the list.
run 1 kelvin diff base.pb.gz head.pb.gz --metric instructions --benchmark 'parse[numbers]' --json one.json --text
says stdout '^benchmark suite\.c::parse\[numbers\]$'
says stdout '^More instructions in the function itself$'
jq -r .verdict_text one.json >sentence
says sentence '^`parse\[numbers\]` needs more instructions by 1[0-9]\.[0-9] % \(exact\): `parse_number` \(suite\.c:1[3-6]\) itself takes 2[0-9]\.[0-9] % more$'
[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d one.json -f "$ROOT/tests/system/schema.jq" | tee stdout) ]] ||
	fail "the document of one benchmark does not fit its schema"
[[ $(jq -r '[has("benchmarks"), ([.functions[].name] | contains(["parse_number"]))] | join(" ")' one.json) == "false true" ]] ||
	fail "one benchmark has other functions"
run 0 kelvin diff base.pb.gz head.pb.gz --benchmark suite.c::dump --text
says stdout '^Unchanged'
run 0 kelvin diff base.pb.gz head.pb.gz --benchmark suite.c::new --text
says stderr 'only head has the benchmark new'
run 2 kelvin diff base.pb.gz head.pb.gz --benchmark dump
run 2 kelvin diff base.pb.gz head.pb.gz --benchmark parse
says stderr 'parse\[numbers\]'
run 2 kelvin diff base.pb.gz plain.pb.gz --benchmark dump
says stderr 'plain\.pb\.gz has no benchmarks'

# Limits are of each benchmark.
run 1 kelvin diff base.pb.gz head.pb.gz --metric instructions --fail-on 'total>5%' --text
says stdout 'limit given with --fail-on is exceeded'
run 0 kelvin diff base.pb.gz head.pb.gz --metric instructions --fail-on 'total>90%' --text
run 1 kelvin diff base.pb.gz head.pb.gz --metric instructions --fail-on 'total>5%' --benchmark 'parse[numbers]' --text
says stderr 'grew by 1[0-9]\.[0-9] %, above the limit of 5 %$'
run 0 kelvin diff base.pb.gz head.pb.gz --metric instructions --fail-on 'total>5%' --benchmark suite.c::dump --json one.json
says stdout '^unchanged: benchmark suite\.c::dump: '
run 0 kelvin diff base.pb.gz head.pb.gz --metric instructions --precision 60% --text
run 2 kelvin diff base.pb.gz head.pb.gz --precision 0
# One benchmark that is faster does not pay for another that is slower.
run 1 kelvin diff base.pb.gz mixed.pb.gz --metric instructions --text
says stdout '^Mixed: 1 of 3 benchmarks .*; 1 '
run 0 kelvin diff base.pb.gz base.pb.gz --text
says stdout '^Unchanged'

# Where only one side has some, all is compared.
kelvin diff base.pb.gz plain.pb.gz --metric instructions --json mixed.json >stdout 2>stderr
says stderr 'only base \(base\.pb\.gz\) has benchmarks'
[[ $(jq 'has("benchmarks")' mixed.json) == false ]] || fail "sides without benchmarks have some"

run 0 kelvin report head.pb.gz --metric instructions --text --json report.json --folded stacks
says stdout '^  parse\[numbers\] '
says stdout '^Functions by '
[[ $(jq -r '[.schema, (.benchmarks | length), (.benchmarks[0] | .head > 0 and .base == null)] | join(" ")' report.json) == \
	"kelvin.report/1 4 true" ]] || fail "a report has other benchmarks"
says stacks 'parse_number'
run 0 kelvin report head.pb.gz --benchmark suite.c::dump --text
says stdout '^benchmark suite\.c::dump$'
run 0 kelvin report head.pb.gz --benchmark suite.c::dump --folded
! grep -q parse_number stdout || fail "another benchmark's stacks are there"
run 2 kelvin report plain.pb.gz --benchmark dump
says stderr 'record --benchmarks'

# Two checkouts in folders of their own, whose harness writes whole paths; head has a file more, in another folder.
checkout() {
	mkdir -p "$1/tests/unit"
	sed "s/\"suite\.c::/__FILE__ \"::/g; s/\"other\.c::/__FILE__ \"::other_/" suite.c >"$1/tests/unit/suite.c"
}
checkout "$PWD/one/shop-1.2"
checkout "$PWD/two/ci/shop"
sed -i 's|__FILE__ "::new"|"'"$PWD"'/two/ci/shop/bench/more.c::new"|' "$PWD/two/ci/shop/tests/unit/suite.c"
cc -O1 -g -o base "$PWD/one/shop-1.2/tests/unit/suite.c" || fail "the first checkout is not built"
cc -O1 -g -DEXTRA=20000 -o head "$PWD/two/ci/shop/tests/unit/suite.c" || fail "the second checkout is not built"
for side in base head; do
	run 0 kelvin simulate -q -o $side-of-two.pb.gz -- ./$side
done
run 1 kelvin diff base-of-two.pb.gz head-of-two.pb.gz --metric instructions --text --json two.json
[[ $(jq -r '[.benchmarks[] | select(.verdict != "added" and .verdict != "removed") | .uri] | sort | join(" ")' two.json) == \
	"tests/unit/suite.c::dump tests/unit/suite.c::other_dump tests/unit/suite.c::parse[numbers]" ]] ||
	fail "two checkouts have other benchmarks in common: $(jq -c '[.benchmarks[].uri]' two.json)"
tr '\n' ' ' <stdout >line
says line 'Names are relative to the +checkouts: +base in +[^ ]*/one/shop-1\.2/, +head +in +[^ ]*/two/ci/shop/\.'
! grep -q 'in common' stdout || fail "two checkouts are a reason for a warning"
