#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# -D begins later; -F and -e do what they say.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --seconds 100

# expect HZ OPTIONS...: records for a second; on a busy machine the target gets a part of a CPU, and samples as that part says.
expect() {
	local hz=$1 before begin used spent_ms expected

	shift
	before=$(ticks "$pid")
	begin=$(date +%s%N)
	run 0 kelvin record -p "$pid" -d 1 -o a.pb.gz "$@"
	used=$(($(ticks "$pid") - before))
	spent_ms=$((($(date +%s%N) - begin) / 1000000))
	expected=$((hz * used * 10 / spent_ms))
	at_least "$(samples_said)" $((expected / 2)) "samples of a second at $hz Hz"
	at_most "$(samples_said)" $((2 * expected + 50)) "samples of a second at $hz Hz"
}

expect 500 -D 500 -F 500 -e cpu-clock
expect 4000 -F 4000 -g dwarf,8192

# What was left out is no time of the recording: neither its length nor its rate holds the delay.
run 0 kelvin record -p "$pid" -D 1000 -d 0.5 -o a.pb.gz
says stderr 'samples in 0\.[5-9] s'

# The same with units.
run 0 kelvin record -p "$pid" -D 1.0s -d 500ms -o a.pb.gz
says stderr 'samples in 0\.[5-9] s'
