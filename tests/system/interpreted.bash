# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# What the tests of programs in PHP and Ruby share. To be sourced after lib.sh, with `language` ("php" or "rb", as names begin), `steps` and
# `shares` (the programs that say themselves what they do), and `runtime` (the interpreter that is tested).

oracle() {
	python3 "$ROOT/tests/workloads/python/oracle.py" "$language-$1" "${@:2}"
}

# value NAME: of the oracle's line in `told`, rounded down.
value() {
	sed -n "1s/.*\\b$1=\\([0-9]*\\).*/\\1/p" told
}

# can_read_frames WORD CODE...: frames are read by a program in the kernel, which not everyone may load.
can_read_frames() {
	can_sample
	needs python3
	run 0 kelvin record -d 2 -o probe.pb.gz -- "$runtime" "${@:2}"
	! grep -q "^$1 frames are not shown: " stderr || skip "$(grep "^$1 frames are not shown: " stderr)"
}

# record_steps_once LEAST OPTION...: of the samples of all steps 99 % have the right chain, and of these 98 % the right lines of callers.
record_steps_once() {
	rm -f steps
	run 0 kelvin record -o steps.pb.gz -- "$runtime" "${@:2}" "$steps" steps 0.04
	says_not stderr 'that have no names|did not fit'
	oracle chains steps.pb.gz steps >told
	at_least "$(value samples)" "$1" "samples of steps: $(head -n 1 told)"
	[[ $(value steps) -eq $(value of) ]] || fail "steps without samples: $(<told)"
	at_least "$(value right)" 99 "percent of the samples of steps with the right chain: $(<told)"
	at_least "$(value lines)" 98 "percent of these with the right lines of callers: $(<told)"
}

# A step lives for 40 ms, and may end before the recorder has met its process: one recording of three has all steps.
record_steps() {
	local _

	for _ in 1 2 3; do
		! (record_steps_once "$@") || return 0
	done
	fail "three recordings of $runtime ${*:2} have a step that is wrong"
}

# record_shares LEAST OPTION...: LEAST functions have their shares.
record_shares() {
	rm -f shares
	run 0 kelvin record -o shares.pb.gz -- "$runtime" "${@:2}" "$shares" shares 1.5
	oracle shares shares.pb.gz shares >told
	at_least "$(value functions)" "$1" "functions in shares: $(<told)"
	# The largest has 16 % of 1,500 samples, whose standard deviation is one point.
	at_most "$(value worst)" 3 "points by which the share of a function is off, rounded down: $(<told)"
}

# A thousand frames deep.
record_deep() {
	rm -f steps
	run 0 kelvin record -o deep.pb.gz -- "$runtime" "$steps" steps 0.4 deep
	oracle chains deep.pb.gz steps >told
	at_least "$(value samples)" 150 "samples of the step deep: $(<told)"
	at_least "$(value right)" 98 "percent of the samples of the step deep with the right chain: $(<told)"
}
