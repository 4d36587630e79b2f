#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A profile against each of its own exports has no finding: all functions are matched, whatever the export cannot tell.
# The profiles are recordings of other programs, and of another tool.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

pairs=$ROOT/tests/data/pairs

# What was found, and what has a value and no partner.
findings='(if .verdict == "unchanged" or .verdict == "inconclusive" then [] else [.verdict_text] end)
	+ [.functions[] | select((.state | IN("new", "gone", "moved", "more", "less")) or (.tier | IN("code", "place")) or
		(.tier == "one-sided" and ([to_entries[] | select(.key | test("^(base|head)_(self|total)")) | .value // 0] | add) > 0))
		| "\(.name): \(.state), \(.tier)"] | .[0:5] | .[]'

expect_no_finding() {
	local found

	"$KELVIN" diff "$1" "$2" --json found.json >stdout 2>stderr
	[[ $? -ne 2 ]] || fail "no comparison of $1 and $2"
	found=$(jq -r "$findings" found.json) || fail "no JSON"
	[[ -z $found ]] || fail "${1##*/} against ${2##*/}: $found"
}

for file in "$pairs"/{gunicorn_base,named_head,nginx_base,postgres_head,redis_base,python_base,criterion_head_1,shell_head_2,inlined_base_1}.pb.gz \
	"$ROOT"/tests/unit/profile/data/go.pb.gz; do
	"$KELVIN" report "$file" --folded=export.folded --otlp=export.otlp >stdout 2>stderr || fail "no exports of $file"
	expect_no_finding "$file" export.folded
	expect_no_finding export.folded "$file"
	expect_no_finding "$file" export.otlp
done
