#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two commands in turn: every run is kept as a run, the changed function is named, gates and exit codes hold, a failing run says which.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
needs cc
cat >work.c <<'C'
#include <stdint.h>
#include <stdlib.h>
__attribute__((noinline)) static uint32_t parse(uint32_t s) { for (int i = 0; i < 60000; i++) s = s * 1664525u + (s >> 7); return s; }
__attribute__((noinline)) static uint32_t mix(uint32_t s) { for (int i = 0; i < 40000; i++) { s ^= s << 13; s ^= s >> 17; } return s; }
__attribute__((noinline)) static uint32_t hash(uint32_t s) { for (int i = 0; i < 30000 * HASH; i++) s = (s ^ (uint32_t)i) * 16777619u; return s; }
int main(int argc, char **argv)
{
	volatile uint32_t s = 1;
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 400); i++) s = parse(s) + mix(s) + hash(s);
	return 0;
}
C
if ! cc -O1 -g -DHASH=1 -o base work.c || ! cc -O1 -g -DHASH=3 -o head work.c; then fail "cannot build the workload"; fi

# A function that takes three times as long.
run 1 kelvin bench --base './base 800' --head './head 800' --runs 5 --warmup 1 --save saved --json a.json --text
says stdout '^5 runs of each command'
says stdout '^  CPU time +base [0-9.]+ ms \([0-9.]+ to [0-9.]+\)'
says stdout '^  peak memory +base '
says stdout '^Regressed: '
jq -e '.evidence | .mode == "runs" and .runs_base == 5 and .runs_head == 5' a.json >/dev/null || fail "not five runs a side"
jq -e '.scale.mode == "per-run"' a.json >/dev/null || fail "not per run"
jq -e '.functions[] | select(.name == "hash") | .state == "more"' a.json >/dev/null || fail "hash is not named"
jq -e '[.functions[] | select(.name == "parse" or .name == "mix") | select(.state_self == "more" or .state_self == "less")] == []' a.json \
	>/dev/null || fail "an unchanged function is flagged"

# What the runs took, with intervals, every run by itself.
jq -e '.runs | .cpu_ns.head.mean > 1.2 * .cpu_ns.base.mean and .cpu_ns.ci_pct[0] > 10 and (.cpu_ns.base.ci | length) == 2
	and (.wall_ns.base.each | length) == 5 and (.peak_memory_bytes.head.each | min) > 100000' a.json >/dev/null ||
	fail "what the runs took: $(jq -c .runs a.json)"

[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d a.json -f "$ROOT/tests/system/schema.jq") ]] ||
	fail "a.json is not what its schema says"

# What was saved gives the same comparison.
run 1 kelvin diff saved/base.pb.gz saved/head.pb.gz --json b.json
cmp -s <(jq 'del(.recordings)' a.json) <(jq 'del(.recordings)' b.json) ||
	fail "the saved profiles compare differently"
run 1 kelvin bench --base './base 400' --head './head 400' --runs 4 --fail-on 'function:hash>20%' --markdown -
says stdout '^<!-- kelvin-diff -->'
says_not stdout 'runs of each command, alternating'
says stderr '^4 runs of each command'

# --prepare before every run, --setup once; --min-time goes on.
run_any kelvin bench --metric cpu --base './base 100' --head './base 100' --runs 3 --warmup 1 --setup 'echo s >>set_up' --prepare 'echo p >>prepared'
[[ $(wc -l <set_up) -eq 1 && $(wc -l <prepared) -eq 8 ]] || fail "prepared $(wc -l <prepared) times, set up $(wc -l <set_up) times"
run_any kelvin bench --base './base 100' --head './base 100' --runs 1 --min-time 0.4 --json c.json
at_least "$(jq .evidence.runs_base c.json)" 2 "runs with --min-time"

# Failures: which run, its exit code, its last words; nothing on standard output.
# shellcheck disable=SC2016
printf '#!/bin/sh\necho ok >>n\n[ $(wc -l <n) -lt 3 ] || { echo cause >&2; seq 100 140 >&2; echo broken >&2; exit 7; }\n./base 100\n' >flaky
chmod +x flaky
run 2 kelvin bench --metric cpu --base './base 100' --head ./flaky --runs 5
says stderr '^kelvin: run 3 of head ended with exit code 7: ./flaky$'
says stderr '^  cause$'
says stderr '^  \.\.\. 23 more lines \.\.\.$'
says stderr '^  broken$'
says_not stderr '^  120$'
[[ ! -s stdout ]] || fail "output on stdout after a failure"
run 2 kelvin bench --base './base 100' --head "kill -9 \$\$" --runs 3
says stderr 'run 1 of head was ended by signal 9'
run 2 kelvin bench --base './base 100' --head ./not-there --runs 3
says stderr 'run 1 of head: .*No such file'
run 2 kelvin bench --base './base 100' --head './base 100' --prepare 'exit 4'
says stderr 'before run 1 of (base|head): --prepare ended with exit code 4'
refuses "--head is missing" kelvin bench --base ./base
refuses "unexpected 'extra'" kelvin bench --base ./base --head ./head extra
refuses "unexpected 'third'" kelvin bench ./base ./head third
refuses "as one quoted word" kelvin bench ./base
refuses "too few for --layouts 8" kelvin bench ./base ./head --layouts 8 --runs 4

