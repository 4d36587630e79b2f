#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Groups of samples have verdicts of their own: the routes of a real Go program by the labels that it gives its samples; and what is asked
# for by itself has the verdict that it has among the others.
# READS | pprof | Go 1.26: CPU profiles with labels (`pprof.Do`) | each string label of a sample, but those of single requests
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs go
needs jq
use_go_cache
cp "$ROOT/tests/unit/profile/data/go_routes.go" routes.go
run 0 go build -o routes routes.go
for i in 1 2 3; do
	run 0 ./routes "base$i.pb.gz" 2
	run 0 ./routes "head$i.pb.gz" 5
done
base=base1.pb.gz,base2.pb.gz,base3.pb.gz head=head1.pb.gz,head2.pb.gz,head3.pb.gz

# fits FILE: the document is as the schema has it.
fits() {
	local wrong
	wrong=$(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d "$1" -f "$ROOT/tests/system/schema.jq")
	[[ -z $wrong ]] || fail "$1: $wrong"
}
# group FILE VALUE FILTER: a figure of the group.
group() {
	jq -r --arg value "$2" ".groups[] | select(.value == \$value) | $3" "$1"
}

run_any kelvin diff "$base" "$head" --scale per-run --by route --json by.json --text by.txt --markdown by.md
fits by.json
[[ $(group by.json /upload .verdict) == more ]] || fail "/upload: $(jq -c .groups by.json)"
# Where the machine is busy, Go's run time takes the CPU away from it, in a function of its own.
[[ $(group by.json /upload '.top[] | select(startswith("runtime.") | not)' | head -n 1) == main.mix ]] || fail "/upload: $(jq -c .groups by.json)"
[[ $(group by.json /list .verdict) =~ same|unproven ]] || fail "/list: $(jq -c .groups by.json)"
# The program's own labels and no others; names of single requests are none.
[[ $(jq -r '[.groups[].value] | sort | join(" ")' by.json) == "(none) /list /upload" ]] || fail "$(jq -c .groups by.json)"
[[ $(jq '[.groups[].base_ns] | add' by.json) == "$(jq .totals.base_ns by.json)" ]] || fail "groups do not add up: $(jq -c .groups by.json)"
grep -q '^By route$' by.txt || fail "$(cat by.txt)"
grep -q '<code>/upload</code> |.*| more |' by.md || fail "$(cat by.md)"

# By itself it has the same verdict, q and interval, which is here in percent of base and there in points of the greater side.
run_any kelvin diff "$base" "$head" --scale per-run --where route=/upload --json where.json
fits where.json
[[ $(jq -r .totals.state where.json) == "$(group by.json /upload .verdict)" ]] || fail "$(jq -c .totals where.json)"
jq -ne --slurpfile by by.json --slurpfile alone where.json '($by[0].groups[] | select(.value == "/upload")) as $group
	| $alone[0].totals | ([.base_ns, .head_ns] | max) as $points
	| def near($a; $b): ($a - $b | fabs) <= 1e-6 * ($a | fabs);
	.base_ns == $group.base_ns and near(.q; $group.q)
		and near(.ci[0] * $points / .base_ns; $group.ci[0]) and near(.ci[1] * $points / .base_ns; $group.ci[1])' >/dev/null ||
	fail "$(jq -c .totals where.json) alone; among the routes: $(jq -c .groups by.json)"

# What the labels say stays when profiles are merged.
run 0 kelvin report "$base" --by route --json report.json
[[ $(jq -c '[.groups[] | [.value, .count]] | sort' report.json) == "$(jq -c '[.groups[] | [.value, .base_count]] | sort' by.json)" ]] ||
	fail "$(jq -c .groups report.json) in the report of base"

# Every key; and what is not there is named, with what is.
pairs=$ROOT/tests/data/pairs
for key in function module file line thread process; do
	run_any kelvin diff "$pairs/locked_base.pb.gz" "$pairs/locked_head.pb.gz" --by "$key" --json key.json
	fits key.json
	jq -e --arg key "$key" '.groups | length > 0 and all(.key == $key)' key.json >/dev/null || fail "--by $key: $(jq -c .groups key.json)"
done
refuses '--by tenant: no sample has it; there are: function, module, file, line, route' kelvin report base1.pb.gz --by tenant
refuses '--where route=/no: no sample has this value; there are: ' kelvin diff "$base" "$head" --where route=/no
refuses "--where 'route': give a key and its value" kelvin report base1.pb.gz --where route
