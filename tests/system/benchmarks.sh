#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# record --benchmarks is the runner that harnesses look for: each benchmark is told apart, whatever a harness does.
# shellcheck source-path=SCRIPTDIR source=own_tmp.sh
. "$(dirname "$0")/own_tmp.sh"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
client=$WORKLOADS/benchmark_client
parts=$WORKLOADS/benchmark_parts
fifos=(/tmp/runner.ctl.fifo /tmp/runner.ack.fifo)

leaves_nothing() {
	[[ ! -e ${fifos[0]} && ! -e ${fifos[1]} ]] || fail "a FIFO was left behind by $1"
}

# part URI COLUMN: of the table of parts.
part() {
	awk -v uri="$1" -v column="$2" '$1 == uri { print $column; exit }' table
}

table_of() {
	"$parts" "$1" >table 2>stderr.parts || fail "$(<stderr.parts)"
}

# Each benchmark has its own function and, but for interrupts, nothing else.
are_told_apart() {
	local name

	for name in hash rotate divide 'mix[1::2]'; do
		[[ $(part "suite.c::$name" 3) == "bench_${name%%[*}" ]] ||
			fail "$1: most of $name is in '$(part "suite.c::$name" 3)': $(<table)"
		at_least "$(part "suite.c::$name" 2)" 10 "$1: samples of $name"
		# One sample in a hundred at most is another benchmark's.
		awk -v share="$(part "suite.c::$name" 10)" 'BEGIN { exit !(share <= 1) }' || fail "$1: of others in $name: $(<table)"
	done
}

run 0 kelvin record --benchmarks -o suite.pb.gz -- "$client" suite
grep 'round trips' stderr
says stderr '^4 benchmarks of benchmark-client 1\.0: [0-9]+ rounds; answers took [0-9]+ µs \(median\)$'
leaves_nothing suite
table_of suite.pb.gz
[[ $(wc -l <table) -eq 5 ]] || fail "not an execution and four benchmarks: $(<table)"
are_told_apart suite
for uri in suite.c::hash suite.c::rotate suite.c::divide 'suite.c::mix[1::2]'; do
	[[ $(part "$uri" 5) == *__codspeed_root_frame__run || $(part "$uri" 4) != 100.0 ]] ||
		fail "$uri begins at $(part "$uri" 5)"
	at_least "$(part "$uri" 4 | cut -d. -f1)" 80 "$uri: percent in its function"
	at_least "$(part "$uri" 6)" 20 "rounds of $uri"
	at_least "$(part "$uri" 7)" 20 "iterations of $uri"
done
kelvin report suite.pb.gz --folded - >folded.txt
says folded.txt 'harness_work'
kelvin report suite.pb.gz --json >report.json
says report.json '"harness": ?"benchmark-client 1\.0"'
says report.json '"toolchain": ?"rustc 1\.88\.0"'

# Other readers of pprof tell the benchmarks apart by the label of their samples; the harness's own work has none.
if command -v go >/dev/null; then
	use_go_cache
	for name in hash rotate divide 'mix[1::2]'; do
		run 0 go tool pprof -sample_index=samples -tagfocus="benchmark=suite\\.c::${name%%[*}" -top suite.pb.gz
		says stdout "^Showing nodes accounting for $(part "suite.c::$name" 2),"
		says stdout " bench_${name%%[*}\$"
	done
	run 0 go tool pprof -sample_index=samples -tagignore=benchmark=. -top suite.pb.gz
	says stdout "^Showing nodes accounting for $(part - 2),"
	says stdout ' harness_work$'
fi

# Of rounds that grow the time of an iteration is the same.
run 0 kelvin record --benchmarks -o linear.pb.gz -- "$client" linear
table_of linear.pb.gz
are_told_apart linear
at_least "$(part suite.c::hash 7)" "$((2 * $(part suite.c::hash 6)))" "iterations of growing rounds"

# What was recorded until the harness was killed is kept, and the code of the command.
run 137 kelvin record --benchmarks -o killed.pb.gz -- "$client" killed
says stderr 'one was cut off before the harness said its name'
says stderr '^2 benchmarks of benchmark-client 1\.0'
leaves_nothing killed
table_of killed.pb.gz
[[ $(wc -l <table) -eq 3 && $(part suite.c::rotate 3) == bench_rotate ]] || fail "killed: $(<table)"
[[ $(part suite.c::hash 7) == 0 ]] || fail "iterations of a suite that left no results: $(<table)"

