#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bench --benchmarks: a change of one benchmark of a suite is found and explained, equal suites are called equal, and runs end when
# all is decided.
# shellcheck source-path=SCRIPTDIR source=own_tmp.sh
. "$(dirname "$0")/own_tmp.sh"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
client=$WORKLOADS/benchmark_client

# between VALUE LEAST MOST WHAT
between() {
	awk -v value="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(value >= least && value <= most) }' ||
		fail "$4: $1, expected $2 to $3"
}

# of URI MEMBER: of benchmarks in result.json.
of() {
	jq -r --arg uri "suite.c::$1" ".benchmarks[] | select(.uri == \$uri) | $2" result.json
}

run_any kelvin bench --benchmarks --base "$client suite" --head "$client suite 60" --runs 4 --precision 5% \
	--json result.json -o page.html --markdown comment.md --text text.txt --save saved
[[ $(of divide .verdict) == regressed ]] || fail "divide: $(<text.txt)"
between "$(of divide .delta_pct)" 30 90 'change of divide in percent'
[[ $(of divide '.top[0]') == bench_divide ]] || fail "divide is explained by $(of divide .top)"
[[ $(of divide .base_executions) == 4 && $(of divide .head_executions) == 4 ]] || fail "executions: $(of divide .)"
for name in hash rotate 'mix[1::2]'; do
	[[ $(of "$name" .verdict) != regressed ]] || fail "$name: $(<text.txt)"
done
says text.txt '^Regressed: 1 of 4 benchmarks is slower: divide by '
says text.txt '^- bench_divide .*benchmark_client\.c:[0-9]+.* takes 1\.[0-9]+ times as long'
says comment.md '^<!-- kelvin-diff -->$'
says page.html 'data-benchmarks'

# What was saved gives the same.
run 1 kelvin diff saved/base.pb.gz saved/head.pb.gz --precision 5% --json again.json
[[ $(jq -r .verdict again.json) == regressed ]] || fail "diff of what was saved: $(jq -r .verdict again.json)"

# A harness that only marks its rounds is compared by them, and that is said.
run_any kelvin bench --benchmarks --base "$client marked" --head "$client marked 120" --runs 4 --precision 5% \
	--json result.json --text text.txt
[[ $(of divide .verdict) == regressed && $(of divide .head_iterations) == null ]] || fail "rounds: $(<text.txt)"
between "$(of divide .delta_pct)" 70 180 'change of divide in percent by rounds'
[[ $(of divide '.top[0]') == bench_divide && $(of hash .verdict) != regressed ]] || fail "rounds: $(<text.txt)"
says text.txt '4 benchmarks are compared round by round, since their harness tells no numbers of iterations'
says text.txt '^- bench_divide .* per round'
says text.txt '^Times are of one round, as the harness measured them\.'

# Equal suites are decided at one of the first looks; so wide a precision needs few runs on a busy machine, too.
run 0 kelvin bench --benchmarks --base "$client suite" --head "$client suite" --precision 60 --time-limit 60 --json result.json
[[ $(jq -r '[.benchmarks[].verdict] | unique | join(" ")' result.json) == unchanged ]] || fail "equal: $(jq -c .benchmarks result.json)"
between "$(of hash .base_executions)" 3 8 'executions until all is decided'

# What is decided is run no more: divide, while nothing is ever equal within so little.
run_any kelvin bench --benchmarks --base "$client suite" --head "$client suite 60" --precision 0.001 --time-limit 9 \
	--json result.json --text text.txt
[[ $(of divide .verdict) == regressed ]] || fail "divide, left out when it was decided: $(<text.txt)"
[[ $(of divide .base_executions) -lt $(of hash .base_executions) && $(of hash .base_executions) -ge 4 ]] ||
	fail "divide ran $(of divide .base_executions) times, and hash $(of hash .base_executions)"
says text.txt 'Benchmarks that were decided before are in [0-9]+ or more of them\.'
# A suite that fails without those that are left out is run with all.
# shellcheck disable=SC2016
whole='[ -z "$KELVIN_BENCHMARKS" ] && '
run_any kelvin bench --benchmarks --base "$whole $client suite" --head "$whole $client suite 60" --precision 0.001 --time-limit 9 \
	--json result.json
[[ $(of divide .base_executions) == "$(of hash .base_executions)" && $(of hash .base_executions) -ge 4 ]] ||
	fail "divide ran $(of divide .base_executions) times, and hash $(of hash .base_executions), of whole suites"

# A time limit ends runs that are not decided.
run_any kelvin bench --benchmarks --base "$client suite" --head "$client suite" --precision 0.001 --time-limit 1 --json result.json
[[ $(of hash .base_executions) == 1 ]] || fail "executions within a second: $(of hash .base_executions)"

# shellcheck disable=SC2016
busy='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
run 2 kelvin bench --benchmarks --base "$busy" --head "$busy"
says stderr 'run 1 of (base|head): no benchmark was met'
