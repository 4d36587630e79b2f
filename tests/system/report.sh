#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One profile in every form; folded stacks of perf's scripts; standard input; names with hostile characters.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
cat >perf.folded <<'F'
server;_start;main;handle_request;parse_header_[i];memchr 120
server;_start;main;handle_request;write;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];ksys_write_[k] 300
server;_start;main;std::vector<int, std::allocator<int> >::push_back(int const&) 80
python3;[unknown];_PyEval_EvalFrameDefault 7
F
run 0 kelvin report perf.folded -o a.html --svg a.svg --json a.json --folded a.folded
[[ ! -s stdout ]] || fail "output on stdout although all went to files"
jq -e '.schema == "kelvin.report/1"' a.json >/dev/null || fail "not schema kelvin.report/1"
[[ $(awk '{ sum += $NF } END { print sum }' a.folded) == 507 ]] || fail "counts were lost: $(cat a.folded)"
says a.folded 'ksys_write_\[k\] 300$'
# The FILE of an output may stand before or behind the profile, be '-', or be left out.
for form in "--folded - perf.folded" "--folded perf.folded" "perf.folded --folded" "perf.folded --folded -" "perf.folded --folded=-"; do
	# shellcheck disable=SC2086
	run 0 kelvin report $form
	cmp -s stdout a.folded || fail "not the folded stacks: kelvin report $form"
done
# What `>>` appends to is not replaced.
printf 'before\n' >both
kelvin report perf.folded --folded /dev/stdout >>both 2>stderr || fail "no output on /dev/stdout"
cmp -s both <(echo before; cat a.folded) || fail "not appended: $(cat both)"
run 0 kelvin report --folded b.folded perf.folded
cmp -s b.folded a.folded || fail "--folded FILE PROFILE wrote something else"
run 0 kelvin report - <perf.folded
says stdout 'ksys_write'
says_not stdout '[0-9] lost|whole stacks'
[[ $(wc -L <stdout) -le 132 ]] || fail "lines of $(wc -L <stdout) columns"
says_not stdout $'\033'
run 0 kelvin report - --folded - <a.folded
cmp -s stdout a.folded || fail "folded stacks change on their way in and out"
gzip -k perf.folded
run 0 kelvin report perf.folded.gz

# shellcheck disable=SC2016
printf 'a;</script><img src=x onerror=alert(1)>;"quoted"&amp;`$(id)` 5\na;\xff\xfe\x01bytes 3\na;%s 2\n' \
	"$(head -c 10000 /dev/zero | tr '\0' n)" >hostile.folded
run 0 kelvin report hostile.folded -o a.html --svg a.svg --json a.json --text
jq -e . a.json >/dev/null || fail "JSON is damaged by hostile names"
says_not a.html '<img src=x'
says_not a.svg '<img src=x'
if command -v xmllint >/dev/null; then
	xmllint --noout a.svg || fail "the SVG is damaged by hostile names"
fi

# A terminal is sent nothing that it obeys, neither from symbols nor from the names of files; a tool gets names as they are.
evil=$'\033[31mred\302\23332m\007\177\342\200\256x'
printf 'main;%s 5\n' "$evil" >evil.folded
cp evil.folded "$evil.folded"
obeyed=$'[\001-\010\013-\037\177]|\302[\200-\237]|\342\200\256'
inert() {
	! LC_ALL=C grep -qP "$obeyed" "$1" || fail "$2 commands the terminal: $(cat -v "$1")"
}
run 0 kelvin report evil.folded --folded
cmp -s stdout evil.folded || fail "folded stacks for a tool are changed"
run 0 kelvin report evil.folded --json --svg evil.svg --text evil.txt
inert stdout JSON
jq -e --arg name "$evil" '[.functions[].name] | index($name)' stdout >/dev/null || fail "JSON has another name"
inert evil.svg SVG
inert evil.txt text
for arguments in "$evil" "--$evil" "report $evil" "report $evil.folded -o $evil.html" "report in.folded --metric $evil" \
	"diff evil.folded evil.folded --markdown --fail-on function:$evil>1%" "report in.folded --origin-rules $evil.folded" \
	"record -- ./$evil" "record -p $evil"; do
	# shellcheck disable=SC2086
	kelvin $arguments >stdout 2>stderr
	inert stderr "a message of: kelvin ${arguments//$'\033'/}"
	inert stdout "what is written by: kelvin ${arguments//$'\033'/}"
