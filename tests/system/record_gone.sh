#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Of a target a part has ended: a process that was named, the parent of others, a first thread. What goes on is recorded whole.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
whole_said() {
	sed -n 's/.* lost, \([0-9]*\)\.[0-9]* % whole stacks$/\1/p' stderr
}

# A list of processes is made a moment before it is used.
start "$WORKLOADS/system_workload"
target=$pid
sleep 0.01 &
ended=$!
wait "$ended"
record_enough 10 -p "$ended,$target,4194303" -o a.pb.gz
says stderr "^pid $ended is not there and is left out\$"
says stderr "^pid 4194303 is not there and is left out\$"
says_not stderr "^pid $target "
at_least "$(share a.pb.gz ';main;serve')" 80 "share of the process that is there"
refuses 'cannot sample any of 2 processes: none of them is there' kelvin record -p "$ended,4194303" -o none.pb.gz
kill "$target"

# Stacks that become deeper than what is copied of them, when the one who led to them is gone.
needs gcc
cat >deep.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) int descend(int depth)
{
	volatile char room[1000];

	room[0] = (char)depth;
	if (depth == 0)
		work();
	else
		descend(depth - 1);
	return room[0];
}

static void *run(void *unused)
{
	for (;;)
		descend(60);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	/* What /proc/PID/stat shows of it looks like its end. */
	prctl(PR_SET_NAME, "x) Z 1\n(");
	if (argc > 1 && argv[1][0] == 'l') {
		while (access("deeper", F_OK) != 0)
			descend(1);
		for (clock_t end = clock() + 2 * CLOCKS_PER_SEC; clock() < end;)
			descend(60);
		return 0;
	}
	if (argc == 1 || argv[1][0] != 't')
		run(NULL);
	pthread_create(&thread, NULL, run, NULL);
	pthread_exit(NULL);
}
END
gcc -O1 -g deep.c -o deep -lpthread || fail "deep.c does not compile"

start ./deep later
target=$pid
# It ends, and after it the other goes deeper.
start sh -c "$(once_recording b.pb.gz "exec sleep 0.3")"
ended=$pid
start sh -c "while kill -0 $ended; do sleep 0.05; done; touch deeper"
run 0 kelvin record -p "$ended,$target" -d 60 -o b.pb.gz
at_least "$(whole_said)" 80 "percent of whole stacks beside a process that has ended"

# It is nobody's child any more when more of its stacks is copied. Its CPU time says how many samples there are to be.
cat >orphan.sh <<END
$(declare -f ticks)
(./deep & echo \$! >orphan)
while [[ \$(ticks "\$(<orphan)") -lt 100 ]]; do sleep 0.1; done
ticks "\$(<orphan)" >used
kill "\$(<orphan)"
END
run 0 kelvin record -o c.pb.gz -- bash orphan.sh
at_least "$(samples_said)" $(($(<used) * 997 * 7 / 1000)) "samples of a process whose parent has ended, with $(<used) hundredths of a second"
at_least "$(whole_said)" 80 "percent of whole stacks of a process whose parent has ended"

# A program whose first thread has ended.
start ./deep thread
for ((tries = 0; tries < 100; tries++)); do
	! grep -q '^State:.*Z' "/proc/$pid/status" || break
	sleep 0.05
done
record_enough 100 -p "$pid" -o d.pb.gz
at_least "$(share d.pb.gz ';run;descend')" 80 "share of a thread whose process has lost its first"