run 0 kelvin record --benchmarks -o unknown.pb.gz -- "$client" unknown
says stderr '3 commands of the harness are not known here'
says stderr 'speaks version 3 of the protocol; this kelvin knows up to 2'
table_of unknown.pb.gz
are_told_apart unknown

run 0 kelvin record --benchmarks -o open.pb.gz -- "$client" open
says stderr 'one never ended'
table_of open.pb.gz
[[ $(wc -l <table) -eq 4 && $(part suite.c::mix'[1::2]' 3) == bench_mix ]] || fail "open: $(<table)"

run 0 kelvin record --benchmarks -o same.pb.gz -- "$client" same
says stderr '^2 benchmarks of'
table_of same.pb.gz
[[ $(grep -c '^suite.c::hash .* bench_hash ' table) -eq 2 && $(grep -c '^suite.c::rotate .* bench_rotate ' table) -eq 2 ]] || fail "same: $(<table)"

run 0 kelvin record --benchmarks -o many.pb.gz -- "$client" many
says stderr '^10,000 benchmarks of benchmark-client 1\.0: 10,000 rounds'

# Every byte arrives as it was, also where the profile goes to standard output.
"$client" silent >/dev/null 2>&1 || fail "the client cannot do without a runner"
run 0 kelvin record --benchmarks -o binary.pb.gz -- "$client" binary
[[ $(wc -c <stdout) -eq 512000 ]] || fail "$(wc -c <stdout) bytes of output"
[[ $(head -c 256 stdout | od -An -tx1 | tr -d ' \n') == "$(printf '%02x' {0..255})" ]] || fail "bytes have changed"
kelvin record --benchmarks -q -o - -- "$client" suite 2>/dev/null >piped.pb.gz || fail "no profile on standard output"
table_of piped.pb.gz
are_told_apart piped
# Who takes no output any more ends the command as without us, and kelvin keeps the recording.
kelvin record --benchmarks -o gone.pb.gz -- sh -c "yes | head -c 4000000; '$client' suite" 2>stderr | head -c 10 >/dev/null
leaves_nothing "a reader that is gone"

# No benchmark: said, with what to do, and the profile is there.
run 0 kelvin record --benchmarks -o none.pb.gz -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
says stderr 'no benchmark was met: .*pytest-codspeed.*cargo codspeed'
[[ -s none.pb.gz ]] || fail "no profile without benchmarks"
run 0 kelvin record --benchmarks -q -o none.pb.gz -- sh -c "'$client' none; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done"
says stderr 'no benchmark was run: benchmark-client 1\.0 is switched on'

# Runs, one after the other.
run 0 kelvin record --benchmarks --runs 2 -o runs.pb.gz -- "$client" suite
table_of runs.pb.gz
[[ $(grep -c '^suite.c::hash ' table) -eq 2 && $(grep -c '^- ' table) -eq 2 ]] || fail "two runs: $(<table)"

# Where mounts are allowed, any number of suites are recorded at once, each with a runner of its own; else the second says who is first.
has_mounts=
! unshare -m true 2>/dev/null || has_mounts=1
if [[ -n $has_mounts ]]; then
	for name in first second; do
		"$KELVIN" record --benchmarks -o $name.pb.gz -- "$client" suite >$name.out 2>$name.err &
		eval "$name=$!"
	done
	for name in first second; do
		wait "${!name}" || fail "two at once: $(<$name.err)"
		says $name.err '^4 benchmarks of benchmark-client 1\.0: [0-9]+ rounds'
		table_of $name.pb.gz
		are_told_apart "$name of two"
	done
	leaves_nothing "two at once"
else
	start "$KELVIN" record --benchmarks -q -o first.pb.gz -- sleep 20
	wait_until "the first has its FIFOs" test -p "${fifos[0]}" -a -p "${fifos[1]}"
	run 125 kelvin record --benchmarks -o second.pb.gz -- true
	says stderr "another kelvin \(pid $pid\) is recording benchmarks"
	kill -TERM "$pid"
fi

