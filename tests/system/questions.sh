#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What report and diff answer to questions about functions, frames and origins: text, JSON, Markdown, exit codes, and what cannot be asked.
# That the figures are those of the page: tests/viewer/questions.test.js.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
pairs=$ROOT/tests/data/pairs

# Five runs of each side: `scan` takes more where `serve` calls `parse`, and nothing else changes.
for side in base head; do
	for run in 1 2 3 4 5; do
		serve=2000
		[[ $side == base ]] || serve=4000
		printf '%s\n' "main;load;Parser::parse;scan $((2000 + run))" "main;serve;Parser::parse;scan $((serve + run))" \
			"main;Parser::parse;trim $((500 + run))" "main;write;flush $((8000 + 3 * run))" >"$side$run.folded"
	done
done
base=$(echo base?.folded | tr ' ' ,) head=$(echo head?.folded | tr ' ' ,)
wrong() {
	jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d "$1" -f "$ROOT/tests/system/schema.jq"
}

# ---- A part, its callers and callees ----

run 1 kelvin diff "$base" "$head" --scale per-run --focus parser::parse --callers --callees --ids --text text --json a.json --markdown a.md -o a.html
says stdout '^regressed: .*this part takes'
says text "^Stacks with a function like 'parser::parse': 36\\.. % of base, 4[45]\\.. % of head\\."
says text '^What calls it$'
says text '^  serve +[0-9a-f]{12} .* more$'
says text '^  load +[0-9a-f]{12} .* (same|unproven)$'
says text '^  main +[0-9a-f]{12} '
says text '^  scan +[0-9a-f]{12} .* more$'
says text '^  Parser::parse +[0-9a-f]{12} .*itself'
says a.md "Stacks with a function like"
says a.md '\*\*What calls it\*\*'
[[ -z $(wrong a.json) ]] || fail "a.json is not what its schema says: $(wrong a.json | head -n 3)"
jq -e '.selection.focus == "parser::parse" and .selection.hide == null and (.selection.base_pct | . > 35 and . < 38)' a.json >/dev/null ||
	fail "the selection: $(jq -c .selection a.json)"
jq -e '[.callers[].name] == ["serve", "load", "main"] and .callers[0].state == "more" and .callees[0].name == "scan"' a.json >/dev/null ||
	fail "callers: $(jq -c .callers a.json)"
jq -e '([.callers[].head_pct] | add | . > 99.9 and . < 100.1) and ([.callees[].base_pct] | add | . > 99.9 and . < 100.1)' a.json >/dev/null ||
	fail "shares do not add up"
jq -e '[.functions[].name] | index("flush") == null' a.json >/dev/null || fail "a function of other stacks"
says a.html 'stacks with a function like'

# What is to be done next is about the same part: the command stands there as a shell reads it.
for run in 1 2 3 4 5; do
	cp "base$run.folded" "b$run"
	cp "head$run.folded" "h$run"
done
run 1 kelvin diff b1,b2,b3,b4,b5 h1,h2,h3,h4,h5 --scale per-run --focus '^(parse|Parser::)' --hide trim --only user --text text --max-lines 9
next=$(tr '\n' ' ' <text | sed -n 's/.*Next: `\([^`]*\)` shows each call path.*/\1/p')
[[ $next == "kelvin diff b1,b2,b3,b4,b5 h1,h2,h3,h4,h5 --focus '^(parse|Parser::)' --hide trim --only user -o diff.html" ]] ||
	fail "next: $next; $(cat text)"
run 1 eval "$next --json next.json"
says diff.html 'stacks with a function like'
jq -e '.selection | .focus == "^(parse|Parser::)" and .hide == "trim" and .only == "user"' next.json >/dev/null || fail "$(jq -c .selection next.json)"
run 1 kelvin diff "$base" "$head" --scale per-run --focus "Parser::parse|it's" --text text
says_not text '^Next:'

