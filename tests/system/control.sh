#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --control speaks perf's protocol, as harnesses do: a command, then its answer `ack\n\0` is waited for.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --parse 3
workload=$pid
mkfifo ctl ack
exec 7<>ack

# tell COMMAND: and its answer, within a minute.
tell() {
	local answer

	printf '%s\n' "$1" >ctl
	answer=$(timeout 60 head -c 5 <&7 | od -An -tx1 | tr -d ' \n')
	[[ $answer == 61636b0a00 ]] || fail "answer to $1: '$answer'"
}

# Disabled from the start: only what lies between enable and disable is sampled.
"$KELVIN" record -p "$workload" -D -1 --control fifo:ctl,ack -F 500 -o a.pb.gz 2>stderr &
recorder=$!
started+=("$recorder")
tell ping
sleep 0.6
before=$(ticks "$workload")
tell enable
has_run() {
	[[ $(($(ticks "$workload") - before)) -ge 30 ]]
}
wait_until "the workload has had 0.3 s of CPU time" has_run
tell disable
used=$(($(ticks "$workload") - before))
sleep 0.6
tell evlist
tell 'enable cpu-clock'
tell disable
tell stop
wait "$recorder" || fail "exit code $? after stop"
says stderr '^(cycles|cpu-clock)'
at_least "$(samples_said)" $((used * 5 / 2)) "samples at 500 Hz of $used hundredths of a second of CPU time"
at_most "$(samples_said)" $((used * 6 + 50)) "samples at 500 Hz of $used hundredths of a second of CPU time"
at_least "$(share a.pb.gz ';main;serve;parse_input')" 50 "share of parse_input"

# Enabled from the start, and told by somebody who ends lines with a NUL, as perf bench does not.
"$KELVIN" record -p "$workload" --control fifo:ctl,ack -o b.pb.gz 2>stderr &
recorder=$!
started+=("$recorder")
printf 'ping\0' >ctl
[[ $(timeout 60 head -c 4 <&7) == ack ]] || fail "no answer to a command that a NUL ends"
head -c 1 <&7 >/dev/null
tell unheard-of
tell stop
wait "$recorder" || true
says stderr "unknown command 'unheard-of'; use enable"

# Descriptors that are open already; a writer that goes away ends nothing and costs nothing.
{ printf 'ping\n'; sleep 0.3; } | kelvin record -p "$workload" -d 1 --control fd:0,9 -o c.pb.gz 9>answers 2>stderr ||
	fail "exit code $? with descriptors"
[[ $(od -An -tx1 answers | tr -d ' \n') == 61636b0a00 ]] || fail "answers: $(od -c answers)"
used=$(sed -n 's/^recorder: \([0-9]*\)\..*/\1/p' stderr)
at_most "$used" 50 "percent of a CPU while the other side is gone"

# Answers that nobody reads cost nothing: each would have to wait for a pipe that is full.
mkfifo unread
exec 8<>unread
head -c 65536 /dev/zero >&8
"$KELVIN" record -p "$workload" -d 1 --control fifo:ctl,unread -o unread.pb.gz 2>stderr &
recorder=$!
started+=("$recorder")
printf 'ping\n%.0s' {1..30} >ctl
wait "$recorder" || fail "exit code $? where nobody reads the answers"
at_most "$(sed -n 's/.* in \([0-9]*\)\.[0-9] s, .*/\1/p' stderr)" 15 "seconds of a recording of one second with 30 unread answers"
exec 8>&-

# A command that starts disabled, and works from when it is sampled.
"$KELVIN" record -D -1 --control fifo:ctl,ack -o d.pb.gz -- sh -c "until [ -e enabled ]; do sleep 0.05; done
	exec '$WORKLOADS/system_workload' --parse 3 --cpu 1" 2>stderr >/dev/null &
recorder=$!
started+=("$recorder")
tell enable
touch enabled
wait "$recorder" || fail "exit code $? of a command"
at_least "$(samples_said)" 50 "samples of a command"

refuses '-D -1: sampling would never start' kelvin record -p "$workload" -D -1
refuses '--control: cannot open nowhere .*: No such file' kelvin record -p "$workload" --control fifo:nowhere
refuses 'write fifo:CTL\[,ACK\] or fd:N\[,M\]' kelvin record -p "$workload" --control ctl
refuses 'a name is empty' kelvin record -p "$workload" --control fifo:ctl,
refuses 'this file descriptor is not open' kelvin record -p "$workload" --control fd:77
printf 'stop\n' >file
refuses 'file is not a named pipe' kelvin record -p "$workload" --control fifo:file
refuses "sampling was never switched on \(-D -1\), because no 'enable' came from --control" kelvin record -p "$workload" -D -1 --control fifo:ctl -d 0.3
# Who is interrupted has begun: it answers.
{ tell ping && kill -INT "$(<begun)"; } &
# shellcheck disable=SC2016
refuses 'the recording ended before sampling began \(-D 60000\)' sh -c \
	'echo $$ >begun; exec "$0" record -p "$1" -D 60000 --control fifo:ctl,ack' "$KELVIN" "$workload"
