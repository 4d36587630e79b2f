#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Root's recording of another user's program reads nothing that this user may not read: no perf map through a link or of a third user,
# and no file that debug information names at will.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

can_sample
is_root || skip "root is needed to run programs of other users"

# A perf map that is none of the program's own: a link to a file of root's, a pipe, root's file with any name, a third user's.
printf '0 7fffffffffff the_secret_of_root\n' >secret
chmod 600 secret
mkdir -p lair
chmod 777 lair

# names_with HOW: records code made at run time whose perf map is made by the shell command HOW, in which MAP stands for its path.
names_with() {
	local how=$1 map

	setpriv --reuid 65534 --regid 65534 --clear-groups "$WORKLOADS/workload_hostile" jit >hostile.out 2>&1 &
	hostile=$!
	hostile_started+=("$hostile")
	hostile_has_printed "$hostile" hostile.out '^ready' || fail "the program does not start: $(<hostile.out)"
	map=/tmp/perf-$hostile.map
	rm -f "$map"
	eval "${how//MAP/$map}"
	timeout 60 "$KELVIN" record -p "$hostile" -d 0.5 -o a.pb.gz >stdout 2>stderr || fail "exit code $? with '$how'"
	rm -f "$map"
	kelvin report a.pb.gz --folded - >folded.txt || fail "no report of '$how'"
	hostile_stop
}

chmod 755 "$WORKLOADS/workload_hostile" 2>/dev/null
cp "$WORKLOADS/workload_hostile" "$WORKLOADS/workload_hostile_files" .
chmod 755 workload_hostile workload_hostile_files
WORKLOADS=$work
names_with 'cp secret MAP; chmod 644 MAP; chown 65534:65534 MAP'
grep -q the_secret_of_root folded.txt || fail "a map of the program's own user is not read"
names_with 'ln -s "$work/secret" MAP; chown -h 65534:65534 MAP'
! grep -q the_secret_of_root folded.txt || fail "a perf map that is a link to root's file is read"
names_with 'cp secret MAP; chown 65533:65533 MAP'
! grep -q the_secret_of_root folded.txt || fail "a perf map of a third user is read"
names_with 'mkfifo MAP; chown 65534:65534 MAP'

# The split file of a unit: none of these is opened, whatever it is. A pipe would tell by letting its writer go on.
mkfifo lair/fifo
for dwo in /etc/shadow ../../../../../etc/shadow "$work/lair/fifo" /dev/zero; do
	"$WORKLOADS/workload_hostile_files" dwo lair/file "$dwo" || fail "no file with $dwo"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$WORKLOADS/workload_hostile" run "$PWD/lair/file" >hostile.out 2>&1 &
	hostile=$!
	hostile_started+=("$hostile")
	hostile_has_printed "$hostile" hostile.out '^ready' || fail "the program does not start: $(<hostile.out)"
	if command -v strace >/dev/null; then
		timeout 60 strace -f -e trace=open,openat -o trace "$KELVIN" record -p "$hostile" -d 0.3 -o a.pb.gz >stdout 2>stderr ||
			fail "exit code $? with $dwo"
		! grep -E '/etc/shadow|lair/fifo|"/dev/zero"' trace | grep -v O_PATH >opened || fail "$dwo is opened: $(<opened)"
	else
		timeout 60 "$KELVIN" record -p "$hostile" -d 0.3 -o a.pb.gz >stdout 2>stderr || fail "exit code $? with $dwo"
	fi
	hostile_stop
done
