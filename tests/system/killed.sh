#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each process of a suite's recording is killed at any moment, fifty times: what it leaves behind, the next run clears away.
# shellcheck source-path=SCRIPTDIR source=own_tmp.sh
. "$(dirname "$0")/own_tmp.sh"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

[[ -n ${OWN_TMP:-} ]] || skip "a /tmp of its own is needed"
mount -t tmpfs -o mode=755 none /run || skip "a /run of its own is needed"
needs setsid
RANDOM=${KILLED_SEED:-$$}
seed=$RANDOM
RANDOM=$seed
client=$WORKLOADS/benchmark_client

# The processes of a session: all that a recording has started, except for what has left it on purpose.
of_session() {
	pgrep -s "$1"
}

is_over() {
	[[ -z $(of_session "$1") ]]
}

left() {
	find /run/kelvin /tmp/kelvin-* -name 'kelvin-????????????????' 2>/dev/null
	ls /tmp/runner.* 2>/dev/null
}

nothing_left() {
	[[ -z $(left) ]]
}

# killed_at MOMENTS: kills one process, or all of them, after that many hundredths of a second.
killed_at() {
	local processes chosen session

	setsid "$KELVIN" record --benchmarks -q -o killed.pb.gz -- sleep 0.2 >/dev/null 2>&1 &
	session=$!
	sleep "0.0$1"
	mapfile -t processes < <(of_session "$session")
	if [[ ${#processes[@]} -gt 0 ]]; then
		chosen=("${processes[RANDOM % ${#processes[@]}]}")
		[[ $((RANDOM % 3)) -ne 0 ]] || chosen=("${processes[@]}")
		kill -KILL "${chosen[@]}" 2>/dev/null
	fi
	wait "$session" 2>/dev/null
	sessions+=("$session")
}

sessions=()
for ((round = 0; round < 50; round++)); do
	killed_at $((RANDOM % 10))
done
for session in "${sessions[@]}"; do
	wait_until "nobody of a recording lives on (seed $seed)" is_over "$session"
done
run 0 kelvin record --benchmarks -q -o next.pb.gz -- "$client" suite
[[ -z $(left) ]] || fail "left behind after the next run (seed $seed): $(left)"

# The same of a simulation.
if [[ -x $(dirname "$KELVIN")/../sampler/simulate/tool/launcher ]]; then
	for ((round = 0; round < 5; round++)); do
		setsid "$KELVIN" simulate -q -o killed.pb.gz -- sleep 1 >/dev/null 2>&1 &
		session=$!
		sleep "0.$((RANDOM % 3))"
		mapfile -t processes < <(of_session "$session")
		kill -KILL "${processes[@]}" 2>/dev/null
		wait "$session" 2>/dev/null
		wait_until "nobody of a simulation lives on (seed $seed)" is_over "$session"
	done
	run 0 kelvin simulate -q -o next.pb.gz -- true
	# Who clears up behind a killed simulation has left its session, and may be about it still.
	wait_until "nothing is left behind after the next simulation (seed $seed): $(left)" nothing_left
fi
