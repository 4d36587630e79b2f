# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the tests of Python programs share: interpreters, and programs that say themselves what they do. To be sourced after lib.sh.

programs=$ROOT/tests/workloads/python

# name_python PYTHON: the program that it is (pyenv puts scripts into PATH), if its frames can be read: CPython 3.11 to 3.15.
name_python() {
	"$1" -c '
import os, sys
if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info[:2] <= (3, 15):
    sys.exit(1)
print(os.path.realpath(sys.executable))' 2>/dev/null
}

# The interpreters of this machine, each once: Debian's, those of pyenv and uv, and what PATH has of the newest version, with and without the
# GIL; or all of KELVIN_TEST_PYTHONS, separated by spaces.
find_pythons() {
	local candidate program
	local -A found=()

	pythons=()
	# shellcheck disable=SC2086
	for candidate in ${KELVIN_TEST_PYTHONS:-/usr/bin/python3 "$HOME"/.pyenv/versions/*/bin/python3 \
		"$HOME"/.local/share/uv/python/cpython-3.1*/bin/python3 python3.14 python3.14t python3.15 python3.15t}; do
		if candidate=$(command -v "$candidate") && program=$(name_python "$candidate"); then
			[[ -n ${found[$program]:-} ]] || pythons+=("$candidate")
			found[$program]=1
		fi
	done
	[[ ${#pythons[@]} -gt 0 ]] || skip "no Python from 3.11 to 3.15 is installed"
	python=${pythons[0]}
}

# Frames of Python are read by a program in the kernel, which not everyone may load.
can_read_python() {
	can_sample
	find_pythons
	run 0 kelvin record -d 2 -o probe.pb.gz -- "$python" -c 'sum(i & 3 for i in range(3000000))'
	! grep -q '^Python frames are not shown: ' stderr || skip "$(grep '^Python frames are not shown: ' stderr)"
}

oracle() {
	"$python" "$programs/oracle.py" "$@"
}

# value NAME: of the oracle's line in `told`, rounded down.
value() {
	sed -n "1s/.*\\b$1=\\([0-9]*\\).*/\\1/p" told
}

# chains_are_right PROFILE LOG LEAST [PERCENT]: of the samples of all steps in the log, PERCENT (99) have the right chain, and of these 98 % the right
# lines of callers, and those of the step `libc` have C functions between Python's; there are at least LEAST samples.
chains_are_right() {
	oracle chains "$1" "$2" >told
	at_least "$(value samples)" "$3" "samples of steps in $1: $(head -n 1 told)"
	[[ $(value steps) -eq $(value of) ]] || fail "steps without samples: $(<told)"
	at_least "$(value right)" "${4:-99}" "percent of the samples of steps with the right chain: $(<told)"
	at_least "$(value lines)" 98 "percent of these with the right lines of callers: $(<told)"
	at_least "$(value ordered)" 99 "percent of these with C functions where they were called: $(<told)"
}
