#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --off-cpu where waits come and go in unusual ways: another program takes the process over, children come and go, it is stopped, there
# are thousands of threads, or the waiting is done in user space.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
needs jq
cat >cases.c <<'END'
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) static void sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&time, &time) != 0)
		;
}

static void *wait_forever(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&never, &mutex);
	return unused;
}

static void begin(void *(*run)(void *), long count)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	while (count-- > 0)
		if (pthread_create(&thread, &attr, run, 0) != 0)
			exit(77);
}

/* Another program takes the place of this one while one thread waits, and goes on to wait. */
static void replace(char **argv)
{
	begin(wait_forever, 1);
	sleep_ms(400);
	argv[1] = "sleep";
	execv("/proc/self/exe", argv);
}

static void storm(void)
{
	for (int i = 0; i < 300; i++) {
		if (fork() == 0) {
			sleep_ms(2);
			_exit(0);
		}
		if (i % 8 == 7)
			while (waitpid(-1, 0, WNOHANG) > 0)
				;
	}
	while (wait(0) > 0)
		;
}

/* A child in poll() is stopped, by a signal or by a debugger, for most of its time. */
static void stop(int is_traced)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		poll(0, 0, -1);
		_exit(0);
	}
	sleep_ms(50);
	if (is_traced) {
		ptrace(PTRACE_SEIZE, child, 0, 0);
		ptrace(PTRACE_INTERRUPT, child, 0, 0);
		waitpid(child, &status, 0);
	} else {
		kill(child, SIGSTOP);
	}
	sleep_ms(500);
	if (is_traced)
		ptrace(PTRACE_DETACH, child, 0, 0);
	else
		kill(child, SIGCONT);
	sleep_ms(50);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* Waits for completions alone, of which there will be none. */
static void *wait_ring(void *unused)
{
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 4, &params);

	if (ring < 0)
		exit(77);
	syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, 0, 0);
	return unused;
}

int main(int argc, char **argv)
{
	const char *what = argv[argc > 1];

	if (strcmp(what, "replace") == 0)
		replace(argv);
	if (strcmp(what, "storm") == 0)
		storm();
	if (strcmp(what, "stopped") == 0 || strcmp(what, "traced") == 0)
		stop(strcmp(what, "traced") == 0);
	if (strcmp(what, "crowd") == 0)
		begin(wait_forever, atol(argv[2]));
	if (strcmp(what, "ring") == 0)
		begin(wait_ring, 1);
	if (strcmp(what, "sleep") == 0 || strcmp(what, "ring") == 0)
		sleep_ms(500);
	if (strcmp(what, "crowd") == 0)
		pause();
	printf("over\n");
	fflush(stdout);
	_exit(0);
}
END
gcc -O1 -fno-omit-frame-pointer -g -D_GNU_SOURCE cases.c -o cases -lpthread || fail "cases.c does not compile"

# What threads waited for, also of those that did nothing else.
echo 'keep function *' >keep.rules

# attach NAME TARGET...: records into NAME.pb.gz; `classes` then has lines of a class and its milliseconds.
attach() {
	local name=$1

	shift
	run 0 kelvin record --off-cpu -o "$name.pb.gz" "$@"
	says stderr '^[0-9,]+ samples? in [0-9.]+ s, '
	says stderr '^waiting: [0-9.]+ s in '
	: >classes
	for metric in off-cpu idle; do
		kelvin report "$name.pb.gz" --wait-rules keep.rules --metric "$metric" --json metric.json >/dev/null 2>&1 || continue
		jq -r '.functions[] | select(.name | startswith("[waiting: ")) | "\(.name) \(.total_ns / 1e6 | round)"' metric.json >>classes
	done
}

# record NAME: the case of that name.
record() {
	attach "$1" -- ./cases "$1"
	[[ $(<stdout) == over ]] || fail "$1 did not get to its end"
}

# in_class CLASS: milliseconds.
in_class() {
	awk -v class="[waiting: $1]" 'index($0, class " ") == 1 { sum += $NF } END { print sum + 0 }' classes
}

# At least about half of what must have been: the beginning of a wait may lie before its process was known.
run 0 kelvin record --off-cpu -o probe.pb.gz -- sleep 0.2
! grep -q '^waits are not sampled: ' stderr || skip "$(grep '^waits are not sampled: ' stderr)"

record replace
at_least "$(in_class timer)" 500 "milliseconds of sleep before and after execve()"
at_least "$(in_class condition)" 200 "milliseconds of the thread that execve() ended"
record storm
at_least "$(in_class timer)" 300 "milliseconds of sleep in 300 children"
record stopped
at_least "$(in_class other)" 250 "milliseconds of being stopped"
record traced
at_least "$(in_class other)" 250 "milliseconds of being stopped by a debugger"

# has_threads PID COUNT, or more than that.
has_threads() {
	[[ $(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l) -gt $2 ]]
}

# Thousands of threads that sleep all the time.
count=10000
[[ $(ulimit -u) == unlimited || $(ulimit -u) -gt 20000 ]] && [[ $(</proc/sys/kernel/pid_max) -gt 20000 ]] || count=1000
start ./cases crowd "$count"
wait_until "$count threads" has_threads "$pid" "$count"
attach crowd -p "$pid" -d 1
at_least "$(in_class condition)" "$((count * 800))" "milliseconds of $count threads that wait for a second"

if ./cases ring >/dev/null 2>&1; then
	record ring
	at_least "$(in_class idle)" 250 "milliseconds of waiting for completions of io_uring"
fi

# Goroutines wait in user space: the kernel sees threads without work, which is said.
if command -v go >/dev/null; then
	use_go_cache
	cat >parked.go <<'END'
package main

import "time"

func main() {
	never := make(chan int)
	for i := 0; i < 20; i++ {
		go func() { <-never }()
	}
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}
END
	GO111MODULE=off go build -o parked parked.go || fail "parked.go does not compile"
	run 0 kelvin record --off-cpu -o parked.pb.gz -- ./parked
	says stderr "^what goroutines wait for, .*'go tool pprof http://HOST:PORT/debug/pprof/mutex'"
	run 0 kelvin report parked.pb.gz --text report.txt
	tr -s ' \n' ' ' <report.txt | grep -q 'Not seen: what goroutines wait for' || fail "the report says nothing of goroutines: $(cat report.txt)"
fi