# The scale is that of the whole, so that a part that alone takes twice as much does so.
jq -e '.scale.mode == "per-run" and .scale.factor == 1 and .verdict == "regressed"' a.json >/dev/null || fail "$(jq -c .scale a.json)"
# An id asks on: the same function in another run of the command, on one side alone.
id=$(jq -r '.functions[] | select(.name == "scan") | .id' a.json)
run 0 kelvin report base1.folded --focus "id:$id" --callers --json
jq -e '[.callers[].name] == ["Parser::parse"] and .callers[0].pct == 100 and (.selection.head_pct | . > 31 and . < 33)' stdout >/dev/null ||
	fail "$(jq -c '.callers, .selection' stdout)"

# ---- Frames that are left out ----

run 0 kelvin report base1.folded --hide '^scan$' --json
jq -e '[.functions[] | select(.name == "Parser::parse").self_ns // select(.name == "Parser::parse").self] == [4002]' stdout >/dev/null ||
	fail "$(jq -c '.functions[]' stdout)"
jq -e '[.functions[].name] | index("scan") == null' stdout >/dev/null || fail "scan is still there"
run 0 kelvin report base1.folded --hide '^scan$'
says stdout "Frames of functions like '\^scan\\$' are left out; their time is that of their callers"
run 0 kelvin report "$pairs/redis_base.pb.gz" --only user --json
jq -e '[.functions[] | select(.origin == "system" or .origin == "library") | select(.interrupt | not) | .self_ns] | add // 0 == 0' stdout >/dev/null ||
	fail "code of the system takes time under --only user"
jq -e '.selection.only == "user" and .selection.head_pct == 100' stdout >/dev/null || fail "$(jq -c .selection stdout)"
run 0 kelvin report base1.folded --focus trim --folded
[[ $(<stdout) == 'main;Parser::parse;trim 501' ]] || fail "folded stacks are not those of the part"

# ---- How long an answer is ----

run 0 kelvin report "$pairs/redis_base.pb.gz" --top 2 --json
jq -e '(.functions | length) == 2 and .functions_left_out > 10' stdout >/dev/null || fail "--top 2 in JSON"
run 0 kelvin report "$pairs/redis_base.pb.gz" --top 2
[[ $(wc -l <stdout) -le 25 ]] || fail "--top 2 has $(wc -l <stdout) lines"
for lines in 5 12 30; do
	run 0 kelvin report "$pairs/redis_base.pb.gz" --max-lines $lines
	[[ $(wc -l <stdout) -eq $lines ]] || fail "--max-lines $lines has $(wc -l <stdout) lines"
	[[ $(tail -n 1 stdout) =~ ^\.\.\.\ [0-9]+\ more\ lines:\ --max-lines\ ([0-9]+)\ shows\ them\ all ]] || fail "the last line says nothing"
done
run 0 kelvin report "$pairs/redis_base.pb.gz" --max-lines "${BASH_REMATCH[1]}"
! grep -q 'more lines' stdout || fail "as many lines as it said leave some off"

# ---- A suite is asked as a whole ----

code=0
kelvin diff "$pairs/criterion_base_1.pb.gz" "$pairs/criterion_head_1.pb.gz" --only user --top 3 >stdout 2>stderr || code=$?
[[ $code -ne 2 ]] || fail "a suite cannot be asked"
says stdout 'Only user code is shown'
refuses 'ask with --where benchmark=NAME' kelvin report "$pairs/criterion_base_1.pb.gz" --benchmark x --focus y

# ---- What cannot be asked ----

refuses "no function is called so; similar names: 'Parser::parse'" kelvin diff "$base" "$head" --focus parse_header
refuses "no function is called so" kelvin report base1.folded --hide nothing_of_this
refuses 'this is no regular expression' kelvin report base1.folded --focus 'parse('
refuses 'an id has 12 hexadecimal digits' kelvin report base1.folded --focus id:7
refuses 'of which function\? Name it with --focus' kelvin report base1.folded --callers
refuses 'write user, library or system' kelvin report base1.folded --only mine
refuses 'the least is one row' kelvin report base1.folded --top 0
refuses 'the least is 5 lines' kelvin report base1.folded --max-lines 4
# One side may lack what the other one has.
printf 'main;write 500\n' >without.folded
code=0
kelvin diff without.folded base1.folded --scale share --focus scan >stdout 2>stderr || code=$?
[[ $code -ne 2 || $(<stderr) == *scan* ]] || fail "a function that is new"
