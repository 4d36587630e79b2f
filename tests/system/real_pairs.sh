#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is said of recordings of real programs whose difference is known: tests/data/pairs/README.md.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

pairs=$ROOT/tests/data/pairs

# compare BASE HEAD [OPTION...]: diff.json and the exit status in $code; only 2 is a failure.
compare() {
	local base=$1 head=$2
	shift 2

	code=0
	"$KELVIN" diff "$base" "$head" --json diff.json "$@" >stdout 2>stderr || code=$?
	[[ $code -ne 2 ]] || fail "no comparison of $base and $head: $(cat stderr)"
}

# of NAME SIDE: all runs of that side, joined by commas.
of() {
	local files=("$pairs/$1_$2"*.pb.gz)
	local IFS=,

	echo "${files[*]}"
}

# holds WHAT EXPRESSION: the expression is true of diff.json.
holds() {
	jq -e "$2" diff.json >/dev/null || fail "$1: $(jq -r '.verdict + ": " + .verdict_text' diff.json)"
}

# interval_holds TIMES: an expression that the total's interval holds so many times base's.
interval_holds() {
	echo "(.scale.factor * .totals.head_ns) as \$head | ([.totals.base_ns, \$head] | max) as \$points
		| 1 + .totals.ci[0] / 100 * \$points / .totals.base_ns <= $1 and $1 <= 1 + .totals.ci[1] / 100 * \$points / .totals.base_ns"
}

changed='[.functions[] | select((.state_self, .state_total) | IN("more", "less", "new", "gone")) | .name] | unique'
less='[.functions[] | select((.state_self, .state_total) | IN("less", "gone")) | .name] | unique'

# A busy machine is no change of the program.
for base in quiet noisy; do
	for head in quiet noisy; do
		for number in 1 2; do
			[[ $base != "$head" || $number == 2 ]] || continue
			compare "$pairs/${base}_1.pb.gz" "$pairs/${head}_$number.pb.gz"
			holds "$base against $head gets no verdict" '.verdict | IN("regressed", "improved", "mixed") | not'
			holds "$base against $head flags nothing" "($changed) == []"
		done
	done
done
holds "interrupts have a row of their own" '.interrupts.base_ns > 0 and (.functions | any(.interrupt))'

# A new function of an interpreter's program is new, and fails a gate on it by name.
compare "$(of gunicorn base)" "$(of gunicorn head)"
holds "a new Python function is new" '.functions | any((.name | startswith("py::enrich:")) and .state_total == "new")'
holds "a new Python function of 15 % is a regression" '.verdict == "regressed"'
enrich=$(jq -r '.functions[] | select(.name | startswith("py::enrich:")) | .name' diff.json)
compare "$(of gunicorn base)" "$(of gunicorn head)" --fail-on "function:$enrich>50%" --ignore-warnings
[[ $code -eq 1 ]] || fail "the gate on $enrich exits with $code"

# Nobody counted the requests, and where most of the time lies in what changed, the profile does not tell the load either. What grew
# beyond every load that head may have had is a regression all the same; the total's change may be load.
for service in nginx postgres; do
	for scale in auto robust; do
		compare "$(of $service base)" "$(of $service head)" --scale $scale
		holds "$service regressed" '.verdict == "regressed"'
		# An index that is gone leaves most functions alone: they tell the load, and the total by it is 1.78 times.
		if [[ $service-$scale == postgres-robust ]]; then
			holds "the interval holds 1.78 times" "$(interval_holds 1.78)"
		else
			holds "$service: the load is unknown" '.scale.load == "unknown"'
			holds "$service: the total proves nothing" '.totals.state == "unproven"'
		fi
		if [[ $service == nginx ]]; then
			holds "nginx sends no files any more" '.functions | any(.name == "sendfile" and .state_total == "gone")'
		else
			holds "only rows of the index are no longer fetched" "$less == [\"heap_hot_search_buffer\"]"
		fi
	done
done

# Half of the load is no improvement, and the interval holds what is true.
for scale in auto robust; do
	compare "$(of redis base)" "$(of redis head)" --scale $scale
	holds "half of the load gets no verdict" '.verdict | IN("regressed", "improved", "mixed") | not'
done
holds "the interval holds 1.21 times" "$(interval_holds 1.21)"

# Old and new file names behind a shell are one program.
compare "$(of shell base)" "$(of shell head)"
holds "stubs and start-up code are on both sides" '.functions | any((.name | test("@plt$|^_start$|^main$"))
	and (.state_total | IN("new", "gone", "moved"))) | not'

# An inlined function under another name, in the same machine code.
compare "$(of inlined base)" "$(of inlined head)"
holds "a renamed inlined function is moved" '(.functions | map(.name)) as $names | .functions
	| any(.name == "scramble_round" and .state_total == "moved" and $names[.moved_to] == "mix_step")'
holds "a renamed inlined function gets no verdict" '.verdict | IN("regressed", "improved", "mixed") | not'

# Work that went under a lock is done there: that its function is also called elsewhere hides nothing.
compare "$(of locked base)" "$(of locked head)"
holds "what holds the lock takes more" '.functions | any(.name == "under_lock" and .state_total == "more")'
holds "what left the work is told with its interval" '.functions | any(.name == "outside" and .delta_total_ns < 0 and .ci_total[1] < 0)'

# Two builds of one service, in files of two names.
compare "$(of named base)" "$(of named head)"
holds "a function of both builds has its time in both" '.functions
	| any((.name | startswith("shop::normalize_query")) and .state_self == "more" and .base_self_ns > 0)'

# What runs for a fixed time takes as long however fast it is.
compare "$(of criterion base)" "$(of criterion head)"
holds "a harness gets no verdict by time per run" '.verdict == "inconclusive" and (.verdict_text | contains("for a fixed time"))'

# Twice the work is not the machine's speed, with three runs.
compare "$pairs/python_base.pb.gz" "$pairs/python_twice.pb.gz"
holds "twice the work is a regression" '.verdict == "regressed" and .totals.delta_pct_of_base > 60 and .totals.ci[0] > 0'
compare "$pairs/python_twice.pb.gz" "$pairs/python_base.pb.gz"
holds "half of the work is an improvement" '.verdict == "improved"'
