#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Elapsed time adds up to the clock, and phases of known length have their shares, whoever else is on the machine.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
needs cc
cat >phases.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec / 1e9; }
static void spin(double s) { double end = now() + s; volatile unsigned x = 0; while (now() < end) for (int i = 0; i < 1000; i++) x += (unsigned)i; }
__attribute__((noinline)) void serial(double s) { spin(s); __asm__ volatile(""); }
__attribute__((noinline)) void parallel(double s) { spin(s); __asm__ volatile(""); }
__attribute__((noinline)) void pause_a_while(double s) { usleep((unsigned)(s * 1e6)); __asm__ volatile(""); }
static void *work(void *p) { parallel(*(double *)p); return p; }
int main(int argc, char **argv)
{
	double together = 0.6, begin = now(), start, alone, joined, paused, end;
	pthread_t threads[64];
	int count = argc > 1 ? atoi(argv[1]) : 1;
	serial(0.4);
	start = now();
	for (int i = 0; i < count; i++) pthread_create(&threads[i], 0, work, &together);
	parallel(together);
	for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
	joined = now();
	pause_a_while(0.3);
	paused = now();
	if (fork() == 0) { serial(0.2); _exit(0); }
	wait(0);
	end = now();
	alone = start - begin + end - paused;
	printf("serial %.0f\nparallel %.0f\npause_a_while %.0f\n", 100 * alone / (end - begin),
		100 * (joined - start) / (end - begin), 100 * (paused - joined) / (end - begin));
	return 0;
}
C
cc -O1 -g -pthread -o phases_of phases.c || fail "cannot build the program"

# share_of FILE FUNCTION: percent of the elapsed time, with all that it calls.
share_of() {
	"$KELVIN" report "$1" --metric elapsed --json - 2>/dev/null |
		jq -r --arg name "$2" '100 * ([.functions[] | select(.name == $name) | .total_ns] | add // 0) / .totals.ns | round'
}

# adds_up FILE: the values are the time that passed, to half a percent.
adds_up() {
	local ratio

	ratio=$("$KELVIN" report "$1" --metric elapsed --json - 2>/dev/null |
		jq '1000 * (.totals.ns + (.interrupts.total_ns // .interrupts.self_ns // 0)) / .recording.duration_ns | round')
	[[ $ratio -ge 995 && $ratio -le 1005 ]] || fail "$1: the elapsed time is $ratio thousandths of what passed"
}

# agrees FILE LEAST MOST: each phase has the share that the program's own clock gave it, in percent of all, between
# these differences.
agrees() {
	local phase percent got

	while read -r phase percent; do
		got=$(share_of "$1" "$phase")
		[[ $((got - percent)) -ge $2 && $((got - percent)) -le $3 ]] ||
			fail "$1: $phase has $got % of the elapsed time, and took $percent %"
	done <phases
}

run 0 kelvin record --elapsed -o one.pb.gz -- sh -c './phases_of 1 >phases'
adds_up one.pb.gz
agrees one.pb.gz -2 2

# Many threads: their phase has its time once, and so it is on a busy machine, where threads are held up as they end.
# hogs: four busy loops, until `hogs` are killed.
hogs() {
	hogs=()
	for _ in 1 2 3 4; do
		timeout 60 sh -c 'while :; do :; done' &
		hogs+=($!)
	done
}

hogs
for _ in 1 2 3; do
	run 0 kelvin record --elapsed -o many.pb.gz -- sh -c './phases_of 32 >phases'
	adds_up many.pb.gz
	agrees many.pb.gz -5 5
done
kill "${hogs[@]}"

# It is what is shown and compared of such recordings; the other metrics are there.
run_any kelvin diff one.pb.gz many.pb.gz --text
says stdout 'elapsed time'
run 0 kelvin report one.pb.gz --metric cpu --text
says stdout 'CPU time'

# bench compares what is waited for: the clock where that is not CPU time, unless a busy machine is why.
cat >fetch.c <<'C'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void work(long n) { volatile unsigned x = 0; for (long i = 0; i < n; i++) x += (unsigned)i; }
__attribute__((noinline)) void fetch(unsigned ms) { usleep(ms * 1000); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 10; i++) { work(argc > 1 ? 4000000 : 40000000); if (argc > 1) fetch((unsigned)atoi(argv[1])); }
	return 0;
}
C
cc -O1 -g -o fetch fetch.c || fail "cannot build the program"
run_any kelvin bench './fetch 5' './fetch 15' --runs 4 --json waits.json --text
says stderr 'so that elapsed time is recorded and compared'
says stdout '(more|times as much) elapsed time per run'
says stdout '; CPU time '
jq -e '.metric.name == "elapsed" and .evidence.runs_base == 4 and .recordings.base.elapsed_ns > 0
	and .elapsed.by_waiting_ns > 0.8 * .totals.delta_ns' waits.json >/dev/null || fail "$(jq -c '[.metric, .elapsed]' waits.json)"
[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d waits.json -f "$ROOT/tests/system/schema.jq") ]] ||
	fail "waits.json is not what its schema says"
run_any kelvin bench './fetch 5' './fetch 15' --metric cpu --runs 2 --json cpu.json
says_not stderr 'elapsed'
jq -e '.metric.name == "cpu"' cpu.json >/dev/null || fail "--metric cpu compares $(jq .metric.name cpu.json)"
# Without an argument it only works, for long enough that it has to share the CPUs.
hogs
run_any kelvin bench ./fetch ./fetch --runs 2 --json busy.json
kill "${hogs[@]}"
jq -e '.metric.name == "cpu" and .evidence.runs_base == 2' busy.json >/dev/null || fail "a busy machine: $(jq -c .metric.name busy.json)"

is_root || skip "root is needed for all processes"
refuses '--elapsed says who held up a command or processes, and -a has all of them' kelvin record -a --elapsed -d 0.2 -o all.pb.gz
