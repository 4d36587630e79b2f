#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the recorder has copied of others' memory goes into no core file, whatever the machine does with core dumps; the command that it
# starts is as its user would have started it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to become another user"
users_may_sample -1
needs setpriv
chmod 755 "$work"
mkdir -m 777 open
install -m 755 "$KELVIN" open/kelvin
user=$((300000 + $$)) # one of whom nothing else runs
as_user=(setpriv --reuid "$user" --regid "$user" --clear-groups)

# The processes that the recorder consists of.
tree() {
	local child

	echo "$1"
	for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		tree "$child"
	done
}

reads_others() {
	[[ $(tree "$pid" | wc -l) -ge 3 ]] && grep -q 'perf_event' "/proc/$pid/maps"
}

# every_process_is_silent WHAT: a process that may not be dumped belongs to root in /proc, and to no other user.
every_process_is_silent() {
	local process undumped='/perf_event/ || /zero/ { here = 1; seen++ } here && /^VmFlags/ { here = 0; if (!/ dd/) dumped++ }
		END { exit !((seen > 0 || here_is_child) && dumped == 0) }'

	for process in $(tree "$pid"); do
		[[ $(stat -c %u "/proc/$process/maps") == 0 ]] || fail "$1: process $process may be dumped"
		[[ $(awk '/^Max core/ { print $5 }' "/proc/$process/limits") == 0 ]] || fail "$1: process $process has a limit of core files"
		# Rings, and what readers and the recorder share. A reader that has just begun, or ends, has none of it.
		awk -v "here_is_child=$((process != pid))" "$undumped" "/proc/$process/smaps" || fail "$1: memory of process $process with stacks would be dumped"
	done
}

start "${as_user[@]}" "$WORKLOADS/system_workload" --cpu 60
target=$pid
for recorder in "${as_user[*]}" ''; do
	ulimit -S -c unlimited
	# shellcheck disable=SC2086
	start $recorder "$work/open/kelvin" record -q -p "$target" -o "open/${#recorder}.pb.gz"
	wait_until "the recorder reads" reads_others
	every_process_is_silent "recorder of ${recorder:-root}"
	kill -SEGV "$pid"
	wait_until "the recorder ends" eval "! kill -0 $pid"
	[[ -z $(find "$work" -name 'core*') ]] || fail "a core file was left"
done

# The command's own core limit, and its own memory.
ulimit -S -c 1234
run 0 "${as_user[@]}" "$work/open/kelvin" record -q -o open/b.pb.gz -- bash -c "ulimit -c; stat -c %u /proc/self/maps; exec '$WORKLOADS/system_workload' --cpu 0.1"
says stdout '^1234$'
says stdout "^$user\$"
