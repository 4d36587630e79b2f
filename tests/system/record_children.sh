#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Children by fork and by fork and exec, followed from an attached parent and from a command.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
workload=$WORKLOADS/system_workload
run 0 kelvin record -o a.pb.gz -- "$workload" --fork --cpu 0.4
at_least "$(share a.pb.gz 'serve')" 80 "share of a forked child"
cp "$workload" other
run 0 kelvin record -o b.pb.gz -- "$workload" --exec "$PWD/other" --cpu 0.4
at_least "$(share b.pb.gz '^other;.*main;serve')" 70 "share of an executed child, under its own name"

start sh -c "$(once_recording c.pb.gz "'$workload' --cpu 0.8; true")"
run 0 kelvin record -p "$pid" -d 60 -o c.pb.gz
at_least "$(share c.pb.gz 'main;serve')" 90 "share of a child born during the recording"

# A parent and its child, both named, in any order: every thread is sampled once.
start sh -c "'$workload'; true"
parent=$pid
child=$(tr -d ' ' <"/proc/$parent/task/$parent/children")
started+=("$child")
for pids in "$parent,$child" "$child,$parent"; do
	before=$(ticks "$child")
	run 0 kelvin record -p "$pids" -F 1000 -d 1 -o e.pb.gz
	at_least "$(samples_said)" 1 "samples of a child"
	at_most "$(samples_said)" $((($(ticks "$child") - before + 2) * 13)) "samples of a child that was named beside its parent, by its CPU time"
done
stop "$parent"

# Some of what short programs do is done in execve(), where the stack of the one before is gone: that is no cut.
run 0 kelvin record -F 4999 -o d.pb.gz -- sh -c 'for i in $(seq 2000); do /bin/true; done'
kelvin report d.pb.gz --folded - >d.folded
says d.folded "execve"
says stderr ", 0 lost, (100\.0|9[789]\.[0-9]) % whole stacks$"
