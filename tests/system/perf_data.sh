#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of `perf record`, of every mode, are profiles like any other: the same samples as `perf script` shows, the same shares.
# READS | perf.data | perf 6.1, of every mode | samples, stacks and names as of a recording
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs perf
needs strip
export HOME=$work
workload=("$WORKLOADS/system_workload" --parse 3 --cpu 0.2)
perf record -q -o probe.data -- true 2>perf.log || skip "perf record does not work here: $(head -n 1 perf.log)"

# expect FILE WHAT: shares, whole stacks and the number of samples as perf itself counts them.
expect() {
	local said

	at_least "$(share "$1" ';main;serve;parse_input')" 50 "share of parse_input under main and serve, $2"
	at_least "$(share "$1" ';serve;hash_output')" 15 "share of hash_output, $2"
	[[ $2 == "frame pointers" ]] || at_least "$(share "$1" '^system_workload;_start;')" 90 "stacks that reach the entry, $2"
	said=$(awk '{ sum += $NF } END { print sum }' "$(folded "$1")")
	[[ $said -eq $(perf script -F time -G -i "$1" 2>/dev/null | grep -c ':') ]] || fail "$said samples is not what perf has, $2"
}

perf record -q -F 1990 -e cpu-clock --call-graph dwarf,16384 -o dwarf.data -- "${workload[@]}" 2>perf.log || fail "$(cat perf.log)"
expect dwarf.data "unwound"
perf record -q -F 1990 -e cpu-clock --call-graph fp -o fp.data -- "${workload[@]}" 2>perf.log
expect fp.data "frame pointers"
# Of Linux 6.19 and perf 7.0: user stacks come in records of their own.
if perf record -q -F 1990 -e cpu-clock --call-graph fp,defer -o defer.data -- "${workload[@]}" 2>perf.log; then
	expect defer.data "frame pointers"
fi
if perf record -q -z -F 1990 -e cpu-clock --call-graph dwarf,16384 -o z.data -- "${workload[@]}" 2>perf.log; then
	expect z.data "compressed"
	perf record -q -z -F 1990 -e cpu-clock --call-graph dwarf,16384 -o - -- "${workload[@]}" >zpipe.data 2>perf.log
	expect zpipe.data "compressed stream in a file"
fi
perf record -q -F 1990 -e cpu-clock --call-graph dwarf,16384 -o - -- "${workload[@]}" 2>perf.log >pipe.data
expect pipe.data "stream in a file"
size=$(stat -c %s pipe.data)
{ cat pipe.data; echo "done: what a program says behind perf"; } >text.data
expect text.data "stream in a file with text behind it"
run 0 kelvin report text.data --folded -
says stderr "from offset $size on, the stream has no whole record of perf"
perf record -q -F 1990 -e cpu-clock --call-graph dwarf,16384 -o - -- "${workload[@]}" 2>perf.log | kelvin report - --folded - >piped ||
	fail "a stream from a pipe"
grep -q ';main;serve;parse_input' piped || fail "no parse_input in a stream from a pipe"

if perf record -q --threads -F 1990 -e cpu-clock --call-graph dwarf,16384 -o threads.data -- "${workload[@]}" 2>perf.log; then
	expect threads.data "a directory of --threads"
	refuses "cannot read threads.data/data: .*name the directory" kelvin report threads.data/data
	truncate -s -1000 "$(find threads.data -name "data.*" -size +100k | head -n 1)"
	refuses "cannot read threads.data: data.[0-9]+: it ends at offset [0-9]+ within the record at offset [0-9]+" kelvin report threads.data
fi
mkdir empty
refuses "cannot read empty: it is a directory" kelvin report empty
: >empty/data
refuses "cannot read empty: its file 'data' is empty; record it again" kelvin report empty
if perf inject -b -i dwarf.data -o injected.data 2>perf.log; then
	expect injected.data "injected"
fi

