#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Methods of Ruby programs that were started without any option: each call chain of a program that says itself in which it is, and the
# shares of one that measures its own, with every Ruby that is installed, or all of KELVIN_TEST_RUBIES, separated by spaces.
# STACKS | Ruby | 3.1; 3.0 to 3.4 by hand | methods and lines in place of the interpreter's C functions, also with YJIT
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034
language=rb steps=$ROOT/tests/workloads/ruby/steps.rb shares=$ROOT/tests/workloads/ruby/shares.rb
# shellcheck source-path=SCRIPTDIR source=interpreted.bash
. "$(dirname "$0")/interpreted.bash"

rubies=()
for runtime in ${KELVIN_TEST_RUBIES:-/usr/bin/ruby[0-9].[0-9] /usr/local/bin/ruby}; do
	! "$runtime" -e 'exit(RUBY_ENGINE == "ruby" && RUBY_VERSION >= "3.0" && RUBY_VERSION < "3.5")' 2>/dev/null || rubies+=("$runtime")
done
[[ ${#rubies[@]} -gt 0 ]] || skip "no Ruby from 3.0 to 3.4 is installed"
runtime=${rubies[0]}
can_read_frames Ruby -e 'i = 0; i += 1 while i < 10_000_000'
for runtime in "${rubies[@]}"; do
	record_steps 500
	record_shares 13
	# Compiled methods are not in the loop, and their frames are the same.
	! "$runtime" --yjit -e 'exit(RubyVM::YJIT.enabled?)' 2>/dev/null || record_shares 13 --yjit
done
record_deep

# Without names.
run 0 kelvin record --native -o native.pb.gz -- "$runtime" "$steps" steps 0.1 plain
at_most "$(samples_in native.pb.gz 'rb::')" 0 "samples with Ruby methods in spite of --native"
