#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What cannot be sampled or written is refused before anything begins.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

refuses 'cannot sample pid 4194303: no such process' kelvin record -p 4194303 -o a.pb.gz
# One that nobody waits for is no process to sample any more.
start sh -c 'sleep 0.1 & exec sleep 30'
parent=$pid
zombie=none
for ((tries = 0; tries < 100; tries++)); do
	read -r zombie <"/proc/$parent/task/$parent/children"
	! grep -q "^State:.*Z" "/proc/$zombie/status" 2>/dev/null || break
	sleep 0.05
done
refuses "it has ended, and its parent has not waited for it yet" kelvin record -p "$zombie" -o a.pb.gz
refuses 'directory .* does not exist' kelvin record -p $$ -o none/a.pb.gz
mkdir folder
refuses 'it is a directory' kelvin record -p $$ -o folder
refuses '[Nn]o such file' kelvin record -p $$ --origin-rules none -o a.pb.gz
refuses 'event' kelvin record -p $$ -e no-such-event -d 1 -o a.pb.gz
refuses 'cgroup|control group' kelvin record --cgroup /no/such/group -d 1 -o a.pb.gz
[[ ! -e a.pb.gz ]] || fail "a file was left"
is_root || skip "root is needed to try what an ordinary user may not do"
needs setpriv
start sleep 30
chmod 755 "$work"
mkdir -m 777 open
install -m 755 "$KELVIN" open/kelvin
KELVIN=$work/open/kelvin
refuses "cannot sample pid $pid" setpriv --reuid 65534 --regid 65534 --clear-groups "$KELVIN" record -p "$pid" -d 1 -o open/a.pb.gz
# Up to level 2 the level is not what stands in the way.
[[ $(</proc/sys/kernel/perf_event_paranoid) -le 2 ]] || exit 0
says stderr "run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names\$"
says_not stderr 'sysctl'

# Two recorders share what a user may lock: the rings of one are of one size for all CPUs, and the other is told.
needs prlimit
install -m 755 "$WORKLOADS/system_workload" open/
user=$((100000 + $$)) # one of whom nothing else runs
unprivileged=(prlimit --memlock=65536 setpriv --reuid "$user" --regid "$user" --clear-groups)
start "${unprivileged[@]}" "$KELVIN" record -o open/first.pb.gz -- sleep 30
first=$pid
for ((tries = 0; tries < 200; tries++)); do
	[[ ! -e open/first.pb.gz.part ]] || break
	sleep 0.05
done
run 125 "${unprivileged[@]}" "$KELVIN" record -o open/second.pb.gz -- true
says stderr '^kelvin: not enough locked memory for [0-9]+ buffers of [0-9]+ kB: '
kill "$first"
wait "$first"
run 0 "${unprivileged[@]}" "$KELVIN" record -o open/alone.pb.gz -- open/system_workload --parse 3 --seconds 1
says stderr '^the buffers have only [0-9]+ kB each, because locked memory is limited'