# Folded stacks alone are read with less: no files and lines. The names are the same.
run 0 kelvin report dwarf.data --folded alone.txt
run 0 kelvin report dwarf.data --folded beside.txt --text
cmp alone.txt beside.txt || fail "folded stacks differ where nothing else is asked for"

# What was resolved is kept for the next reading, which says the same.
[[ -n $(find .cache/kelvin/frames -type f) ]] || fail "nothing was kept of what was resolved"
XDG_CACHE_HOME=$work/none run 0 kelvin report dwarf.data --json first.json
run 0 kelvin report dwarf.data --json kept.json
run 0 kelvin report dwarf.data --json again.json
{ cmp first.json kept.json && cmp kept.json again.json; } || fail "what was kept changes answers"

# Several events; no stacks at all; the whole system.
perf record -q -F 1990 -e page-faults,cpu-clock -g -o events.data -- "${workload[@]}" 2>perf.log
run 0 kelvin report events.data --text
says stderr '^[0-9]+ samples of cpu-clock are left out: only page-faults is read; .--metric cpu. reads them$'
run 0 kelvin report events.data --metric cpu --json cpu.json
says stderr '^[0-9]+ samples? of page-faults (is|are) left out: only cpu-clock is read; .--metric page-faults. reads (it|them)$'
[[ $(jq -r .metric.name cpu.json) == cpu ]] || fail "--metric does not choose the event"
run 2 kelvin report events.data --metric cycles
says stderr "the profile has no metric 'cycles'"
perf record -q -F 1990 -e cpu-clock -o flat.data -- "${workload[@]}" 2>perf.log
at_least "$(share flat.data ';parse_input')" 50 "share of parse_input without stacks"
start "$WORKLOADS/system_workload" --parse 3
if is_root; then
	perf record -q -a -F 997 -e cpu-clock --call-graph dwarf,8192 -o all.data -- sleep 0.5 2>perf.log
	at_least "$(share all.data ';main;serve;parse_input')" 3 "share of parse_input in the whole system"
fi
stop "$pid"

# What perf recorded of switches is waits: from where a thread left its CPU until it runs again, with the class that functions tell.
cat >waits.py <<'END'
import os, select, threading, time

ends = os.pipe()
threading.Thread(target=lambda: select.select([], [], [], 0.6)).start()
threading.Thread(target=lambda: os.read(ends[0], 1)).start()
time.sleep(0.5)
os.write(ends[1], b"x")
END
# waited FILE METRIC CLASS: milliseconds.
waited() {
	run 0 kelvin report "$1" --metric "$2" --json waits.json
	jq --arg name "[waiting: $3]" '[.functions[] | select(.name == $name) | .total_ns] | add // 0 | . / 1e6 | round' waits.json
}
for event in sched:sched_switch context-switches; do
	in_mount_namespace "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing" \
		perf record -q -c 1 -e "$event" -g --switch-events -o switches.data -- python3 waits.py 2>perf.log || continue
	at_least "$(waited switches.data off-cpu io)" 400 "milliseconds in read(), by $event"
	at_least "$(waited switches.data off-cpu timer)" 400 "milliseconds in sleep(), by $event"
	at_least "$(waited switches.data idle idle)" 500 "milliseconds in select(), by $event"
	says_not stderr 'waits are left out'
done

# Two of them compare, and one with a profile of ours.
perf record -q -F 1990 -e cpu-clock --call-graph dwarf,16384 -o other.data -- "$WORKLOADS/system_workload" --parse 1 --cpu 0.2 2>perf.log
kelvin diff dwarf.data other.data --text >stdout 2>stderr
code=$?
[[ $code -ne 2 ]] || fail "diff of two perf.data files"
says stdout 'hash_output|parse_input'