done
if command -v script >/dev/null; then
	script -qec "'$KELVIN' report evil.folded --folded" /dev/null </dev/null | tr -d '\r' >shown
	says shown '^main;.*red'
	inert shown 'folded text'
fi

# What an interpreter executes, and was not told to name, is said with what helps; in the text and in JSON.
printf 'main;_PyEval_EvalFrameDefault;add 400\nmain;parse 100\n' >python.folded
run 0 kelvin report python.folded --text --json python.json
says stdout "80 % of the time passes through Python functions that have no names: start it with 'python3 -X"
says python.json '80 % of the time passes through Python functions'
kelvin diff python.folded python.folded >stdout 2>stderr
says stdout "80 % of base's time and 80 % of head's pass through Python"

# Waits: two threads that waited 60 ms in pop() for a lock and other things, which main() ended, and 20 ms in fetch() for the network. A
# rule of now makes another class of what was recorded. A file without waits has none.
waits=$ROOT/tests/data/waits/two_threads.pb.gz
run 0 kelvin report "$waits" --metric off-cpu --text --json waits.json
says stdout '^waiting: 80\.0 ms: lock 50\.0 %, network 25\.0 %, other 25\.0 %\.$'
says stdout '^  pop +lock, other +60\.0 ms +75\.0 % +main 100 %$'
jq -e '.metrics == ["samples", "cpu", "off-cpu", "idle", "wall"] and (.waits | map(.ns) | add) == 80000000' waits.json >/dev/null ||
	fail "waits in JSON: $(jq -c '[.metrics, .waits]' waits.json)"
jq -e '.functions[] | select(.name == "pop") | .waits.lock == 40000000 and .released_by[0].function == "main"' waits.json >/dev/null ||
	fail "pop in JSON: $(jq -c '.functions[] | select(.name == "pop")' waits.json)"
printf '# what workers do\nkeep function main\nidle function p?p\n' >wait_rules
run 0 kelvin report "$waits" --metric off-cpu --wait-rules wait_rules
says stdout '^waiting: 20\.0 ms: network 100 %; idle 60\.0 ms not counted\.$'
run 0 kelvin report perf.folded --json --wait-rules wait_rules
jq -e 'has("waits") | not' stdout >/dev/null || fail "waits of folded stacks"
kelvin diff "$waits" "$waits" --json diff.json --metric wall >/dev/null 2>stderr
jq -e '.waits.base == .waits.head and (.functions[] | select(.name == "pop") | .released_by.head[0].ns == 40000000)' diff.json >/dev/null ||
	fail "waits in JSON of a comparison: $(jq -c .waits diff.json)"
[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d diff.json -f "$ROOT/tests/system/schema.jq") ]] ||
	fail "diff.json is not what its schema says"
printf 'waiting function p\n' >wait_rules
refuses "wait_rules line 1: unknown class 'waiting'; it is lock" kelvin report "$waits" --wait-rules wait_rules

# No output takes the place of another one, or of what is read.
printf 'main;work 5\n' >in.folded
ln -sf in.folded in.link
refuses '-o in.link would write over the profile that is to be read' kelvin report in.folded -o in.link
refuses '-o and --svg both write to out.svg' kelvin report in.folded --svg out.svg -o out.svg
refuses '--json in.folded would write over' kelvin diff in.folded in.folded --json in.folded
run 0 kelvin report in.folded --json /dev/null --svg /dev/null
[[ $(<in.folded) == 'main;work 5' ]] || fail "the profile was written over"

# A name of more than a megabyte, as compilers write them.
printf 'main;%s 5\n' "$(head -c 1500000 /dev/zero | tr '\0' x)" >long.folded
run 0 kelvin report long.folded
says stdout 'xxx…xxx'
at_most "$(wc -L <stdout)" 4200 "columns of a name that long"
