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

# Two formats that Kelvin reads and does not write are made of its folded stacks: speedscope's file,
to_speedscope() {
	jq -Rnc '[inputs | capture("^(?<stack>.*) (?<count>[0-9]+)$") | .frames = (.stack / ";") | .count |= tonumber] as $lines
		| ([$lines[].frames[]] | unique) as $names | ($names | with_entries({ key: .value, value: .key })) as $number
		| { "$schema": "https://www.speedscope.app/file-format-schema.json", shared: { frames: [$names[] | { name: . }] },
			profiles: [{ type: "sampled", name: "", unit: "nanoseconds", startValue: 0, endValue: 0,
				samples: [$lines[].frames | map($number[.])], weights: [$lines[].count] }] }'
}

# and the text of perf script, in which a frame tells its binary, or that it was inlined: that of a name is what the report ($1)
# says of it, since folded stacks tell the binaries of functions without names alone. The first frame is the command.
to_perf_script() {
	jq -r '.functions[] | select(.module | startswith("[kernel") | not) | "\(.module)\t\(.name)"' "$1" | awk -F '\t' 'NR == FNR {
		modules[$2] = $1
		next
	}
	{
		count = $0
		sub(/.* /, "", count)
		sub(/ [0-9]+$/, "")
		depth = split($0, frames, ";")
		sample = ""
		for (i = depth; i > 1; i--) {
			name = frames[i]
			is_kernel = sub(/_\[k\]$/, "", name)
			is_inlined = sub(/_\[i\]$/, "", name)
			binary = is_kernel ? "[kernel.kallsyms]" : is_inlined ? "inlined" : name in modules ? modules[name] : "[unknown]"
			if ((offset = match(name, /\+0x[0-9a-f]+/)) > 1) {
				binary = substr(name, 1, offset - 1)
				name = "[unknown]"
			}
			if (binary == "[jit]")
				binary = "/tmp/perf-1.map"
			sample = sample "\t" (is_kernel ? "ffffffff81000000" : "401000") " " name " (" binary ")\n"
		}
		for (i = 0; i < count + 0; i++)
			printf "%s 1 %d.%06d: cpu-clock:\n%s\n", frames[1], ++samples / 1000, samples % 1000, sample
	}' - "$2"
}

for file in "$pairs"/{gunicorn_base,named_head,nginx_base,postgres_head,redis_base,python_base,criterion_head_1,shell_head_2,inlined_base_1}.pb.gz \
	"$ROOT"/tests/unit/profile/data/go.pb.gz; do
	"$KELVIN" report "$file" --folded=export.folded --otlp=export.otlp --json=export.json >stdout 2>stderr || fail "no exports of $file"
	expect_no_finding "$file" export.folded
	expect_no_finding export.folded "$file"
	expect_no_finding "$file" export.otlp
	# A single weight, as that of the other tool's profile, does not tell the period.
	if [[ $file == "$pairs"/* ]]; then
		"$KELVIN" report "$file" --metric cpu --folded=time.folded >stdout 2>stderr || fail "no folded time of $file"
		to_speedscope <time.folded >export.speedscope.json
		expect_no_finding "$file" export.speedscope.json
		expect_no_finding export.speedscope.json "$file"
	fi
	# Where a name is in two binaries, as _start is, folded stacks do not tell which one it is.
	case ${file##*/} in
	gunicorn* | nginx* | postgres* | redis*)
		to_perf_script export.json export.folded >export.txt
		expect_no_finding "$file" export.txt
		expect_no_finding export.txt "$file"
		;;
	esac
done
