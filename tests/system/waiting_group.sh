#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --off-cpu of a control group: each thread of its processes has its time, also of one that is made and of one that comes in while it is
# recorded; others have none.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=waits.sh
. "$(dirname "$0")/waits.sh"

can_sample
needs jq
kelvin doctor | grep -q '^ok .*whole system' || skip "control groups may not be sampled here"
kelvin doctor | grep -q '^ok .*waits' || skip "waits may not be sampled here"
waits=$WORKLOADS/../workloads/workload_waits

# remove_group GROUP: once all of its processes have ended.
remove_group() {
	rmdir "$1" 2>/dev/null || [[ ! -d $1 ]]
}

# in_group NAME COMMAND: a shell in the group runs the line; what it prints is in the file NAME.
in_group() {
	# shellcheck disable=SC2016
	start sh -c 'echo $$ >"$0/cgroup.procs" && eval "$1" >"$2"' "$group" "$2" "$1"
}

# A control group, which lib.sh removes if the test fails, of whichever hierarchy has perf's controller.
group=
for root in /sys/fs/cgroup /sys/fs/cgroup/perf_event /sys/fs/cgroup/unified; do
	{ [[ -e $root/cgroup.procs ]] && mkdir "$root/kelvin_waits_$$"; } 2>/dev/null || continue
	group=$root/kelvin_waits_$$
	! kelvin record --cgroup "$group" -d 0.1 -o try.pb.gz 2>&1 | grep -q 'cannot sample cgroup' || { rmdir "$group" && group= && continue; }
	break
done
[[ -n $group ]] || skip "no control group with perf's controller can be made here"

in_group said "$(once_recording a.pb.gz "exec '$waits' 1 condition long forever")"
in_group said_too "$(once_recording a.pb.gz "'$waits' 1 mutex pipe; true")"
# shellcheck disable=SC2016
start sh -c "$(once_recording a.pb.gz 'echo $$ >"$0/cgroup.procs"; exec "$1" 60 epoll')" "$group" "$waits"
late=$pid
start "$waits" 60 short
taken=$(taken_away)
run 0 kelvin record --off-cpu --cgroup "$group" -d 3 -o a.pb.gz
for file in said said_too; do
	wait_until "$file is written" test -s "$file"
	waited_as_said a.pb.gz "$file" "$taken"
done
# It is met within a second of its coming.
at_least "$(waited a.pb.gz wait_epoll)" 1000 "milliseconds of the process that came in"
equal "$(waited a.pb.gz thread_short)" 0 "milliseconds of the process outside"
kill -KILL "$late"
wait "$late" 2>/dev/null
wait_until "the group is empty" remove_group "$group"
