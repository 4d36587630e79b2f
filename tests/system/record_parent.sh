#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who starts many short-lived processes is sampled by his own CPU time: they do not take his clock along when they end.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
IFS=.- read -r major minor _ < <(uname -r)
[[ $((major * 1000 + minor)) -ge 6012 ]] || skip "Linux before 6.12 exchanges the clocks of related processes"
[[ $(getconf _NPROCESSORS_CONF) -le 32 ]] || skip "on so many CPUs events of CPUs are opened, not those of threads"
needs gcc
cat >parent.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 300000; i++)
		sink += (unsigned long)i;
}

/* CPU time of this thread in nanoseconds: the kernel's exact sum, which getrusage() only shares out by clock ticks. */
static long long cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void)
{
	/* In the loop alone: the number of samples that this gives varies by a few percent. */
	long long in_loop = 0, before;

	while (in_loop < 400000000) {
		before = cpu_time();
		work();
		in_loop += cpu_time() - before;
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
	printf("%lld\n", in_loop / 1000000);
	return 0;
}
END
gcc -O1 -g parent.c -o parent || fail "parent.c does not compile"

# sampled KELVIN...: with a command of its own, most of the loop's time.
sampled() {
	local used sampled

	run 0 "$@" record -F 1000 -o a.pb.gz -- ./parent
	used=$(<stdout)
	sampled=$(samples_in a.pb.gz ';main;work[; ]')
	at_least "$sampled" $((used / 2)) "samples in a loop that took $used ms of CPU time"
}

sampled kelvin

# Where events of whole CPUs are not permitted, the clocks of parent and child are kept apart.
is_root || exit 0
users_may_sample 1
needs setpriv
chmod 755 "$work"
mkdir -m 777 open
install -m 755 "$KELVIN" parent open
cd open || exit 2
sampled setpriv --reuid 65534 --regid 65534 --clear-groups "./$(basename "$KELVIN")"
