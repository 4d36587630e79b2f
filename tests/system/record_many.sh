#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A process with 2,000 threads is attached to in less than a second; then one event per CPU takes the place of events per thread, of
# which a process that is not the target shows nothing, and a child of the target does.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
cp "$WORKLOADS/system_workload" many
cp "$WORKLOADS/system_workload" foreign
start ./many --idle 2000 --exec "$PWD/many" --seconds 60
many=$pid
start ./foreign --seconds 60
for ((i = 0; i < 100; i++)); do
	[[ $(ls "/proc/$many/task" | wc -l) -lt 2001 ]] || break
	sleep 0.1
done
sleep 0.2
started+=("$(cat "/proc/$many/task/$many/children" | tr -d ' ')")
begin=$(date +%s%N)
run 0 kelvin record -p "$many" -d 1 -o a.pb.gz
spent_ms=$((($(date +%s%N) - begin) / 1000000))
at_most "$spent_ms" 2500 "milliseconds for one second of a process with 2,000 threads"
at_least "$(share a.pb.gz '^many;.*main;serve')" 90 "share of the target's child"
at_most "$(share a.pb.gz '^foreign;')" 0 "share of a process that is not the target"
says stderr ', 0 lost, '

