# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# The harness of the system tests: real processes, real files. A test is a bash script that sources this file; ctest gives it
# KELVIN (the program), WORKLOADS (the folder with the programs of a known shape) and ROOT (the source tree).
# It runs in a directory of its own, which is removed at its end, whatever the end is, and so is every process that it has brought about.
set -uo pipefail

work=$(mktemp -d)
cd "$work" || exit 2
started=()
level_file=/proc/sys/kernel/perf_event_paranoid
level_before=
unset NO_COLOR
# Tests look for phrases within lines: those of a narrow output end where there is no more room (text_width.sh).
export COLUMNS=1000
export XDG_CACHE_HOME=$work/.cache
# All that the test starts inherits it, whatever group, session and parent it has later.
export KELVIN_TEST=$work

# What still runs of the test: by the variable, and by the directory, where a program has dropped its environment.
leftovers() {
	{
		grep -lszFx "KELVIN_TEST=$work" /proc/[0-9]*/environ
		find /proc/[0-9]*/cwd -maxdepth 0 -lname "$work*"
	} 2>/dev/null | cut -d / -f 3 | grep -vx "$$"
}

end_leftovers() {
	local try pids

	# Again, as one may just have started another; those that looked are among them.
	for ((try = 0; try < 20; try++)); do
		mapfile -t pids < <(leftovers)
		[[ ${#pids[@]} -gt 0 ]] && kill -KILL "${pids[@]}" 2>/dev/null || return 0
	done
}

finish() {
	local code=$? pid

	cd /
	for pid in "${started[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	end_leftovers
	umount "$work/small" 2>/dev/null
	# Its processes need a moment to end.
	[[ ! -d ${group:-} ]] || { sleep 0.2 && rmdir "$group"; }
	[[ -z $level_before ]] || echo "$level_before" >"$level_file"
	rm -rf "$work"
	exit "$code"
}
trap finish EXIT

fail() {
	printf 'FAILED: %s\n' "$*"
	[[ ! -s stdout ]] || { printf 'stdout:\n'; head -n 40 stdout; }
	[[ ! -s stderr ]] || { printf 'stderr:\n'; head -n 40 stderr; }
	exit 1
}

skip() {
	printf 'SKIPPED: %s\n' "$*"
	exit 77
}

# From Go 1.25 on pprof is built when it is first asked for, which takes a minute of CPU time: once, where go keeps such things, by the
# test system.go_pprof.
use_go_cache() {
	GOCACHE=$(env -u XDG_CACHE_HOME go env GOCACHE)
	export GOCACHE
}

# wait_until WHAT COMMAND...: asks again every 20 ms until the command succeeds; the test fails when a minute was not enough.
wait_until() {
	local what=$1 end=$((SECONDS + 60))

	shift
	until "$@" 2>/dev/null; do
		[[ $SECONDS -lt $end ]] || fail "not within a minute: $what"
		sleep 0.02
	done
}

# executes PID PROGRAM: the process has executed the file, or a copy of it.
executes() {
	[[ /proc/$1/exe -ef $2 ]] || cmp -s "/proc/$1/exe" "$2"
}

# start COMMAND...: in the background, in a process group of its own, which is killed at the end; its pid is in `pid`.
start() {
	set -m
	"$@" >/dev/null 2>&1 &
	pid=$!
	set +m
	started+=("$pid")
	# Until it has been executed it is this shell.
	for ((tries = 0; tries < 200; tries++)); do
		[[ /proc/$pid/exe -ef /proc/$$/exe ]] || return 0
		sleep 0.02
	done
}

# stop PID: ends what `start` began, with what it has started: nothing later shares the CPUs with it.
stop() {
	kill -KILL -- "-$1" 2>/dev/null || kill -KILL "$1"
	wait "$1" 2>/dev/null
	return 0
}

# record_enough COUNT OPTIONS...: records for half a second; for longer while a busy machine gives the target no time for COUNT samples.
record_enough() {
	local count=$1 seconds

	shift
	for seconds in 0.5 2 8 16; do
		run 0 kelvin record -d "$seconds" "$@"
		[[ $(samples_said) -lt $count ]] || return 0
	done
}

# once_recording FILE COMMAND: a line for `sh -c` that runs the command as soon as FILE is being recorded.
once_recording() {
	echo "until [ -e '$1.part' ]; do sleep 0.05; done; $2"
}

# is_recording FILE: a recorder has begun to write FILE.
is_recording() {
	[[ -e $1.part ]]
}

# ticks PID: CPU time that a process has used so far, in hundredths of a second.
ticks() {
	local line

	line=$(<"/proc/$1/stat")
	# shellcheck disable=SC2086
	set -- ${line##*) }
	echo $((${12} + ${13}))
}

# run CODE COMMAND...: expects the exit code; output is in the files stdout and stderr.
run() {
	local expected=$1 code=0

	shift
	"$@" >stdout 2>stderr || code=$?
	[[ $code -eq $expected ]] || fail "exit code $code instead of $expected: $*"
}

# As `run`, whatever a comparison found.
run_any() {
	local code=0

	"$@" >stdout 2>stderr || code=$?
	[[ $code -ne 2 ]] || fail "failed: $*"
}

kelvin() {
	"$KELVIN" "$@"
}

# says FILE PATTERN: a line that matches the extended regular expression.
says() {
	grep -qE -- "$2" "$1" || fail "'$2' not found in $1"
}

says_not() {
	! grep -qE -- "$2" "$1" || fail "'$2' found in $1"
}

# A refusal: exit code 2, one line on stderr that matches, nothing on stdout.
refuses() {
	local pattern=$1

	shift
	run 2 "$@"
	[[ $(wc -l <stderr) -eq 1 ]] || fail "not one line: $*"
	says stderr "^kelvin.*: .*$pattern"
	[[ ! -s stdout ]] || fail "output on stdout: $*"
}

# folded FILE: the name of the file with its folded stacks, which are made anew only when FILE is newer than they are.
folded() {
	local made=$work/.folded/${1//\//_}

	if [[ ! $made -nt $1 ]]; then
		mkdir -p "$work/.folded"
		kelvin report "$1" --folded - >"$made.new" || return
		mv "$made.new" "$made"
	fi
	echo "$made"
}

# share FILE PATTERN: percent of the samples whose folded stack matches; -1 when the file cannot be read.
share() {
	local stacks

	stacks=$(folded "$1") || {
		echo -1
		return
	}
	pattern=$2 awk '
		{ sum += $NF; if ($0 ~ ENVIRON["pattern"]) part += $NF }
		END { printf "%d\n", sum ? 100 * part / sum + 0.5 : 0 }' "$stacks"
}

# samples_in FILE PATTERN: how many samples have a folded stack that matches; -1 when the file cannot be read. Not every awk leaves the
# backslashes of a variable that -v sets.
samples_in() {
	local stacks

	stacks=$(folded "$1") || {
		echo -1
		return
	}
	pattern=$2 awk '$0 ~ ENVIRON["pattern"] { sum += $NF } END { print sum + 0 }' "$stacks"
}

# at_least / at_most VALUE LIMIT WHAT
at_least() {
	[[ $1 -ge $2 ]] || fail "$3: $1, expected at least $2"
}

at_most() {
	[[ $1 -ge 0 && $1 -le $2 ]] || fail "$3: $1, expected at most $2"
}

# The counts of the first line of the summary, as numbers.
samples_said() {
	sed -n 's/^\([0-9,]*\) samples\{0,1\} in .*/\1/p' stderr | tr -d ','
}

can_sample() {
	kelvin doctor >/dev/null || skip "this machine does not allow sampling: $(kelvin doctor | grep -m 1 '^no')"
}

# in_mount_namespace SCRIPT COMMAND...: what the script mounts, the command alone sees.
in_mount_namespace() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'eval "$1" || exit 99; shift; exec "$@"' sh "$@"
}

# users_may_sample LOWEST: sets kernel.perf_event_paranoid to 2, as the kernel has it by itself, until the test ends, where it is not from
# LOWEST to 2; root alone can. The level is in `level`.
users_may_sample() {
	level=$(<"$level_file")
	[[ $level -lt $1 || $level -gt 2 ]] || return 0
	{ echo 2 >"$level_file"; } 2>/dev/null || skip "perf_event_paranoid is $level, and cannot be set here"
	level_before=$level
	level=2
}

needs() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

is_root() {
	[[ $(id -u) -eq 0 ]]
}
