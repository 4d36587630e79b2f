#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of PHP programs that were started without any option: each call chain of a program that says itself in which it is, and the
# shares of one that measures its own, with every PHP that is installed, or all of KELVIN_TEST_PHPS, separated by spaces.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

programs=$ROOT/tests/workloads/php

oracle() {
	python3 "$ROOT/tests/workloads/python/oracle.py" "php-$1" "${@:2}"
}

# value NAME: of the oracle's line in `told`, rounded down.
value() {
	sed -n "1s/.*\\b$1=\\([0-9]*\\).*/\\1/p" told
}

# record_steps LEAST OPTION...: of the samples of all steps 99 % have the right chain, and of these 98 % the right lines of callers.
record_steps() {
	rm -f steps
	run 0 kelvin record -o steps.pb.gz -- "$php" "${@:2}" "$programs/steps.php" steps 0.04
	says_not stderr 'PHP functions that have no names|did not fit'
	oracle chains steps.pb.gz steps >told
	at_least "$(value samples)" "$1" "samples of steps: $(head -n 1 told)"
	[[ $(value steps) -eq $(value of) ]] || fail "steps without samples: $(<told)"
	at_least "$(value right)" 99 "percent of the samples of steps with the right chain: $(<told)"
	at_least "$(value lines)" 98 "percent of these with the right lines of callers: $(<told)"
}

record_shares() {
	rm -f shares
	run 0 kelvin record -o shares.pb.gz -- "$php" "$@" "$programs/shares.php" shares 1.5
	oracle shares shares.pb.gz shares >told
	at_least "$(value functions)" 12 "functions in shares: $(<told)"
	# The largest has 16 % of 1,500 samples, whose standard deviation is one point.
	at_most "$(value worst)" 3 "points by which the share of a function is off, rounded down: $(<told)"
}

can_sample
needs python3
phps=()
for php in ${KELVIN_TEST_PHPS:-/usr/bin/php[0-9].[0-9] /usr/local/bin/php}; do
	! [[ $("$php" -r 'echo PHP_ZTS, PHP_VERSION_ID >= 70400 && PHP_VERSION_ID < 80600;' 2>/dev/null) == 01 ]] || phps+=("$php")
done
[[ ${#phps[@]} -gt 0 ]] || skip "no PHP from 7.4 to 8.5 is installed"
php=${phps[0]}
run 0 kelvin record -d 2 -o probe.pb.gz -- "$php" -r 'for ($i = 0; $i < 10000000; $i++);'
! grep -q '^PHP frames are not shown: ' stderr || skip "$(grep '^PHP frames are not shown: ' stderr)"

for php in "${phps[@]}"; do
	for try in 1 2 3; do
		! (record_steps 500) || break
		[[ $try -lt 3 ]] || fail "three recordings of $php have a step that is wrong"
	done
	record_shares
done

# opcache keeps functions in memory that processes share, and compiles them.
php=${phps[-1]}
for jit in off tracing function; do
	options=(-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M "-dopcache.jit=$jit")
	[[ $("$php" "${options[@]}" -r 'echo function_exists("opcache_get_status");') == 1 ]] || continue
	record_shares "${options[@]}"
done

# A thousand frames deep.
rm -f steps
run 0 kelvin record -o deep.pb.gz -- "$php" "$programs/steps.php" steps 0.4 deep
oracle chains deep.pb.gz steps >told
at_least "$(value samples)" 150 "samples of the step deep: $(<told)"
at_least "$(value right)" 98 "percent of the samples of the step deep with the right chain: $(<told)"
