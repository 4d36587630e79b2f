#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An unchanged program beside others that want its CPU, on either side: its wall-clock time and its waiting are neither regressed nor improved,
# and how much longer it waited for a CPU is told beside them.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
needs taskset
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
needs gcc
cat >steady.c <<'END'
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;

__attribute__((noinline)) static void compute(long count)
{
	while (count-- > 0)
		sink++;
}

/* As much work whatever else there is, half of it under a lock that is held asleep, too. */
__attribute__((noinline)) static void *work(void *unused)
{
	struct timespec brief = { 0, 1000000 };

	for (int i = 0; i < 120; i++) {
		pthread_mutex_lock(&mutex);
		compute(300000);
		nanosleep(&brief, 0);
		pthread_mutex_unlock(&mutex);
		compute(300000);
	}
	return unused;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, 0, work, 0);
	work(0);
	return pthread_join(other, 0);
}
END
gcc -O1 -fno-omit-frame-pointer -g steady.c -o steady -lpthread || fail "steady.c does not compile"

# record NAME: the program, all of it on one CPU.
record() {
	run 0 kelvin record --off-cpu -o "$1.pb.gz" -- taskset -c "$cpu" ./steady
}

record quiet
! grep -q '^waits are not sampled: ' stderr || skip "$(grep '^waits are not sampled: ' stderr)"
busy=()
# Four programs that compute, for ten seconds at most.
for _ in 1 2 3 4; do
	start taskset -c "$cpu" timeout 10 sh -c 'while :; do :; done'
	busy+=("$pid")
done
record noisy
kill -KILL "${busy[@]}"

for metric in wall off-cpu; do
	for sides in 'quiet noisy' 'noisy quiet'; do
		read -r base head <<<"$sides"
		kelvin diff "$base.pb.gz" "$head.pb.gz" --metric "$metric" --json diff.json >stdout 2>stderr
		verdict=$(jq -r .verdict diff.json)
		[[ $verdict != regressed && $verdict != improved ]] || fail "$metric, $base against $head: $(jq -r .verdict_text diff.json)"
		# Origins add up to the total without the time that was waited for a CPU.
		[[ $(jq '[.origins[].delta_ns] | add - 1e6 <= $t and add + 1e6 >= $t' --argjson t "$(jq .totals.delta_ns diff.json)" diff.json) == true ]] ||
			fail "the origins do not add up: $(jq -c '[.totals, .origins, .run_queue]' diff.json)"
	done
done
# The threads had half of the CPU each, and a sixth of it then.
[[ $(jq '.run_queue.base_ns > .run_queue.head_ns * 1.3' diff.json) == true ]] || fail "waiting for a CPU: $(jq -c .run_queue diff.json)"
run 0 kelvin diff quiet.pb.gz noisy.pb.gz --inconclusive pass --text
says stdout '^  waiting for a CPU +[0-9.]+ m?s '
says stdout 'verdict on the program'
