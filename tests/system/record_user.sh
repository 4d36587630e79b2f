#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An ordinary user, who may lock as much memory as is usual: what root gets, of his own processes.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to become another user"
users_may_sample -1
needs setpriv
needs prlimit
needs gcc
cat >deep.c <<'END'
static volatile unsigned long sink;

__attribute__((noinline)) int descend(int depth)
{
	volatile char room[1000];

	room[0] = (char)depth;
	for (int i = 0; depth == 0 && i < 100000; i++)
		sink += (unsigned long)i;
	if (depth > 0)
		descend(depth - 1);
	return room[0];
}

int main(void)
{
	for (;;)
		descend(60);
}
END
gcc -O1 -g deep.c -o deep || fail "deep.c does not compile"
chmod 755 "$work"
mkdir -m 777 open
install -m 755 "$KELVIN" open/kelvin
user=$((200000 + $$)) # one of whom nothing else runs
unprivileged=(setpriv --reuid "$user" --regid "$user" --clear-groups)

# The rings take nearly all that may be locked. When stacks are cut, more of them is copied all the same.
start "${unprivileged[@]}" ./deep
for seconds in 2 8 32; do
	run 0 prlimit --memlock=8388608 "${unprivileged[@]}" "$work/open/kelvin" record -p "$pid" -d "$seconds" -o open/a.pb.gz
	[[ $(samples_said) -lt 500 ]] || break
done
stop "$pid"
at_least "$(samples_said)" 500 "samples"
at_least "$(sed -n 's/.* lost, \([0-9]*\)\.[0-9]* % whole stacks$/\1/p' stderr)" 80 "percent of whole stacks"

[[ $level -gt 0 ]] || exit 0
# Threads that end at once take along the clock of the one who starts them: what hinders is said, also when there is no sample at all.
cat >brief.c <<'END'
#include <pthread.h>

static volatile unsigned long sink;

static void *work(void *unused)
{
	for (int i = 0; i < 10000; i++)
		sink += (unsigned long)i;
	return unused;
}

int main(void)
{
	for (;;) {
		pthread_t thread;

		pthread_create(&thread, NULL, work, NULL);
		work(NULL);
		pthread_join(thread, NULL);
	}
}
END
gcc -O1 -g brief.c -o brief -lpthread || fail "brief.c does not compile"
start "${unprivileged[@]}" ./brief
for seconds in 3 12 40; do
	code=0
	"${unprivileged[@]}" "$work/open/kelvin" record -p "$pid" -d "$seconds" -o open/b.pb.gz >stdout 2>stderr || code=$?
	[[ $code -eq 0 || $code -eq 2 ]] || fail "exit code $code"
	# It got no time to start many.
	! grep -q slept stderr || continue
	break
done
says stderr "threads and processes that live for less than a sampling period.*not permitted; run 'sudo sysctl kernel.perf_event_paranoid=0'"
