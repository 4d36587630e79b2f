#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Processes that live for a moment are sampled from their first instruction on, also those that live for less than a period.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed for events of whole CPUs"
needs gcc
cat >brief.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static long ms_of(struct timeval time)
{
	return time.tv_sec * 1000 + time.tv_usec / 1000;
}

static long cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Works until the process has used so much CPU time; returns how much of it passed here. */
__attribute__((noinline)) static long work(long ms)
{
	long began_ns = cpu_ns(), now_ns = began_ns;

	while (now_ns < ms * 1000000)
		now_ns = cpu_ns();
	return now_ns - began_ns;
}

/* How many threads, how long a child works, how long all do; prints what the children used, and how much of it in work(). */
int main(int argc, char **argv)
{
	long threads = atol(argv[1]), ms = atol(argv[2]), all_ms = atol(argv[3]);
	long *worked_ns = mmap(NULL, sizeof(*worked_ns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rusage used;

	if (worked_ns == MAP_FAILED)
		return 1;
	for (long i = 0; i < threads; i++) {
		pthread_t thread;
		pthread_attr_t small;

		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		pthread_create(&thread, &small, wait_for_ever, NULL);
	}
	puts("ready");
	fflush(stdout);
	/* What has many threads is attached to. */
	while (threads > 0 && access("b.pb.gz.part", F_OK) != 0)
		usleep(10000);
	for (long i = 0; i < all_ms / ms; i++) {
		if (fork() == 0) {
			*worked_ns += work(ms);
			_exit(0);
		}
		wait(NULL);
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%ld %ld\n", ms_of(used.ru_utime) + ms_of(used.ru_stime), *worked_ns / 1000000);
	return argc == 0;
}
END
gcc -O1 -g brief.c -o brief -lpthread || fail "brief.c does not compile"

# brief_children COMMAND...: a period is 1 ms, so there is a sample for each millisecond that passed in the children's work. What starting
# and ending them takes does not count there: it is more on a busy machine.
brief_children() {
	run 0 "$@" "$KELVIN" record -F 1000 -o a.pb.gz -- ./brief 0 1 1000
	read -r used worked < <(tail -n 1 stdout)
	at_least $((100 * $(samples_said) / used)) 75 "percent of what the children used"
	at_least $((100 * $(samples_in a.pb.gz ';main;work[; ]') / worked)) 75 "percent of the children's work"
}

# The kernel says how its structures look: nothing has to be mounted.
[[ ! -r /sys/kernel/btf/vmlinux ]] ||
	brief_children in_mount_namespace 'umount -l /sys/kernel/tracing /sys/kernel/debug/tracing 2>/dev/null; :'
# Older kernels do not; what tracefs describes does as well.
brief_children in_mount_namespace \
	'mount -t tmpfs none /sys/kernel/btf 2>/dev/null; mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing'

# So many threads that one event per CPU is opened: the kernel itself tells its filter of what they start.
./brief 1100 50 1500 >said &
until grep -q ready said; do sleep 0.05; done
run 0 kelvin record -F 1000 -p $! -o b.pb.gz
read -r used _ < <(tail -n 1 said)
at_least $((100 * $(samples_said) / used)) 85 "percent of what the children used"
says_not stderr 'are missing'
