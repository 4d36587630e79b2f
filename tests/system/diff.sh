#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two real recordings, one function slower: the JSON names it; all outputs at once; gates and exit codes.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
start "$WORKLOADS/system_workload" --parse 3
run 0 kelvin record -p "$pid" -F 3980 -d 1.5 -o before.pb.gz
stop "$pid"
start "$WORKLOADS/system_workload" --parse 9
run 0 kelvin record -p "$pid" -F 3980 -d 1.5 -o after.pb.gz
stop "$pid"

code=0
kelvin diff before.pb.gz after.pb.gz --scale share -o a.html --json a.json --markdown a.md --svg a.svg >stdout 2>stderr || code=$?
[[ $code -ne 2 ]] || fail "the comparison failed"
says stdout '^(regressed|improved|unchanged|inconclusive|mixed|minor|machine): '
for file in a.html a.json a.md a.svg; do
	[[ -s $file ]] || fail "no $file"
	says stderr "^wrote $file "
done
jq -e '.schema == "kelvin.diff/1"' a.json >/dev/null || fail "not schema kelvin.diff/1"
jq -e '.functions[] | select(.name == "parse_input") | .delta_self_pct_points > 5' a.json >/dev/null ||
	fail "parse_input does not take more: $(jq -c '.functions[] | select(.name == "parse_input")' a.json)"
jq -e '.functions[] | select(.name == "hash_output") | .delta_self_pct_points < -5' a.json >/dev/null ||
	fail "hash_output does not take less"

# What docs/diff.schema.json says is what is written, member by member; a damaged document is told.
wrong() {
	jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d "$1" -f "$ROOT/tests/system/schema.jq"
}
[[ -z $(wrong a.json) ]] || fail "a.json is not what its schema says: $(wrong a.json | head -n 3)"
jq '.verdict = "worse" | del(.scale.mode) | .functions[0].name = 3 | .extra = 1' a.json >damaged.json
[[ $(wrong damaged.json | wc -l) -eq 4 ]] || fail "a damaged document passes: $(wrong damaged.json)"
# Other tools' profiles leave more open: what nobody counted is null.
printf "main;work 500\n" >stacks.folded
code=0
kelvin diff stacks.folded stacks.folded --json open.json >stdout 2>stderr || code=$?
[[ $code -ne 2 && -z $(wrong open.json) ]] || fail "open.json is not what its schema says: $(wrong open.json | head -n 3)"
jq -e ".recordings.base.lost == null" open.json >/dev/null || fail "lost samples of folded stacks"

# Rules and project roots of now go before what the recordings carry.
printf "library function par?e_[h-j]nput\n" >rules
decides() {
	run 0 kelvin report before.pb.gz --json "${@:2}"
	jq -e --arg expected "$1" ".functions[] | select(.name == \"parse_input\") | \"\(.origin) \(.origin_rule)\" == \$expected" stdout >/dev/null ||
		fail "parse_input is not $1 by ${*:2}"
}
decides "library 1" --origin-rules rules
decides "user 7" --project-root "$ROOT/tests"

says a.html '^<!doctype html>|^<!DOCTYPE html>'
says a.svg '<svg '

# The same twice: nothing differs, whatever the scale. 0 and 3 (one recording a side proves no equality either) are both right.
compare_same() {
	local code=0

	kelvin diff "$@" >stdout 2>stderr || code=$?
	[[ $code -eq 0 || $code -eq 3 ]] || fail "exit code $code for equal profiles: diff $*"
}
for scale in auto robust share rate work=2:2; do
	compare_same before.pb.gz before.pb.gz --scale "$scale" --json same.json
	jq -e '[.functions[] | select(.state != "same" and .state != "unproven")] | length == 0' same.json >/dev/null ||
		fail "a profile differs from itself under --scale $scale"
done
compare_same before.pb.gz before.pb.gz --fail-on 'total>2%' --fail-on 'function:parse_input>1%'
compare_same before.pb.gz before.pb.gz --min-effect 1 --metric cpu
compare_same before.pb.gz,before.pb.gz before.pb.gz,before.pb.gz --text
[[ -s stdout ]] || fail "no text on stdout"
# A comment fits its host, however long and strange the names are; the marker comes first, the verdict next.
for side in 1 3; do
	awk -v times=$side 'BEGIN {
		long = sprintf("%400s", ""); gsub(/ /, "<b>|`*_@[x](http://y)é", long)
		for (i = 0; i < 4000; i++) printf "main;steady%d 500\nmain;%s_%d %d\n", i % 50, long, i, 40 * (i % 2 ? times : 4 - times)
	}' >names.$side
done
code=0
kelvin diff names.1 names.3 --markdown big.md >stdout 2>stderr || code=$?
[[ $code -ne 2 ]] || fail "no Markdown of long names"
at_most "$(wc -m <big.md)" 65536 "characters of Markdown"
[[ $(head -n 1 big.md) == '<!-- kelvin-diff -->' && $(sed -n 2p big.md) == '### '* ]] || fail "no marker and verdict at the top"
says_not big.md 'http://|@'

# A limit on one function of eleven. By shares alone two functions do not tell which of them changed: one takes more, or the other less.
for times in 1 4; do
	awk -v times=$times 'BEGIN { for (i = 0; i < 10; i++) print "main;steady" i, 400; print "main;grows", 300 * times }' >grows.$times
done
run 1 kelvin diff grows.1 grows.4 --scale per-run --fail-on 'function:grows>1%' --ignore-warnings
run 3 kelvin diff after.pb.gz before.pb.gz --scale share --fail-on 'function:hash_output>1%' --ignore-warnings
refuses "fail-on" kelvin diff before.pb.gz after.pb.gz --fail-on 'elephants>2%'
refuses "scale" kelvin diff before.pb.gz after.pb.gz --scale elephants
refuses "two profiles" kelvin diff before.pb.gz
refuses "--inconclusive 'perhaps': write pass or fail" kelvin diff before.pb.gz after.pb.gz --inconclusive perhaps

# Three samples on each side decide nothing: what that is to a build is its own choice.
printf 'main;work 2\nmain;rest 1\n' >few
printf 'main;work 1\nmain;rest 2\n' >other
run 3 kelvin diff few other --text text
says stdout '^inconclusive: '
run 0 kelvin diff few other --inconclusive=pass
run 1 kelvin diff few other --inconclusive fail
run 0 kelvin diff few other --inconclusive pass --fail-on 'total>5%' --scale per-run
# Limits that cannot be checked never pass, whatever the script ignores: it would not notice.
printf 'main;work 1000\n' >fast
printf 'main;work 9000\n' >slow
for ignoring in '' --ignore-warnings '--inconclusive pass' '--ignore-warnings --inconclusive pass'; do
	# shellcheck disable=SC2086 # several words, or none
	run 3 kelvin diff fast slow --fail-on 'total>5%' $ignoring
	says stdout 'the --fail-on limits were not checked: .*--scale per-run'
done
says stderr '^kelvin: --inconclusive pass passes no limits'
run 1 kelvin diff fast slow --fail-on 'total>5%' --scale per-run

# A rule about a function that nobody has met is mentioned: it could never fail.
printf 'main;ns::parse(int) 500\nmain;other 500\n' >names
compare_same names names --fail-on 'function:parse>1%' --fail-on 'function:other>1%'
says stderr "^kelvin: --fail-on 'function:parse>1%': neither side has samples of a function with this name; a similar name is 'ns::parse\(int\)'$"
[[ $(wc -l <stderr) -eq 1 ]] || fail "a rule that is met is mentioned"
