#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A dialogue of ten questions about two real recordings, one function slower, over `kelvin mcp`; messages that mean harm; files outside.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq python3
mkdir -p served/deep secret
start "$WORKLOADS/system_workload" --parse 3
run 0 kelvin record -p "$pid" -F 3980 -d 1.5 -o served/before.pb.gz
kill "$pid"
start "$WORKLOADS/system_workload" --parse 9
run 0 kelvin record -p "$pid" -F 3980 -d 1.5 -o served/deep/after.pb.gz
kill "$pid"

# ask TOOL ARGUMENTS: the answer's text in `text`, the whole message in `answer`.
ask() {
	jq -nc --arg tool "$1" --argjson arguments "$2" \
		'{jsonrpc: "2.0", id: "q", method: "tools/call", params: {name: $tool, arguments: $arguments}}' | kelvin mcp served >answer 2>stderr ||
		fail "mcp ended with $?"
	[[ $(wc -l <answer) -eq 1 ]] || fail "not one answer to $1: $(cat answer)"
	jq -e '.jsonrpc == "2.0" and .id == "q"' answer >/dev/null || fail "no answer to $1: $(cat answer)"
	jq -j '.result.content[0].text // ""' answer >stdout
}

# tells TOOL ARGUMENTS PATTERN...: an answer without an error, of fewer than 60 lines, in which each pattern is found.
tells() {
	ask "$1" "$2"
	jq -e '.result.isError == false' answer >/dev/null || fail "$1 $2: $(cat answer)"
	[[ $(wc -l <stdout) -le 60 && $(wc -l <stdout) -ge 2 ]] || fail "$1 has $(wc -l <stdout) lines"
	shift 2
	while [[ $# -gt 0 ]]; do
		says stdout "$1"
		shift
	done
}

# denied TOOL ARGUMENTS PATTERN: an answer that says what is wrong.
denied() {
	ask "$1" "$2"
	jq -e '.result.isError == true' answer >/dev/null || fail "$1 $2 is answered: $(cat answer)"
	says stdout "$3"
}

# ---- Ten questions ----

sides='"base":"before.pb.gz","head":"deep/after.pb.gz","scale":"share"'
both='"base":"before.pb.gz","head":"deep/after.pb.gz"'
tells profiles '{}' '^2 profiles' 'deep/after\.pb\.gz' '  before\.pb\.gz$'
tells compare "{$sides}" 'parse_input' '95 % interval' 'false discovery rate'
[[ $(head -n 1 stdout) =~ ^(Regressed|Improved|Mixed|Inconclusive|Minor|Unchanged) ]] || fail "the verdict is not first"
id=$(grep -oE 'parse_input +[0-9a-f]{12}' stdout | head -n 1 | grep -oE '[0-9a-f]{12}$')
[[ $id ]] || fail "no id of parse_input"
tells explain "{$both,\"function\":\"id:$id\"}" '^Stacks with `parse_input`: .* of base, .* of head\.' '^What calls it' '^What it calls' '\(itself\)'
tells callers "{$both,\"function\":\"^parse_input\$\"}" '^What calls it' '(more|less|new|gone|unproven|same)$'
tells callees '{"profile":"before.pb.gz","function":"^serve$","top":3}' '^What it calls' 'parse_input'
tells top '{"profile":"deep/after.pb.gz"}' 'parse_input' 'self %'
tells top "{\"profile\":\"deep/after.pb.gz\",\"focus\":\"id:$id\",\"only\":\"user\"}" 'Only user code is shown'
tells compare "{$sides,\"hide\":\"parse_input\",\"max_lines\":30}" "Frames of functions like 'parse_input' are left out"
[[ $(wc -l <stdout) -le 30 ]] || fail "max_lines is not kept: $(wc -l <stdout)"
tells compare "{$sides,\"top\":1,\"max_lines\":12}" 'more lines'
tells compare '{"base":"before.pb.gz,before.pb.gz","head":"before.pb.gz","scale":"share"}' '(Inconclusive|Unchanged)'
# Other questions of the commands.
tells groups "{$both,\"by\":\"module\"}" '^By module' 'system_workload'
tells top '{"profile":"before.pb.gz","where":["module=system_workload"]}' '^Samples where module=system_workload: '
tells lines '{"profile":"before.pb.gz","function":"^parse_input$"}' 'parse_input'
# The id is the same in JSON, and an answer is what the command writes.
run 0 kelvin report served/before.pb.gz --json
jq -e --arg id "$id" '.functions[] | select(.name == "parse_input") | .id == $id' stdout >/dev/null || fail "another id in JSON"
(cd served && COLUMNS=140 kelvin report --ids --top 15 --max-lines 57 --no-names before.pb.gz) >expected
ask top '{"profile":"before.pb.gz"}'
diff expected stdout || fail "not what the command writes"

# ---- What is wrong ----

denied explain "{$both,\"function\":\"parse_inputs\"}" "no function is called so; similar names: 'parse_input'"
denied explain "{$both,\"function\":\"(\"}" 'no regular expression'
denied compare "{$both,\"scale\":\"--output=x\"}" '.'
denied compare "{$both,\"metric\":\"no such\"}" 'no such'
[[ ! -e x && ! -e served/x ]] || fail "a file was written"

cp served/before.pb.gz secret/other.pb.gz
ln -s ../secret/other.pb.gz served/link.pb.gz
ln -s ../secret served/secret
ln -s before.pb.gz served/inside.pb.gz
mkfifo served/fifo.pb.gz
for name in ../secret/other.pb.gz "$work/secret/other.pb.gz" link.pb.gz secret/other.pb.gz /etc/passwd /proc/self/fd/0 deep/../../secret/other.pb.gz; do
	denied top "{\"profile\":\"$name\"}" 'not below the directories'
done
denied top '{"profile":"-"}' 'no such file'
denied top '{"profile":"before.pb.gz,-"}' 'no such file'
denied top '{"profile":"fifo.pb.gz"}' 'no regular file'
denied top '{"profile":"deep"}' 'no regular file'
denied top '{"profile":""}' 'empty'
denied top '{"profile":"none.pb.gz"}' 'no such file'
printf 'PERFILE2%0200d' 0 >served/perf.data
denied top '{"profile":"perf.data"}' 'a recording of addresses'
echo nothing >served/text.pb.gz
denied top '{"profile":"text.pb.gz"}' 'text\.pb\.gz'
tells top "{\"profile\":\"$work/served/before.pb.gz\"}" parse_input
tells top '{"profile":"inside.pb.gz"}' parse_input
# Links are not listed, nor what is behind them.
ask profiles '{}'
[[ $(jq -c '[.result.structuredContent.profiles[].name] | sort' answer) == '["before.pb.gz","deep/after.pb.gz"]' ]] || fail "$(cat answer)"

# No repository around is read, by whatever it is found: the profile could name any file of it.
mkdir -p served/sources served/empty/.git served/linked
git init -q .
git -c user.name=n -c user.email=n@n commit -q --allow-empty -m outside
outside=$(git rev-parse HEAD)
git worktree add -q served/tree 2>/dev/null
git init -q served/lent
echo "$work/.git/objects" >served/lent/.git/objects/info/alternates
git -C served/lent cat-file -e "$outside" || fail "the alternates lend nothing"
ln -s "$work/.git" served/linked/.git
outer=',"function":"parse_input","repository":'
for name in sources empty tree linked; do
	denied lines "{\"profile\":\"before.pb.gz\"$outer\"$name\",\"revision\":\"$outside\"}" 'lies outside of the directories|not below the directories'
done
denied lines "{\"profile\":\"before.pb.gz\"$outer\"lent\",\"revision\":\"$outside\"}" 'no commit .* below the directories'
denied lines '{"profile":"before.pb.gz","function":"parse_input","repository":".."}' 'not below the directories'
git worktree remove --force served/tree
rm -rf .git
git init -q served/repository
git -C served/repository -c user.name=n -c user.email=n@n commit -q --allow-empty -m empty
denied lines '{"profile":"before.pb.gz","function":"parse_input","repository":"repository","revision":"v9"}' "v9"
tells lines '{"profile":"before.pb.gz","function":"parse_input","repository":"repository","revision":"HEAD"}' parse_input

# ---- Messages ----

# Each line's answer: its error code, or what its result has.
cat >messages <<'END'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}
{"jsonrpc":"2.0","id":3,"method":"ping"}
{"jsonrpc":"2.0","id":4,"method":"no/such"}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"no_such"}}
{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"top","arguments":{"profile":7}}}
{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"top","arguments":[1]}}
{"jsonrpc":"2.0","id":8,"method":"tools/call","params":[]}
{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"top","arguments":{"profile":"a\u0000b"}}}
{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"top","arguments":{"profile":"before.pb.gz","output":"x"}}}
{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"top","arguments":{"profile":"before.pb.gz","top":-1}}}
{"jsonrpc":"1.0","id":12,"method":"ping"}
{"jsonrpc":"2.0","id":{},"method":"ping"}
{"jsonrpc":"2.0","id":14}
[{"jsonrpc":"2.0","id":15,"method":"ping"}]
{"jsonrpc":"2.0","id":16,"result":{}}
not json

