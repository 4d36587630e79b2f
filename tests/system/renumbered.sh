#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A function whose name a compiler, a run time or a release script numbers anew is neither new nor gone, whatever else
# changes: another function, or itself. The names are those of tests/data/renumbered.tsv.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# stacks NAME OWN OTHER: folded stacks of a function of this name, with the times of it and of another one.
stacks() {
	printf 'main;run;%s;work %d\nmain;run;%s %d\nmain;run;prepare 2000\nmain;other %d\nmain;other;inner %d\n' \
		"$1" $((40 * $2)) "$1" $((10 * $2)) $((60 * $3)) $((15 * $3))
}

count=0
while IFS=$'\t' read -r kind before after; do
	[[ $kind != \#* ]] || continue
	stacks "$before" 100 100 >base.folded
	for change in "100 220" "500 100"; do
		# shellcheck disable=SC2086 # two numbers
		stacks "$after" $change >head.folded
		"$KELVIN" diff base.folded head.folded --json found.json >stdout 2>stderr
		[[ $? -ne 2 ]] || fail "$kind: no comparison"
		one_sided=$(jq -r '[.functions[] | select(.tier | IN("one-sided", "place", "code")) | .name] | join(", ")' found.json)
		[[ -z $one_sided ]] || fail "$kind ($change): $one_sided"
	done
	count=$((count + 1))
done <"$ROOT/tests/data/renumbered.tsv"
[[ $count -gt 100 ]] || fail "only $count names"
