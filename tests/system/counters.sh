#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is counted beside samples is charged to the stacks that it belongs to: page faults of a program whose faults are known. Counters
# of the processor are read where there are some, and refused before anything is recorded where there are none.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
faults=$WORKLOADS/../workloads/workload_faults

# counted FILE METRIC [FUNCTION]: the value of all, or of a function and what it calls.
counted() {
	kelvin report "$1" --metric "$2" --json counted.json 2>said || fail "$1 has no metric $2: $(cat said)"
	if [[ $# -eq 3 ]]; then
		jq --arg name "$3" '[.functions[] | select(.name == $name) | .total // .total_ns] | add // 0' counted.json
	else
		jq '.totals | .total // .ns' counted.json
	fi
}
# faults_of FILE KNOWN: the faults are those that were made, and those of touch_pages. What a thread does after its last sample is in
# none, and what loads the program faults as well.
faults_of() {
	local all touched

	all=$(counted "$1" page-faults)
	touched=$(counted "$1" page-faults touch_pages)
	at_least "$all" $(($2 * 90 / 100)) "page faults in $1"
	at_most "$all" $(($2 * 105 / 100 + 1000)) "page faults in $1"
	at_least $((100 * touched / all)) 85 "percent of the page faults in touch_pages in $1"
	at_most "$(counted "$1" page-faults only_work)" $(($2 * 15 / 100)) "page faults in only_work in $1"
}

run 0 kelvin record --counters=page-faults,context-switches,task-clock -o threads.pb.gz -- "$faults" 3 20 4000
faults_of threads.pb.gz 240000
at_least "$(counted threads.pb.gz context-switches)" 3 "context switches"
# The CPU time by the samples and by the counter.
cpu=$(counted threads.pb.gz cpu) clock=$(counted threads.pb.gz task-clock)
at_least $((100 * clock / cpu)) 80 "percent of the CPU time by task-clock"
at_most $((100 * clock / cpu)) 120 "percent of the CPU time by task-clock"
[[ $(kelvin report threads.pb.gz --json - 2>/dev/null | jq -r .recording.counters) == "page-faults, context-switches, task-clock" ]] ||
	fail "the report does not tell what was counted"
run 0 kelvin report threads.pb.gz --text
says stdout 'of CPU time'
run 2 kelvin report threads.pb.gz --metric major-faults
says stderr 'page-faults'

# A process that runs already, one thread of it, and whole CPUs.
start "$faults" 0 1000000 4000
run 0 kelvin record -d 0.5 --counters=page-faults -p "$pid" -o pid.pb.gz
at_least "$(counted pid.pb.gz page-faults touch_pages)" 1000 "page faults of a process"
run 0 kelvin record -d 0.5 --counters=page-faults -t "$pid" -o tid.pb.gz
at_least "$(counted tid.pb.gz page-faults touch_pages)" 1000 "page faults of a thread"
if kelvin doctor --json | jq -e .whole_system >/dev/null; then
	run 0 kelvin record -d 0.5 --counters=page-faults -a -o all.pb.gz
	at_least "$(counted all.pb.gz page-faults touch_pages)" 1000 "page faults of the whole system"
fi
kill "$pid"

# Usage.
refuses "unknown event 'page-falts'" kelvin record --counters=page-falts -p $$
refuses 'page-faults is named twice' kelvin record --counters=page-faults,page-faults -p $$
refuses 'no event is named' kelvin record --counters= -p $$
refuses 'separated by commas' kelvin record --counters=page-faults,,task-clock -p $$

# What doctor tells is what record does.
if [[ $(kelvin doctor --json | jq -r .counters) == null ]]; then
	run 125 kelvin record --counters -o none.pb.gz -- touch ran
	says stderr '^kelvin: --counters: .*kelvin simulate'
	[[ ! -e ran && ! -e none.pb.gz ]] || fail "something was recorded, or ran, without counters"
	kelvin doctor >said || true
	says said '^no +counters '
	[[ $(grep -A1 '^no +counters' -E said | tail -1) == "  -> "* ]] || fail "not told why there are no counters"
else
	run 0 kelvin record --counters -o processor.pb.gz -- "$faults" 0 20 4000
	at_least "$(counted processor.pb.gz system)" 1 "nanoseconds in the kernel"
fi

# Groups of perf are read the same way.
needs perf
perf record -q -F 1990 -e '{cpu-clock,page-faults,context-switches}:S' -g -o group.data -- "$faults" 0 20 4000 2>perf.log ||
	skip "perf does not record groups here: $(head -n 1 perf.log)"
faults_of group.data 80000