null
{"jsonrpc":"2.0","id":17,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
{"jsonrpc":"2.0","id":18,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}
END
{
	cat messages
	python3 -c 'print("[" * 100000)'
	python3 -c 'print("\"" + "x" * (5 << 20) + "\"")'
	printf '{"jsonrpc":"2.0","id":"last","method":"ping"}'
} | kelvin mcp served >answers 2>stderr || fail "mcp ended with $?"
jq -r '"\(.id) \(.error.code // .result.protocolVersion // .result.resultType // "done")"' answers >stdout || fail "an answer is no JSON"
cat >expected <<'END'
1 2025-06-18
2 2025-11-25
3 done
4 -32601
5 -32602
6 -32602
7 -32602
8 -32602
9 -32602
10 -32602
11 -32602
null -32600
null -32600
null -32600
null -32600
null -32700
null -32600
17 complete
18 -32022
null -32700
null -32700
last done
END
diff expected stdout || fail "other answers (<: expected)"

# Tools say what they take, and that they change nothing.
echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | kelvin mcp served >answer
jq -e '.result.tools | length >= 6 and all(.inputSchema.type == "object" and .annotations.readOnlyHint and (.inputSchema.required | type == "array"))' \
	answer >/dev/null || fail "$(cat answer)"

# A call ends at its deadline; a client that is gone is not waited for.
awk 'BEGIN { for (i = 0; i < 400000; i++) printf "main;f%d;g%d 1\n", i % 1000, i }' >served/large.folded
jq -nc '{jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "top", arguments: {profile: "large.folded"}}}' |
	kelvin mcp --deadline 1ms served >answer || fail "mcp ended with $?"
jq -e '.result.isError and (.result.content[0].text | contains("no answer within"))' answer >/dev/null || fail "$(cat answer)"
yes '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' 2>yes_said | timeout 60 "$KELVIN" mcp served 2>stderr | head -n 3 >answers
[[ ${PIPESTATUS[1]} -eq 0 && $(wc -l <answers) -eq 3 ]] || fail "a client that is gone"
refuses 'cannot open the directory none' kelvin mcp none