# Functions of a stripped program are known by where they begin, also where it was linked without a table of them.
strip -o stripped "$WORKLOADS/system_workload"
perf record -q -F 1990 -e cpu-clock --call-graph dwarf,16384 -o stripped.data -- ./stripped --parse 3 --cpu 0.2 2>perf.log
run 0 kelvin report stripped.data --text
[[ $(grep -cE '^ +stripped\+0x[0-9a-f]+ +stripped ' stdout) -ge 4 ]] || fail "functions of a stripped program are not told apart"
says_not stdout '\[unnamed\] +stripped '

# The binary is another build now: its old code is found in the cache of build ids, or it stays without names and that is said.
cp "$WORKLOADS/system_workload" ./program
cp dwarf.data moved.data
perf record -q -F 1990 -e cpu-clock --call-graph dwarf,16384 -o moved.data -- ./program --parse 3 --cpu 0.2 2>perf.log
cp "$(type -P true)" ./program
at_least "$(share moved.data ';main;serve;parse_input')" 50 "share of parse_input from perf's cache"
rm -rf "$work/.debug"
run 0 kelvin report moved.data --folded -
says stderr '/program is another build \([0-9a-f]+\.\.\.\) than the recorded one \([0-9a-f]+\.\.\.\): its code stays unnamed$'

# What is cut or no perf.data after all.
head -c 100000 dwarf.data >cut.data
refuses 'cannot read cut.data: .*cut short' kelvin report cut.data
head -c 60 dwarf.data >cut.data
refuses 'cannot read cut.data: it ends at offset 60' kelvin report cut.data
{ printf 2ELIFREP; tail -c +9 dwarf.data; } >big.data
refuses 'cannot read big.data: .*other byte order' kelvin report big.data
code=0
# shellcheck disable=SC2002
cat dwarf.data | kelvin report - >stdout 2>stderr || code=$?
[[ $code -eq 2 ]] || fail "exit code $code for a file that came through a pipe"
says stderr 'cannot read standard input: a perf.data file that comes through a pipe'
run 0 kelvin report - --folded - <dwarf.data

# Code that was made at run time is in no file, whatever `perf inject --jit` makes of it.
if command -v node >/dev/null && perf record -q -k mono -F 1990 -e cpu-clock -g -o mono.data -- \
	node --perf-prof -e 'function spin(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
		for (let end = process.cpuUsage().user + 3e5; process.cpuUsage().user < end;) spin(50000);' 2>perf.log &&
	perf inject --jit -i mono.data -o jit.data 2>perf.log && [[ -n $(find . -name "jitted-*.so") ]]; then
	run 0 kelvin report jit.data --json jit.json
	[[ $(jq -r '[.functions[] | select(.key | startswith("spin")) | .module] | unique | join(" ")' jit.json) == "[jit]" ]] ||
		fail "a function of JavaScript is not that of one module: $(jq -c '[.functions[].key | select(startswith("spin"))]' jit.json)"
fi

# The text of perf script has the same stacks and counts; perf calls some functions otherwise.
perf script -i dwarf.data >script.txt 2>perf.log
expect_text() {
	at_least "$(share "$1" ';main;serve;parse_input')" 50 "share of parse_input under main and serve, $1"
	at_least "$(share "$1" ';serve;hash_output')" 15 "share of hash_output, $1"
	[[ $(awk '{ sum += $NF } END { print sum }' "$(folded "$1")") -eq $(awk '{ sum += $NF } END { print sum }' "$(folded dwarf.data)") ]] ||
		fail "another number of samples than in perf.data, $1"
}
expect_text script.txt
run 0 kelvin report script.txt --json script.json
run 0 kelvin report dwarf.data --json data.json
[[ $(jq .metric.name script.json) == '"cpu"' ]] || fail "the times of perf script are no CPU times"
[[ $(jq .totals.ns script.json) == $(jq .totals.ns data.json) ]] || fail "another total than that of perf.data"
perf script -F comm,tid,ip,sym -i dwarf.data >fields.txt 2>perf.log
expect_text fields.txt