# Two operands are the commands. Each run has an environment of another length, unless nobody wants that.
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "${KELVIN_PAD-none}" | wc -c >>pads\necho "$1 ${KELVIN_LAYOUT-none}" >>layouts\nexec ./base 60\n' >seen
chmod +x seen
run_any kelvin bench --metric cpu './seen a' './seen b' --runs 4 --text
says stdout '^4 runs of each command'
at_least "$(sort -u pads | wc -l)" 6 "lengths of the environment in 8 runs"
[[ $(sort layouts | uniq -c | xargs) == "4 a none 4 b none" ]] || fail "KELVIN_LAYOUT without layouts: $(sort layouts | uniq -c)"
rm pads layouts
run_any kelvin bench --metric cpu './seen a{layout}' './seen b{layout}' --layouts 2 --runs 4 --no-pad --control --json a.json
[[ $(sort -u pads) == 5 ]] || fail "padded all the same: $(sort -u pads)"
[[ $(sort layouts | uniq -c | xargs) == "4 a1 1 4 a2 2 2 b1 1 2 b2 2" ]] || fail "runs of layouts: $(sort layouts | uniq -c | xargs)"
says stderr '^kelvin: the layouts of (base|head) are the same bytes'
jq -e '.layouts.base == 2 and .layouts.head == 2 and (.control.verdict | type) == "string"' a.json >/dev/null || fail "$(jq -c '.layouts, .control' a.json)"
[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d a.json -f "$ROOT/tests/system/schema.jq") ]] ||
	fail "a.json with layouts is not what its schema says"

# Builds come before all runs, once for each layout; one that fails is named.
rm -f built
# shellcheck disable=SC2016
run_any kelvin bench './base-{layout} 60' './base 60' --layouts 2 --runs 2 --build-base 'cp base base-{layout}; echo "{layout} $KELVIN_LAYOUT" >>built'
[[ $(xargs <built) == "1 1 2 2" ]] || fail "built $(xargs <built)"
run 2 kelvin bench ./base ./base --layouts 3 --build-head 'test {layout} -lt 2 || { echo no such rule >&2; exit 3; }'
says stderr '^kelvin: --build-head of layout 2 ended with exit code 3'
says stderr '^  no such rule$'

run 2 kelvin bench --base './base 100' --head './base 100' --runs 5000 --metric nosuch
says stderr "^kelvin: the runs have no metric 'nosuch'; they have 'cpu'"
refuses "the least is one run" kelvin bench --base ./base --head ./head --runs 0
refuses '--save: cannot write base/base.pb.gz: base is not a directory' kelvin bench --base ./base --head ./head --save base
refuses '--save: cannot make none/saved: No such file' kelvin bench --base ./base --head ./head --save none/saved

# interrupted COUNT OPTIONS...: a signal when COUNT runs have begun; the exit code is in `code`. Every run of ours adds a line to `began`.
interrupted() {
	local count=$1

	shift
	: >began
	"$KELVIN" bench --metric cpu "$@" >stdout 2>stderr &
	bench=$!
	started+=("$bench")
	until [[ $(wc -l <began) -ge $count ]]; do
		kill -0 "$bench" 2>/dev/null || fail "ended before run $count"
		sleep 0.02
	done
	kill -TERM "$bench"
	code=0
	wait "$bench" || code=$?
}

# A signal ends it, and the command with it; the pairs of runs that were done are compared and saved, unless there are none.
interrupted 1 --base 'echo $$ >>began; exec ./base 100000' --head 'echo $$ >>began; exec ./base 100000'
[[ $code -eq 2 ]] || fail "exit code $code after a signal"
says stderr '^kelvin: interrupted in run 1 of (base|head)$'
[[ ! -s stdout ]] || fail "output on stdout after a signal in the first run"
! kill -0 "$(<began)" 2>/dev/null || fail "the command still runs"
interrupted 10 --base 'echo >>began; exec ./base 200' --head 'echo >>began; exec ./base 200' --runs 1000 --save partly --json a.json --text
[[ $code -eq 3 || $code -eq 1 ]] || fail "exit code $code after a signal that cut it short"
says stderr '^kelvin: interrupted in run [0-9]+ of (base|head): the result compares the [0-9]+ pairs of runs that were completed$'
at_least "$(jq .evidence.runs_base a.json)" 4 "runs that were kept"
says stdout "^$(jq .evidence.runs_head a.json) runs of each command"
[[ -s partly/base.pb.gz && -s partly/head.pb.gz ]] || fail "what was done is not saved"
interrupted 10 --base 'echo >>began; exec ./base 200' --head 'echo >>began; exec ./head 800' --runs 1000 --json -
[[ $code -eq 1 ]] || fail "exit code $code after a signal, where a regression was proven"
