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

# ---- Kelvin is killed while it names ----

# The processes of a recording, by their names.
ours() {
	pgrep -s "$1" -x 'kelvin.*'
}
none_of() {
	[[ -z $(ours "$1") ]]
}
RANDOM=${KILLED_SEED:-$$}
for ((round = 0; round < 4; round++)); do
	setsid "$KELVIN" record -q -p "$hostile" -d 0.1 -o killed.pb.gz >/dev/null 2>&1 &
	session=$!
	wait_until "functions are named" eval 'pgrep -s "$session" -x "kelvin-(cell|broker|namer)" >/dev/null || [[ ! -d /proc/$session ]]'
	mapfile -t processes < <(ours "$session")
	[[ ${#processes[@]} -eq 0 ]] || kill -KILL "${processes[RANDOM % ${#processes[@]}]}" 2>/dev/null || true
	[[ $((round % 2)) -ne 0 ]] || kill -KILL "$session" 2>/dev/null || true
	wait "$session" 2>/dev/null || true
	wait_until "nobody who named lives on" none_of "$session"
done
hostile_stop

# ---- What is missing is said ----

# Root in a container that allows no new namespaces; a kernel without Landlock; a seccomp of a container that allows no other.
no_namespaces() {
	setpriv --bounding-set -sys_admin "$@"
}
needs gcc
cat >without.c <<'END'
#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 3 || !filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), atoi(argv[1]), 0) != 0 || seccomp_load(filter) != 0)
		return 1;
	execvp(argv[2], argv + 2);
	return 1;
}
END
gcc without.c -o without -lseccomp

small=$WORKLOADS/../system/system_workload
# lacks PART COMMAND...: with the command in front, a recording is made and says that its confinement lacks the part, and where all of it
# is required, nothing is recorded.
lacks() {
	local part=$1

	shift
	run 0 "$@" "$KELVIN" record -o b.pb.gz -- "$small" --cpu 0.05
	says stderr "as this machine or container does not allow it: it lacked .*$part.*--require-confinement"
	rm b.pb.gz
	run 125 "$@" "$KELVIN" record --require-confinement -o b.pb.gz -- "$small" --cpu 0.05
	says stderr "would lack .*$part"
	[[ ! -e b.pb.gz ]] || fail "something was recorded"
}

run 0 "$KELVIN" record --require-confinement -o b.pb.gz -- "$small" --cpu 0.05
says_not stderr 'it lacked'
landlock_create_ruleset=444
lacks 'Landlock' ./without "$landlock_create_ruleset"
# Without CAP_SYS_ADMIN there are no namespaces, and no programs of BPF: where that is all that a recording can do.
if no_namespaces "$KELVIN" record -q -o c.pb.gz -- true 2>/dev/null; then
	lacks 'a process namespace, a mount namespace' no_namespaces
fi
# A user who may make no namespace at all.
unshare=272
./without "$unshare" setpriv --reuid 54321 --regid 54321 --clear-groups "$KELVIN" doctor --json >doctor.json 2>stderr || true
says doctor.json '"confinement_lacks": "a user of its own, a process namespace, a mount namespace"'
setpriv --reuid 54321 --regid 54321 --clear-groups "$KELVIN" doctor --json >doctor.json 2>stderr || true
says doctor.json '"confinement_lacks": ("",|"a user of its own)'
