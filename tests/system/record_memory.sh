#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What all processes of a recording have in memory together, and what rights those have that read others' memory and files.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to look into the recorder's processes"
needs python3

# Each page once, however many processes share it.
read -r together alone _ < <("$ROOT/tests/bench/tree_memory.py" "$KELVIN" record -q -o a.pb.gz -- "$WORKLOADS/system_workload" --cpu 0.5)
[[ -s a.pb.gz ]] || fail "nothing was recorded"
at_least "$alone" 1000 "kB of the largest process"
at_most "$together" 20480 "kB of all processes of a recording together"

# Who reads others can look into processes and read files, and nothing else: 2, 19 and 40 of linux/capability.h.
readers() {
	local task

	found=()
	for task in $(pgrep -P "$pid" -x kelvin-reader) $(pgrep -P "$(pgrep -d, -P "$pid" -x kelvin-reader)" -x kelvin-reader); do
		found+=("$task")
	done
	[[ ${#found[@]} -ge 2 ]]
}

rights_of() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

start "$WORKLOADS/system_workload" --cpu 60
target=$pid
start "$KELVIN" record -q -p "$target" -o b.pb.gz
wait_until "there are readers" readers
# The filter is set when the first helper has started; it is forked by the keeper, which reads nothing.
filters() {
	readers && [[ $(rights_of "${found[1]}" Seccomp) == 2 ]]
}
wait_until "the reader's system calls are refused" filters
for reader in "${found[@]}"; do
	for set in CapPrm CapEff CapBnd; do
		[[ $(rights_of "$reader" "$set") == 0000010000080004 ]] || fail "$set of a reader is $(rights_of "$reader" "$set")"
	done
	for set in CapInh CapAmb; do
		[[ $(rights_of "$reader" "$set") == 0000000000000000 ]] || fail "$set of a reader is $(rights_of "$reader" "$set")"
	done
	[[ $(rights_of "$reader" NoNewPrivs) == 1 ]] || fail "a reader may get privileges"
done
