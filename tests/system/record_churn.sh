#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads and processes born and dying by the thousand: nothing is lost, every stack is whole, memory does not follow their number.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --churn --seconds 60
record_enough 300 -p "$pid" -o a.pb.gz
says stderr ', 0 lost, (100\.0|99\.[5-9]) % whole stacks$'
says_not stderr 'records? of new mappings and threads (was|were) lost'
at_least "$(share a.pb.gz 'run_thread;serve')" 60 "share of the short-lived threads"
stop "$pid"

# Two hundred processes of ten milliseconds each.
run 0 kelvin record -o b.pb.gz -- sh -c "i=0; while [ \$i -lt 200 ]; do '$WORKLOADS/system_workload' --seconds 0.01; i=\$((i + 1)); done"
says stderr ', 0 lost, '
says_not stderr 'records? of new mappings and threads (was|were) lost'
at_least "$(share b.pb.gz '^system_workload;')" 80 "share of the short-lived processes"

# Threads that live for a fifth of a sampling period are sampled like others: their clocks are not their own.
needs gcc
cat >brief.c <<'END'
#include <pthread.h>
#include <time.h>

static volatile unsigned long sink;

static void *work(void *unused)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (int i = 0; i < 1000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000l + now.tv_nsec - start.tv_nsec < 200000);
	return unused;
}

int main(void)
{
	for (;;) {
		pthread_t thread;

		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
}
END
gcc -O1 -g brief.c -o brief -lpthread
start ./brief
# A busy machine may let it make too few threads for that.
for seconds in 2 4 8 16 32; do
	before=$(ticks "$pid")
	run 0 kelvin record -p "$pid" -F 997 -d "$seconds" -o c.pb.gz
	used=$(($(ticks "$pid") - before))
	[[ $used -lt $((20 * seconds)) ]] || break
done
stop "$pid"
at_least $((100 * $(samples_said) / (used * 997 / 100))) 70 "percent of the samples that its CPU time stands for"
at_least "$(share c.pb.gz ';work')" 50 "share of the threads"

run 0 kelvin record -o d.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.5
says_not stderr 'the samples cover'

# Processes that live for less than a period have no samples where the kernel cannot tell of them at once: that is said.
is_root && unshare -m true 2>/dev/null || exit 0
run 0 in_mount_namespace 'umount -l /sys/kernel/tracing /sys/kernel/debug/tracing 2>/dev/null
	mount -t tmpfs none /sys/kernel/btf 2>/dev/null; :' "$KELVIN" record -F 250 \
	-o e.pb.gz -- sh -c "'$WORKLOADS/system_workload' --seconds 0.1; for i in \$(seq 500); do /bin/ls / >/dev/null; done"
says stderr '^threads and processes that live for less than a sampling period are hardly sampled: .* mount -t tracefs '
says stderr '^the samples cover [0-9.]+ s of the [0-9.]+ s of CPU time that the command used: '
