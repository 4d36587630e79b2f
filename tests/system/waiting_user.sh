#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An ordinary user's --off-cpu, whom the kernel lets sample no waits: they are looked for, with their classes and whole stacks.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to become another user"
users_may_sample 1
needs setpriv
needs gcc
needs jq
cat >waiter.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];

__attribute__((noinline)) static void *wait_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&never, &mutex);
	return unused;
}

__attribute__((noinline)) static void *wait_idle(void *unused)
{
	struct pollfd polled = { .fd = ends[1], .events = POLLPRI };

	poll(&polled, 1, -1);
	return unused;
}

__attribute__((noinline)) static void *wait_io(void *unused)
{
	char byte;

	while (read(ends[0], &byte, 1) == 1)
		;
	return unused;
}

__attribute__((noinline)) static void *wait_timer(void *unused)
{
	struct timespec brief = { 0, 3000000 };

	for (;;)
		nanosleep(&brief, 0);
	return unused;
}

int main(void)
{
	void *(*const threads[])(void *) = { wait_condition, wait_idle, wait_io, wait_timer };
	volatile unsigned long sink = 0;

	if (pipe(ends) != 0)
		return 1;
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		pthread_create(&thread, 0, threads[i], 0);
	}
	for (;;)
		sink++;
}
END
gcc -O1 -fno-omit-frame-pointer -g waiter.c -o waiter -lpthread || fail "waiter.c does not compile"
chmod 755 "$work"
mkdir -m 777 open
install -m 755 "$KELVIN" open/kelvin
unprivileged=(setpriv --reuid "$((210000 + $$))" --regid "$((210000 + $$))" --clear-groups)

# The threads do nothing else, so that they would be idle by their life.
echo 'keep function wait_*' >keep.rules

# milliseconds METRIC FUNCTION, of the function and all it calls
milliseconds() {
	kelvin report open/a.pb.gz --wait-rules keep.rules --metric "$1" --json metric.json >/dev/null 2>&1
	jq --arg name "$2" '[.functions[] | select(.name == $name) | .total_ns] | add // 0 | . / 1e6 | round' metric.json
}

start "${unprivileged[@]}" ./waiter
run 0 "${unprivileged[@]}" "$work/open/kelvin" record --off-cpu -p "$pid" -d 1.5 -o open/a.pb.gz
says stderr '^waits are sampled by looking at each thread every [0-9]+ ms or so: .* uncertain by [0-9]+ %; the kernel cannot do it here: that needs CAP_BPF'
says stderr '^waiting: .* in [0-9] threads?: .*; idle '
# Threads that wait all the time are charged all the time, each in its class, and with the whole way to where they wait.
for kind in condition io; do
	at_least "$(milliseconds off-cpu "wait_$kind")" 1400 "milliseconds in wait_$kind"
	at_most "$(($(milliseconds off-cpu "wait_$kind") - $(milliseconds idle wait_idle)))" 20 "milliseconds in wait_$kind more than in wait_idle"
done
at_least "$(milliseconds idle wait_idle)" 1400 "milliseconds in wait_idle"
at_least "$(milliseconds off-cpu wait_timer)" 100 "milliseconds in wait_timer"
kelvin report open/a.pb.gz --wait-rules keep.rules --folded stacks >/dev/null 2>&1
for kind in condition io idle timer; do
	grep -qE ";start_thread;wait_$kind;.*;\[waiting: $kind\] [0-9]+$" stacks || fail "no whole stack of a wait in wait_$kind: $(cat stacks)"
done

# Where not even that may be read, the recording goes on without waits.
run 0 in_mount_namespace "mount --bind /dev/null /proc/$pid/task/$pid/syscall" "${unprivileged[@]}" "$work/open/kelvin" record --off-cpu -p "$pid" -d 0.5 -o open/b.pb.gz
says stderr "^waits are not sampled: that needs CAP_BPF .*; /proc/$pid/syscall cannot be read: it is empty$"
says_not stderr '^waiting: '
