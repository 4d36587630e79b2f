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
	double together = 0.6;
	pthread_t threads[64];
	int count = argc > 1 ? atoi(argv[1]) : 1;
	serial(0.4);
	for (int i = 0; i < count; i++) pthread_create(&threads[i], 0, work, &together);
	parallel(together);
	for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
	pause_a_while(0.3);
	if (fork() == 0) { serial(0.2); _exit(0); }
	wait(0);
	return 0;
}
C
cc -O1 -g -pthread -o phases phases.c || fail "cannot build the program"

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

run 0 kelvin record --elapsed -o one.pb.gz -- ./phases 1
adds_up one.pb.gz
for phase in serial:40 parallel:40 pause_a_while:20; do
	got=$(share_of one.pb.gz "${phase%:*}")
	[[ $((got - ${phase#*:})) -ge -2 && $((got - ${phase#*:})) -le 2 ]] || fail "$phase has $got % of the elapsed time"
done

# Many threads, which take a third as long again to begin and end: their phase has its time once.
run 0 kelvin record --elapsed -o many.pb.gz -- ./phases 32
adds_up many.pb.gz
at_least "$(share_of many.pb.gz parallel)" 35 "share of 33 threads"
at_most "$(share_of many.pb.gz parallel)" 48 "share of 33 threads"

# It is what is shown and compared of such recordings; the other metrics are there.
run_any kelvin diff one.pb.gz many.pb.gz --text
says stdout 'elapsed time'
run 0 kelvin report one.pb.gz --metric cpu --text
says stdout 'CPU time'

is_root || skip "root is needed for all processes"
refuses '--elapsed says who held up a command or processes, and -a has all of them' kelvin record -a --elapsed -d 0.2 -o all.pb.gz
