#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of PHP programs that were started without any option: each call chain of a program that says itself in which it is, and the
# shares of one that measures its own, with every PHP that is installed, or all of KELVIN_TEST_PHPS, separated by spaces.
# STACKS | PHP | 8.2; 7.4 to 8.5 by hand | functions and lines in place of the interpreter's C functions, also with opcache's JIT; builds without threads
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
language=php steps=$ROOT/tests/workloads/php/steps.php shares=$ROOT/tests/workloads/php/shares.php
# shellcheck source-path=SCRIPTDIR source=interpreted.bash
. "$(dirname "$0")/interpreted.bash"

phps=()
for runtime in ${KELVIN_TEST_PHPS:-/usr/bin/php[0-9].[0-9] /usr/local/bin/php}; do
	! [[ $("$runtime" -r 'echo PHP_ZTS, PHP_VERSION_ID >= 70400 && PHP_VERSION_ID < 80600;' 2>/dev/null) == 01 ]] || phps+=("$runtime")
done
[[ ${#phps[@]} -gt 0 ]] || skip "no PHP from 7.4 to 8.5 is installed"
runtime=${phps[0]}
can_read_frames PHP -r 'for ($i = 0; $i < 10000000; $i++);'
for runtime in "${phps[@]}"; do
	record_steps 500
	record_shares 12
done
record_deep

# opcache keeps functions in memory that processes share, and compiles them.
for jit in off tracing function; do
	options=(-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M "-dopcache.jit=$jit")
	[[ $("$runtime" "${options[@]}" -r 'echo function_exists("opcache_get_status");') == 1 ]] || continue
	record_shares 12 "${options[@]}"
done

# Without names.
run 0 kelvin record --native -o native.pb.gz -- "$runtime" "$steps" steps 0.1 plain
at_most "$(samples_in native.pb.gz 'php::')" 0 "samples with PHP functions in spite of --native"
