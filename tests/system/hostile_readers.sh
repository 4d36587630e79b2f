#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that cost a reader gigabytes, or never end: each is refused, or read in memory in proportion to its size.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

# reads FILE KILOBYTES [OUTPUT]: in this much memory, with a profile or a refusal. Each takes a second at most.
reads() {
	local watched code

	"$WORKLOADS/workload_hostile_watch" --patience 30 -- "$KELVIN" report "$1" "${3:---folded}" out.txt >watched.out 2>stderr
	watched=$(<watched.out)
	[[ $(hostile_value ended "$watched") == 1 ]] || fail "$1: the reader does not end: $watched"
	code=$(hostile_value code "$watched")
	[[ $code -eq 0 || $code -eq 2 ]] || fail "$1: exit code $code"
	at_most "$(hostile_value peak_kb "$watched")" "$2" "$1: kilobytes of memory"
}

hostile_file perf-data loop.data || fail "no perf.data"
reads loop.data 204800
hostile_file pprof bomb.pb.gz 60 || fail "no pprof"
reads bomb.pb.gz 1048576
hostile_file gzip zeros.gz 10 || fail "no gzip"
# Of a file of this size 250 times as much is inflated, and no more.
reads zeros.gz $(($(stat -c %s zeros.gz) * 260 / 1024))
# A function, a line of 15 bytes here, takes less than a kilobyte in a report, and its row in the JSON nothing.
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "main;fn_%d %d\n", i, i % 7 + 1 }' >many.folded
reads many.folded 102400 --json
jq -e '(.functions | length) == 100001 and .totals.ns == 399995' out.txt >/dev/null || fail "the report of 100,000 functions is not whole"
