#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What holds functions up, of real functions that one thing holds up each (workload_bottlenecks), and what their changes consist of.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
needs valgrind
kelvin simulate --help >/dev/null 2>&1 || skip "this kelvin does not simulate"
program=$WORKLOADS/../workloads/workload_bottlenecks

# class_of FILTER FILE FUNCTION
class_of() {
	jq -r --arg name "$3" "[.functions[] | select(.name == \$name) | $1][0] // \"none\"" "$2"
}

# expect FILTER FILE FUNCTION CLASS
expect() {
	local found

	found=$(class_of "$1" "$2" "$3")
	[[ $found == "$4" ]] || fail "$3 $1: $found, not $4: $(jq -c --arg name "$3" '.functions[] | select(.name == $name)' "$2")"
}

run 0 kelvin simulate -q -o base.pb.gz -- "$program" instruction cache memory system
# The functions run twice whose cost is seen to grow: of the system's the time in the kernel would decide.
run 0 kelvin simulate -q -o head.pb.gz -- "$program" instruction cache cache memory memory system
run 0 kelvin report base.pb.gz --json base.json --text base.txt -o base.html
for thing in instruction cache memory system; do
	expect .bottleneck base.json "bound_by_$thing" "$thing"
done
says base.txt 'bound_by_cache .* cache$'
says base.html 'id="data-bottlenecks"'

run 1 kelvin diff base.pb.gz head.pb.gz --json diff.json --text diff.txt --markdown diff.md
for thing in cache memory; do
	for side in base head change; do
		expect ".bottleneck.$side" diff.json "bound_by_$thing" "$thing"
	done
done
expect .bottleneck.change diff.json bound_by_instruction none
says diff.txt 'bound_by_cache .* cache misses$'
says diff.md 'memory.*\| memory accesses \|'
