#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# SIGINT, SIGTERM and SIGHUP end a recording with its file; a command gets what only we have seen.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload"
target=$pid
for signal in INT TERM HUP; do
	rm -f a.pb.gz
	# A shell without job control starts background programs with SIGINT ignored.
	env --default-signal=INT "$KELVIN" record -p "$target" -d 60 -o a.pb.gz >stdout 2>stderr &
	recorder=$!
	started+=("$recorder")
	wait_until "the recording begins" is_recording a.pb.gz
	sleep 0.3
	kill -"$signal" "$recorder"
	code=0
	wait "$recorder" || code=$?
	[[ $code -eq 0 ]] || fail "exit code $code after SIG$signal"
	says stderr ' samples in [0-9.]+ s, 0 lost'
	at_least "$(share a.pb.gz serve)" 90 "share of the workload after SIG$signal"
	kill -0 "$target" || fail "the target did not survive SIG$signal"
done

"$KELVIN" record -o b.pb.gz -- "$WORKLOADS/system_workload" --seconds 60 >stdout 2>stderr &
recorder=$!
started+=("$recorder")
wait_until "the recording begins" is_recording b.pb.gz
sleep 0.3
kill -TERM "$recorder"
code=0
wait "$recorder" || code=$?
[[ $code -eq 143 ]] || fail "exit code $code instead of the command's 143"
at_least "$(share b.pb.gz serve)" 90 "share of the command"

# Nobody reads the messages any more, as when Ctrl-C has ended `tee` as well.
"$KELVIN" record -o e.pb.gz -- sh -c "'$WORKLOADS/system_workload' --cpu 0.2; grep SigIgn /proc/self/status >e.ignored" 2>&1 | true
code=${PIPESTATUS[0]}
[[ $code -eq 0 ]] || fail "exit code $code when nobody reads the messages"
[[ -s e.pb.gz && ! -e e.pb.gz.part ]] || fail "lost the recording with its messages: $(ls)"
[[ $(<e.ignored) == $(sh -c 'grep SigIgn /proc/self/status') ]] || fail "the command ignores other signals than its parent"

# timeout(1) sends its signal twice at once, to the recorder and to its process group; one that comes later kills.
needs timeout
for _ in 1 2 3 4 5; do
	rm -f c.pb.gz
	timeout 60 "$KELVIN" record -p "$target" -o c.pb.gz >stdout 2>stderr &
	wait_until "the recording begins" is_recording c.pb.gz
	sleep 0.3
	# What its own clock sends it.
	kill -ALRM $!
	code=0
	wait $! || code=$?
	[[ $code -eq 124 ]] || fail "exit code $code under timeout"
	[[ -s c.pb.gz && ! -e c.pb.gz.part ]] || fail "timeout lost the recording: $(ls)"
done
"$KELVIN" record -o d.pb.gz -- bash -c "trap '' TERM; touch trapped; sleep 60" >stdout 2>stderr &
recorder=$!
started+=("$recorder")
wait_until "the command runs" test -e trapped
kill -TERM "$recorder"
sleep 0.5
kill -0 "$recorder" || fail "a command that goes on was not waited for"
command=$(pgrep -P "$recorder")
started+=("$command" "$(pgrep -P "$command")")
kill -TERM "$recorder"
code=0
wait "$recorder" || code=$?
[[ $code -eq 143 ]] || fail "exit code $code after a second signal"
