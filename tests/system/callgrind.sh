#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program is counted by callgrind and cachegrind with their options: the report has what callgrind_annotate has, function by
# function; a comparison of two versions names the function that takes more.
# READS | callgrind.out | Valgrind 3.19 | exact counts; stacks with `--separate-callers=N`, else estimated from calls
# READS | cachegrind.out | Valgrind 3.19 | exact counts of functions, no stacks
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for tool in valgrind callgrind_annotate cc jq gzip; do
	needs "$tool"
done
cp "$ROOT/tests/unit/foreign/data/callgrind.c" base.c
sed 's/a(10 \* n)/a(20 * n)/' base.c >head.c
cc -g -O1 base.c -o base || fail "base.c does not compile"
cc -g -O1 head.c -o head || fail "head.c does not compile"

# counts FILE PROGRAM OPTIONS...
counts() {
	valgrind -q --tool=callgrind --callgrind-out-file="$1" "${@:3}" "./$2" >stdout 2>stderr || [[ $? -lt 2 ]] ||
		fail "callgrind fails: ${*:3}"
}
cache=(--cache-sim=yes --branch-sim=yes "--I1=32768,8,64" "--D1=32768,8,64" "--LL=8388608,16,64")
counts plain base
counts caches base "${cache[@]}" --collect-systime=nsec
counts callers base --separate-callers=10
counts raw base --dump-instr=yes --collect-jumps=yes --compress-strings=no --compress-pos=no
counts changed head
valgrind -q --tool=cachegrind --cachegrind-out-file=cached "${cache[@]}" ./base >stdout 2>stderr

# annotated FILE: `name instructions` by callgrind_annotate, contexts and files of inlined code added up.
annotated() {
	callgrind_annotate --threshold=100 --auto=no --show=Ir --inclusive=no "$1" |
		awk '/^ *[0-9,]+ \([ 0-9.]+%\)  .*:/ && !/PROGRAM TOTALS/ {
			value = $1; gsub(",", "", value)
			sub(/^ *[0-9,]+ \([ 0-9.]+%\) +/, ""); sub(/ \[.*\]$/, ""); sub(/^.*:/, ""); sub(/\047.*/, "")
			if ($0 !~ /^0x/) sum[$0] += value
		} END { for (name in sum) if (sum[name]) print name, sum[name] }' | sort
}
# reported FILE: the same by kelvin, which gives functions without a name that of their object.
reported() {
	kelvin report "$1" --folded - --metric instructions |
		awk '{ value = $NF; sub(/ [0-9]+$/, ""); sub(/^.*;/, ""); if ($0 !~ /\+0x[0-9a-f]+$/) sum[$0] += value }
			END { for (name in sum) if (sum[name]) print name, sum[name] }' | sort
}
for file in plain caches callers raw; do
	annotated "$file" >expected
	reported "$file" >found
	[[ $(wc -l <expected) -gt 50 ]] || fail "callgrind_annotate names $(wc -l <expected) functions of $file"
	cmp -s expected found || fail "not the instructions of callgrind_annotate: $file: $(diff expected found | head -n 6)"
	run 0 kelvin report "$file" --json -
	total=$(awk '/^totals:/ { print $2 }' "$file")
	jq -e --argjson total "$total" '.metrics[] | select(.type == "instructions") | .total == $total' stdout >/dev/null 2>&1 ||
		[[ $(kelvin report "$file" --folded - --metric instructions | awk '{ sum += $NF } END { print sum }') == "$total" ]] ||
		fail "not $total instructions: $file"
done

# What stacks are is told: guessed from calls of two functions each, or not.
run 0 kelvin report plain --text - --json plain.json -o plain.html
says stdout 'counted without sampling'
says stdout 'call graph estimated from calls'
jq -e '.recording.call_graph == "estimated from calls" and (.warnings | length) == 1' plain.json >/dev/null || fail "JSON does not tell of estimated stacks"
says stdout 'stacks are estimated from calls between two functions each'
run 0 kelvin report caches
says stdout ' cycles\.$'
run 0 kelvin report cached
says stdout 'call graph none'
says stdout ' cycles\.$'

# In pieces, packed, and from a pipe it is the same.
kelvin report plain --folded - >whole
gzip -k plain
run 0 kelvin report plain.gz --folded -
cmp -s stdout whole || fail "a packed file reads otherwise"
run 0 kelvin report - --folded - <plain
cmp -s stdout whole || fail "standard input reads otherwise"

# One run a side names the function.
code=0
kelvin diff plain changed --text - --json diff.json >stdout 2>stderr || code=$?
[[ $code -ne 2 ]] || fail "two files cannot be compared"
jq -e '[.warnings[] | select(.text | contains("stacks are estimated"))] | length == 1' diff.json >/dev/null ||
	fail "the comparison does not tell of estimated stacks"
jq -e '.functions | max_by(.delta_self_pct_points) | .name == "leaf"' diff.json >/dev/null ||
	fail "not leaf: $(jq -c '.functions | max_by(.delta_self_pct_points)' diff.json)"

head -c 5000 plain >part
run 0 kelvin report part --text -
says stdout 'the file ends in line [0-9]+ without its totals'
# What is written has no notes, and a profile of many tells its own nowhere.
run 0 kelvin report part --folded -
says stderr '^kelvin: part: the file ends in line [0-9]+ without its totals'
mkdir many
cp plain changed part many
kelvin history many --text - >stdout 2>stderr || fail "no history: $(<stderr)"
says stderr 'many/part: the file ends in line [0-9]+ without its totals.*; it is left out'
sed 's/^totals: .*/totals: 7/' plain >other
refuses 'cannot read other: line [0-9]+: the costs of Ir are [0-9]+ together, the totals say 7' kelvin report other
