#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Several processes, the whole system, a control group.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
cp "$WORKLOADS/system_workload" first
cp "$WORKLOADS/system_workload" second
start ./first
one=$pid
start ./second
two=$pid
run 0 kelvin record -p "$one,$two" -d 1 -o a.pb.gz
at_least "$(share a.pb.gz '^first;')" 20 "share of the first process"
at_least "$(share a.pb.gz '^second;')" 20 "share of the second process"
run 0 kelvin record -p "$one" -p "$two" -p "$one" -d 0.5 -o b.pb.gz
refuses 'more than one target' kelvin record -p "$one" -a -o c.pb.gz
kelvin doctor | grep -q "^ok .*other users" || skip "the whole system may not be sampled here"
run 0 kelvin record -a -d 1 -o d.pb.gz
at_least "$(share d.pb.gz 'main;serve')" 10 "share of the workloads in the whole system"

# A control group, of whichever hierarchy has perf's controller: one process inside, one outside.
for root in /sys/fs/cgroup /sys/fs/cgroup/perf_event /sys/fs/cgroup/unified; do
	group=$root/kelvin_test_$$
	{ [[ -e $root/cgroup.procs ]] && mkdir "$group"; } 2>/dev/null || continue
	echo "$one" >"$group/cgroup.procs"
	for path in "kelvin_test_$$" "$group"; do
		kelvin record --cgroup "$path" -d 1 -o e.pb.gz >stdout 2>stderr || break
		at_least "$(share e.pb.gz '^first;.*main;serve')" 90 "share of the process in the control group"
		at_most "$(share e.pb.gz '^second;')" 0 "share of the process outside"
		cgroup_done=yes
	done
	kill -KILL "$one"
	wait "$one" 2>/dev/null
	rmdir "$group"
	[[ ${cgroup_done:-} != yes ]] || break
	start ./first
	one=$pid
done
[[ ${cgroup_done:-} == yes ]] || skip "no control group with perf's controller can be made here"
