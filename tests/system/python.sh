#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of Python programs that were started without any option: each call chain of a program that says itself in which it is, and
# the shares of one that measures its own, with every Python that is installed.
# STACKS | CPython | 3.11 to 3.15 | functions and lines in place of the interpreter's C functions
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=python.bash
. "$(dirname "$0")/python.bash"

# A step lives for 30 ms. One that is a process of its own may end before the recorder has met its stacks, which are then cut, and counted
# so: one recording of three has all steps.
record_steps() {
	run 0 kelvin record -o steps.pb.gz -- "$python" "$programs/steps.py" steps --seconds 0.03
	says_not stderr 'Python functions that have no names'
	chains_are_right steps.pb.gz steps 700
}

can_read_python
for python in "${pythons[@]}"; do
	rm -f steps shares
	for try in 1 2 3; do
		rm -f steps
		! (record_steps) || break
		[[ $try -lt 3 ]] || fail "three recordings of $python have a step that is wrong"
	done

	run 0 kelvin record -o shares.pb.gz -- "$python" "$programs/shares.py" shares 1.5
	oracle shares shares.pb.gz shares >told
	at_least "$(value functions)" 19 "functions in shares: $(<told)"
	# The largest has 9 % of 1,500 samples, whose standard deviation is below one point.
	at_most "$(value worst)" 3 "points by which the share of a function is off, rounded down: $(<told)"
done