# Signals: TERM is passed on, KILL leaves the files to a child of ours.
for signal in TERM KILL; do
	start "$KELVIN" record --benchmarks -q -o first.pb.gz -- sleep 20
	wait_until "it has its places" test -e "${fifos[0]}" -a -e "${fifos[1]}"
	kill -$signal "$pid"
	wait_until "nothing is left after SIG$signal" test ! -e "${fifos[0]}" -a ! -e "${fifos[1]}"
done

# What does not go with a suite.
refuses 'to its end; leave out -d' kelvin record --benchmarks -d 1 -- true
refuses 'leave out -D and --control' kelvin record --benchmarks -D 1 -- true
refuses 'only in a command' kelvin record --benchmarks -p $$

# taken KIND: the suite is recorded although another user has put something at the places.
taken() {
	run 0 kelvin record --benchmarks -q -o taken.pb.gz -- "$client" suite
	table_of taken.pb.gz
	[[ $(wc -l <table) -eq 5 ]] || fail "the places are taken by $1: $(<table)"
	leaves_nothing "$1"
}

stranger() {
	setpriv --reuid=12345 --regid=12345 --clear-groups "$@"
}

if [[ -n ${OWN_TMP:-} ]]; then
	# What a killed runner left behind is cleared away; so is what others put there, and nothing is written through it.
	mkfifo -m 0644 "${fifos[@]}"
	taken "stale FIFOs"
	stranger mkfifo -m 0666 "${fifos[@]}"
	taken "FIFOs of a stranger"
	echo precious >victim
	stranger ln -s "$work/victim" "${fifos[1]}"
	stranger touch "${fifos[0]}"
	taken "a link of a stranger"
	[[ $(<victim) == precious ]] || fail "the victim has changed"
	stranger mkdir "${fifos[0]}"
	stranger touch "${fifos[0]}/theirs"
	taken "a directory of a stranger"
	[[ -e $(echo "${fifos[0]}".moved-*/theirs) ]] || fail "a stranger's file is gone"
	rm -r "${fifos[0]}".moved-*

	# Root without the right to mount serves at the places themselves.
	stranger mkfifo -m 0666 "${fifos[@]}"
	run 0 setpriv --bounding-set -sys_admin "$KELVIN" record --benchmarks -q -o taken.pb.gz -- "$client" suite
	table_of taken.pb.gz
	[[ $(wc -l <table) -eq 5 ]] || fail "root without mounts: $(<table)"
	leaves_nothing "root without mounts"

	# A user without privileges can remove nothing of others: a namespace of the user's, or what is in the way, and whose it is.
	mkdir -m 777 of_a_user
	chmod 711 "$work"
	cp "$client" "$KELVIN" of_a_user
	mkfifo -m 0600 "${fifos[@]}"
	cd of_a_user || exit 2
	if stranger unshare -Um true 2>/dev/null; then
		stranger ./kelvin record --benchmarks -o user.pb.gz -- ./benchmark_client suite >stdout 2>stderr || fail "a user beside FIFOs of root"
		says stderr '^4 benchmarks of'
	fi
	code=0
	rm -f "${fifos[@]}"
	mkdir "${fifos[0]}"
	stranger ./kelvin record --benchmarks -o user.pb.gz -- true >stdout 2>stderr || code=$?
	[[ $code -eq 125 ]] || fail "exit code $code beside a directory of root"
	says stderr 'runner\.ctl\.fifo, which is a directory of user 0: remove it \(sudo rm -r /tmp/runner\.ctl\.fifo\)'
	rmdir "${fifos[0]}"
	cd ..
fi

# The real thing, where it is installed.
if python3 -c 'import pytest, pytest_codspeed' 2>/dev/null; then
	cat >test_suite.py <<'PYTHON'
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def words(n):
    return sorted(str(i * 7919 % 10007) for i in range(n))


def test_fib(benchmark):
    benchmark(fib, 12)


def test_words(benchmark):
    benchmark(words, 300)
PYTHON
	run 0 kelvin record --benchmarks -o pytest.pb.gz -- python3 -m pytest -q -p no:cacheprovider test_suite.py \
		--codspeed-warmup-time=0.05 --codspeed-max-time=0.5
	says stderr '^2 benchmarks of pytest-codspeed'
	table_of pytest.pb.gz
	grep -q '^[^ ]*test_suite.py::test_fib ' table || fail "pytest: $(<table)"
fi
