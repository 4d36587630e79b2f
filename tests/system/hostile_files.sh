#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who takes over the reader of a foreign file has nothing: it is nobody's process, without capabilities, files and calls; what it leaves
# is an error. Outputs are written by the rules of outputs, pagers, pipes and signals work as without it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

printf 'main;serve;parse 700\nmain;serve;hash 300\n' >a.folded
printf 'main;serve;parse 300\nmain;serve;hash 700\n' >b.folded
mkfifo slow

# reading COMMAND...: a command that waits for the rest of its input; its process is `pid`, that of its reader `reader`.
reading() {
	"$@" <"${input:-/dev/null}" >stdout 2>stderr &
	pid=$!
	started+=("$pid")
	exec 7>slow
	reader=
	printf %b "${first:-main;serve;parse 700\\n}" >&7
	wait_until "a reader is confined" confined
}

confined() {
	reader=$(cat "/proc/$pid/task/$pid/children")
	reader=${reader// /}
	[[ -n $reader ]] && grep -q '^Seccomp:.2' "/proc/$reader/status"
}

# ended EXPECTED: the command has ended with this exit code, and nothing lies about.
ended() {
	local code=0

	wait "$pid" || code=$?
	exec 7>&-
	[[ $code -eq $1 ]] || fail "exit code $code instead of $1"
	[[ ! -e page.html ]] || fail "a page was written"
	[[ -z $(find . -name '.kelvin-*') ]] || fail "left behind: $(find . -name '.kelvin-*')"
	wait_until "the reader has ended" is_over
}

# Nobody may have collected it.
is_over() {
	! grep -q '^State:.[^ZX]' "/proc/$reader/status"
}

value() {
	awk -v key="$1:" '$1 == key { print $2 }' "/proc/$reader/status"
}

is_sanitized() {
	nm -D "$KELVIN" 2>/dev/null | grep -q __asan_init
}

# has_no_rights: what the reader is.
has_no_rights() {
	[[ $(value NoNewPrivs) -eq 1 && $(value CapEff) =~ ^0+$ && $(value CapPrm) =~ ^0+$ ]] || fail "the reader has privileges"
	is_root || return 0
	[[ $(value Uid) -ge 65520 && -z $(awk '$1 == "Groups:" { print $2 }' "/proc/$reader/status") ]] || fail "the reader is user $(value Uid)"
	for fd in "/proc/$reader/fd"/*; do
		case $(readlink "$fd") in
		/dev/null | "$work/slow" | "$work/stdout" | "$work/stderr" | socket:*) ;;
		*) fail "the reader has $(readlink "$fd")" ;;
		esac
	done
}

is_sanitized && skip "a sanitizer takes more calls than a reader has"
# perf.data and FILE.part, by their first bytes, as a profile.
for command in report recover; do
	first='PERFILE2\020\0\0\0\0\0\0\0'
	[[ $command == report ]] || first='\0352\0270\004\012KELVINPART\0\0'
	reading "$KELVIN" "$command" slow -o page.html
	has_no_rights
	kill -KILL "$reader"
	ended 2
	says stderr "cannot read slow: the process that reads it was killed"
done
first=
reading "$KELVIN" report slow -o page.html
has_no_rights

# A crash, and a process that is killed.
kill -SEGV "$reader"
ended 2
says stderr "cannot read slow: the process that reads it crashed .Segmentation fault., and nothing was written"
reading "$KELVIN" diff a.folded slow -o page.html
kill -KILL "$reader"
ended 2
says stderr "cannot read a.folded and slow: the process that reads it was killed"
input=slow reading "$KELVIN" symbolize -e "$KELVIN"
kill -SEGV "$reader"
ended 2
says stderr "cannot read $KELVIN: the process that reads it crashed"

# Signals of the user end both.
for signal in INT TERM HUP; do
	reading env --default-signal=INT "$KELVIN" report slow -o page.html
	kill -"$signal" "$pid"
	ended $((128 + $(kill -l "$signal")))
done

# Who is killed takes the reader along.
reading "$KELVIN" report slow -o page.html
kill -KILL "$pid"
ended 137

# One of the reader alone, as of a terminal that reaches it first.
reading env --default-signal=INT "$KELVIN" report slow -o page.html
kill -INT "$reader"
ended 130

# A reader of the text that ends early is no crash.
seq 200000 | sed 's/.*/main;f& 1/' >many.folded
"$KELVIN" report --folded - many.folded 2>stderr | head -n 1 >stdout
[[ ${PIPESTATUS[0]} -eq 141 && ! -s stderr ]] || fail "a closed pipe is told of: ${PIPESTATUS[*]}"

# Standard input is the command's, unless it is read.
printf 'one\ntwo\n' | { "$KELVIN" report a.folded >/dev/null && cat >rest; }
[[ $(wc -l <rest) -eq 2 ]] || fail "standard input was read"
run 0 kelvin report - <a.folded
says stdout "1,000 samples|1 000 samples"
