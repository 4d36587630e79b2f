#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A process with 2,000 threads costs the recorder little more CPU time than a process with one, since one event per CPU takes the place of
# events per thread. A process that is not the target shows nothing, and a child of the target does.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
cp "$WORKLOADS/system_workload" many
cp "$WORKLOADS/system_workload" foreign
start ./many --idle 2000 --exec "$PWD/many" --seconds 60
many=$pid
start ./foreign --seconds 60
foreign=$pid
for ((i = 0; i < 100; i++)); do
	[[ $(ls "/proc/$many/task" | wc -l) -lt 2001 ]] || break
	sleep 0.1
done
sleep 0.2
started+=("$(tr -d ' ' <"/proc/$many/task/$many/children")")

# record_cost PID: the milliseconds of CPU time that a recording of one second took; what it said is in stderr.
record_cost() {
	local TIMEFORMAT='%3U %3S' spent

	spent=$({ time kelvin record -p "$1" -d 1 -o a.pb.gz >stdout 2>stderr; } 2>&1)
	awk '{ printf "%d\n", 1000 * ($1 + $2) + 1 }' <<<"$spent"
}

record_cost "$foreign" >alone
record_cost "$many" >cost
at_most $(($(<cost) / $(<alone))) 15 "times the CPU time of a recording of one thread, for 2,000"
at_least "$(share a.pb.gz '^many;.*main;serve')" 90 "share of the target's child"
at_most "$(share a.pb.gz '^foreign;')" 0 "share of a process that is not the target"
says stderr ', 0 lost, '

# The programs that the kernel runs for a recorder end with it, however it ends.
is_root || exit 0
PATH=$PATH:/usr/sbin
needs bpftool
# programs_of PID: the ids of its programs and of its links' programs.
programs_of() {
	cat "/proc/$1/fdinfo/"* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p' | sort -u
}
start "$KELVIN" record -p "$many" -o b.pb.gz
# While programs are loaded there are others for a moment, which ask what the kernel can do.
wait_until "the recording begins" is_recording b.pb.gz
programs=$(programs_of "$pid")
at_least "$(wc -w <<<"$programs")" 2 "programs of the recorder: $programs"
at_most "$(readlink "/proc/$pid/fd/"* | grep -c perf_event)" $((10 * $(nproc --all))) "descriptors of perf events"
for id in $programs; do
	bpftool prog show id "$id" >stdout 2>stderr || fail "program $id of the recorder is not known"
done
kill -KILL "$pid"
for id in $programs; do
	for ((i = 0; i < 200; i++)); do
		bpftool prog show id "$id" >stdout 2>stderr || break
		sleep 0.05
	done
	! bpftool prog show id "$id" >stdout 2>stderr || fail "program $id is there after its recorder was killed"
done
