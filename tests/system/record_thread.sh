#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One thread by its tid: the others are left out.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --threads 3
has_threads() {
	[[ $(grep ^Threads: "/proc/$pid/status") == *$'\t4' ]]
}
wait_until "the workload has threads" has_threads
tids=(/proc/"$pid"/task/*)
tid=${tids[-1]##*/}
[[ $tid != "$pid" ]] || fail "the workload has no threads"
run 0 kelvin record -t "$tid" -d 1 -o a.pb.gz
at_least "$(share a.pb.gz 'serve;')" 95 "share of the worker's code"
at_most "$(samples_said)" 1300 "samples of one thread in one second at 997 Hz"
stop "$pid"
# What the thread starts is not that thread.
needs cc
cat >parent.c <<'C'
#include <pthread.h>
static volatile unsigned sink;
__attribute__((noinline)) static void *child(void *end) { for (int i = 0; i < 2000000; i++) sink += (unsigned)i; return end; }
__attribute__((noinline)) static void own(void) { for (int i = 0; i < 2000000; i++) sink += (unsigned)i; }
int main(void)
{
	for (;;) {
		pthread_t thread;

		pthread_create(&thread, NULL, child, NULL);
		own();
		pthread_join(thread, NULL);
	}
}
C
cc -O1 -g -o parent parent.c -lpthread || fail "parent.c does not compile"
start ./parent
record_enough 30 -t "$pid" -o c.pb.gz
at_least "$(share c.pb.gz ';main;own')" 50 "share of the code of the thread itself"
at_most "$(share c.pb.gz ';child')" 0 "share of the threads that it starts"
refuses 'thread|tid|process' kelvin record -t 4194303 -o b.pb.gz
