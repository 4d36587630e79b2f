#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An interpreter whose program's functions are not shown: the recording says so, by the time that passes through them, and how to get
# them. Functions of CPython and node are shown, unless they are not wanted.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs perl
# Most of the time goes into functions in C, called by the interpreter.
echo 'while ((times)[0] < 0.7) { my @a = sort { $a <=> $b } map { ($_ * 7919) % 10007 } 1 .. 2000 }' >program.pl
cat >program.py <<'END'
import time
while time.process_time() < 0.6:
    sorted(str(i) for i in range(2000))
END
echo 'let s = 0; while (process.cpuUsage().user < 7e5) s += [...Array(2000).keys()].map(String).sort().length' >program.js

# names LANGUAGE COMMAND...: what the recorder says of it.
lacks() {
	local what=$1

	shift
	run 0 kelvin record -o nameless.pb.gz -- "$@"
	says stderr "^([6-9][0-9]|100) % of the time passes through $what that have no names: "
}

lacks 'Perl subroutines' perl program.pl
python=$(command -v python3 >/dev/null && python3 -c 'import sys; print(sys.executable)') || python=
if [[ -n $python ]]; then
	run 0 kelvin record --native -o nameless.pb.gz -- "$python" program.py
	says stderr '^([6-9][0-9]|100) % of the time passes through Python functions that have no names: '
	if is_root; then
		run 0 kelvin record -o named.pb.gz -- "$python" program.py
		says_not stderr 'have no names: '
	fi
fi
command -v node >/dev/null || exit 0
run 0 kelvin record -o named.pb.gz -- node program.js
says_not stderr 'have no names'
