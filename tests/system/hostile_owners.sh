#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who reads binaries for names: one child for each owner, none of whom can speak for another, and what is said where a part of their
# confinement is not to be had.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

can_sample
is_root || skip "root is needed to run programs of other users"
needs python3

# A file of a user's whose names take a while, so that the processes can be looked at.
cp "$WORKLOADS/workload_hostile" "$WORKLOADS/workload_hostile_files" .
chmod 755 workload_hostile workload_hostile_files
mkdir -p lair
"$work/workload_hostile_files" units lair/file || fail "there is no slow file"
chown 54321 lair lair/file
chmod 755 lair lair/file
setpriv --reuid 54321 --regid 54321 --clear-groups ./workload_hostile run "$PWD/lair/file" >hostile.out 2>&1 &
hostile=$!
hostile_started+=("$hostile")
hostile_has_printed "$hostile" hostile.out '^ready' || fail "the program does not start: $(<hostile.out)"

"$ROOT/tests/system/tree_rights.py" "$KELVIN" record -q -p "$hostile" -d 0.5 -o a.pb.gz >tree.txt 2>stderr || fail "no recording"
# NAME USER GROUPS CAPABILITIES NO-NEW-PRIVILEGES SECCOMP PROCESS-NAMESPACES MOUNTS DUMPABLE
grep -qE '^kelvin-cell 0 .* 0000000000000020 1 [02] ' tree.txt || fail "the supervisor has more than the right to kill: $(<tree.txt)"
# The limits of the child are the broker's to set, and root's own broker reads root's files: where root has these capabilities.
grep -qE '^kelvin-broker 54321 - 0000000000?1?0000000* 1 2 ' tree.txt || fail "the broker is not the owner: $(<tree.txt)"
! grep -E '^kelvin-broker (0|54321) .* 1 2 ' tree.txt | grep -vE ' 000000000(0|1)00000(0|4) ' || fail "a broker has more rights: $(<tree.txt)"
grep -E '^kelvin-namer ' tree.txt >namers.txt || fail "no process that names was seen: $(<tree.txt)"
while read -r _ user groups capabilities no_new_privs seccomp namespaces mounts dump; do
	[[ $user -ge 65520 && $user -ne 65534 ]] || fail "the user of a process that names is $user"
	[[ "$groups $capabilities $no_new_privs $seccomp $mounts $dump" == "- 0000000000000000 1 2 own undumpable" ]] ||
		fail "a process that names has rights: $(<namers.txt)"
	[[ $namespaces -ge 2 ]] || fail "a process that names sees others"
done <namers.txt
hostile_stop

# Nothing is left of any of them.
wait_until "all have ended" eval '! pgrep -x "kelvin-(cell|broker|namer)" -g 0 >/dev/null'

# ---- What is missing is said ----

# no_namespaces COMMAND...: root in a container that allows no new namespaces.
no_namespaces() {
	setpriv --bounding-set -sys_admin "$@"
}
cp "$WORKLOADS/workload_hostile_files" victim
run 0 "$KELVIN" record --require-confinement -o b.pb.gz -- "$work/victim" units lair/other
! grep -q 'confined' stderr || fail "something is missing: $(<stderr)"
code=0
no_namespaces "$KELVIN" record -o b.pb.gz -- "$work/victim" units lair/other >stdout 2>stderr || code=$?
if [[ $code -eq 0 ]]; then
	says stderr 'it lacked .*a mount namespace.*--require-confinement'
	code=0
	no_namespaces "$KELVIN" report --require-confinement b.pb.gz --folded - >stdout 2>stderr || code=$?
	[[ $code -eq 2 ]] || fail "exit code $code where confinement is required and cannot be had"
	says stderr 'would lack a process namespace, a mount namespace'
	[[ ! -s stdout ]] || fail "something was written: $(<stdout)"
fi
