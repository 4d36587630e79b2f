/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wait in known ways, each of them in one function, `wait_KIND`, which its first function, `thread_KIND`,
 * calls again and again. At its end a thread knows how long it was without a CPU: by the clock, less its own CPU time.
 *
 *	workload_waits SECONDS [KIND...]   prints "KIND TID MILLISECONDS CALLS LOCK" for each thread at the end
 *
 * LOCK is the variable that threads of the kind wait at; "-": none.
 *
 * A thread of kind `forever` waits for what never comes: its time is that from its start to the end of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_NS = 2000000, LONG_NS = 1000000000, SHORT_NS = 50000, WORK_NS = 1000000 };
/* Of the mapped file. The stride is the largest page of any machine. */
enum { STRIDE = 65536, STRIDES = 256 };

#define TIMED __attribute__((noinline, noipa)) static void

static atomic_int is_over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, shared = PTHREAD_RWLOCK_INITIALIZER;
static int pipe_ends[2], event, epoll, file, mapped_file;
static const volatile char *mapped;

static long clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&time, &time) != 0 && errno == EINTR)
		;
}

static void burn_ns(long ns)
{
	for (long end = clock_ns(CLOCK_MONOTONIC) + ns; clock_ns(CLOCK_MONOTONIC) < end;)
		;
}

/* ---- Kinds: what is timed, and what is done between ---- */

/* Behind a call, so that the function is still there while it waits, and does not jump to what it calls. */
#define STAYS __asm__ volatile("")

TIMED wait_mutex(void)
{
	pthread_mutex_lock(&mutex);
	STAYS;
}

static void after_mutex(void)
{
	pthread_mutex_unlock(&mutex);
	burn_ns(SHORT_NS);
}

TIMED wait_reader(void)
{
	pthread_rwlock_rdlock(&written);
	STAYS;
}

static void after_reader(void)
{
	pthread_rwlock_unlock(&written);
	burn_ns(SHORT_NS);
}

TIMED wait_writer(void)
{
	pthread_rwlock_wrlock(&shared);
	STAYS;
}

static void after_writer(void)
{
	pthread_rwlock_unlock(&shared);
	burn_ns(SHORT_NS);
}

TIMED wait_condition(void)
{
	pthread_mutex_lock(&condition_mutex);
	pthread_cond_wait(&condition, &condition_mutex);
	pthread_mutex_unlock(&condition_mutex);
	STAYS;
}

TIMED wait_pipe(void)
{
	char byte;

	if (read(pipe_ends[0], &byte, 1) != 1)
		abort();
}

TIMED wait_epoll(void)
{
	struct epoll_event ready;

	if (epoll_wait(epoll, &ready, 1, -1) != 1)
		abort();
}

static void after_epoll(void)
{
	uint64_t count;

	if (read(event, &count, sizeof(count)) != sizeof(count))
		abort();
}

TIMED wait_short(void)
{
	sleep_ns(SHORT_NS);
	STAYS;
}

TIMED wait_long(void)
{
	sleep_ns(LONG_NS);
	STAYS;
}

TIMED wait_disk(void)
{
	fsync(file);
	STAYS;
}

static void after_disk(void)
{
	static char written;

	written++;
	if (pwrite(file, &written, 1, 0) != 1)
		abort();
}

static size_t touched;

/* A page of the file that is not in memory. */
TIMED wait_fault(void)
{
	(void)mapped[touched * STRIDE];
}

/* Once all have been read, none of them is in memory any more. */
static void after_fault(void)
{
	touched = (touched + 1) % STRIDES;
	if (touched != 0)
		return;
	if (madvise((void *)mapped, STRIDE * STRIDES, MADV_DONTNEED) != 0 ||
		posix_fadvise(mapped_file, 0, 0, POSIX_FADV_DONTNEED) != 0)
		abort();
}

TIMED wait_forever(void)
{
	pthread_mutex_lock(&condition_mutex);
	pthread_cond_wait(&never, &condition_mutex);
	abort();
}

TIMED wait_cpu(void)
{
	burn_ns(WORK_NS);
	STAYS;
}

/* ---- Threads ---- */

struct waiter {
	const char *kind, *lock;
	void *(*run)(void *waiter);
	void (*wait)(void), (*after)(void);
	pthread_t thread;
	pid_t tid;
	long waited_ns, calls, began_ns;
};

static void use_one_cpu(void)
{
	cpu_set_t one;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			return;
	}
}

static void repeat(struct waiter *waiter)
{
	waiter->began_ns = clock_ns(CLOCK_MONOTONIC);
	waiter->waited_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	prctl(PR_SET_NAME, waiter->kind);
	waiter->tid = (pid_t)syscall(SYS_gettid);
	if (waiter->wait == wait_cpu)
		use_one_cpu();
	while (!is_over) {
		waiter->wait();
		if (waiter->after)
			waiter->after();
		waiter->calls++;
	}
	waiter->waited_ns -= clock_ns(CLOCK_THREAD_CPUTIME_ID);
	waiter->waited_ns += clock_ns(CLOCK_MONOTONIC) - waiter->began_ns;
}

#define THREAD(kind)                                                                                                   \
	static void *thread_##kind(void *waiter)                                                                       \
	{                                                                                                              \
		repeat(waiter);                                                                                        \
		STAYS;                                                                                                 \
		return NULL;                                                                                           \
	}

THREAD(mutex)
THREAD(reader)
THREAD(writer)
THREAD(condition)
THREAD(pipe)
THREAD(epoll)
THREAD(short)
THREAD(long)
THREAD(disk)
THREAD(fault)
THREAD(forever)
THREAD(cpu)

#define WAITER(name) .kind = #name, .run = thread_##name, .wait = wait_##name

static struct waiter waiters[] = {
	{ WAITER(mutex), .after = after_mutex, .lock = "mutex" },
	{ WAITER(reader), .after = after_reader, .lock = "written" },
	{ WAITER(writer), .after = after_writer, .lock = "shared" },
	{ WAITER(condition), .lock = "condition" },
	{ WAITER(pipe) },
	{ WAITER(epoll), .after = after_epoll },
	{ WAITER(short) },
	{ WAITER(long) },
	{ WAITER(disk), .after = after_disk },
	{ WAITER(fault), .after = after_fault },
	{ WAITER(forever), .lock = "never" },
	{ WAITER(cpu) },
	{ WAITER(cpu) },
};
enum { WAITERS = sizeof(waiters) / sizeof(waiters[0]) };

static int is_wanted(const char *kind, int count, char **kinds)
{
	for (int i = 0; i < count; i++)
		if (strcmp(kinds[i], kind) == 0)
			return 1;
	return count == 0;
}

/* Holds the locks half of the time, and lets each of the others go on. */
__attribute__((noinline, noipa)) static void let_go_on(void)
{
	static const uint64_t one = 1;

	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&written);
	pthread_rwlock_rdlock(&shared);
	sleep_ns(HOLD_NS);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_unlock(&written);
	pthread_rwlock_unlock(&shared);
	sleep_ns(HOLD_NS);
	pthread_mutex_lock(&condition_mutex);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&condition_mutex);
	if (write(pipe_ends[1], "", 1) != 1 || write(event, &one, sizeof(one)) != sizeof(one))
		abort();
}

/* A file without a name in the working directory. */
static int make_file(void)
{
	char name[] = "waits.XXXXXX";
	int made = mkstemp(name);

	if (made < 0)
		abort();
	unlink(name);
	return made;
}

static void map_file(void)
{
	static const char bytes[STRIDE] = "x";
	void *map;

	mapped_file = make_file();
	for (size_t i = 0; i < STRIDES; i++)
		if (write(mapped_file, bytes, sizeof(bytes)) != sizeof(bytes))
			abort();
	map = mmap(NULL, STRIDE * STRIDES, PROT_READ, MAP_SHARED, mapped_file, 0);
	/* Only clean pages can be dropped, and none is to be read before it is touched. */
	if (map == MAP_FAILED || fsync(mapped_file) != 0 || madvise(map, STRIDE * STRIDES, MADV_RANDOM) != 0 ||
		posix_fadvise(mapped_file, 0, 0, POSIX_FADV_DONTNEED) != 0)
		abort();
	mapped = map;
}

static void open_files(void)
{
	struct epoll_event interest = { .events = EPOLLIN };

	event = eventfd(0, 0);
	epoll = epoll_create1(0);
	file = make_file();
	if (pipe(pipe_ends) != 0 || event < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &interest) != 0)
		abort();
	map_file();
}

static void finish(struct waiter *waiter)
{
	int never_ends = waiter->wait == wait_forever;

	while (!never_ends && pthread_tryjoin_np(waiter->thread, NULL) != 0)
		let_go_on();
	if (never_ends)
		waiter->waited_ns = clock_ns(CLOCK_MONOTONIC) - waiter->began_ns;
	printf("%s %d %.3f %ld %s\n", waiter->kind, (int)waiter->tid, (double)waiter->waited_ns / 1e6, waiter->calls,
		waiter->lock ? waiter->lock : "-");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	long end;

	open_files();
	for (int i = 0; i < WAITERS; i++)
		if (is_wanted(waiters[i].kind, argc - 2, argv + 2))
			pthread_create(&waiters[i].thread, NULL, waiters[i].run, &waiters[i]);
	for (end = clock_ns(CLOCK_MONOTONIC) + (long)(seconds * 1e9); clock_ns(CLOCK_MONOTONIC) < end;)
		let_go_on();
	is_over = 1;
	/* Those who never end are the last. */
	for (int never_ends = 0; never_ends <= 1; never_ends++)
		for (int i = 0; i < WAITERS; i++)
			if (waiters[i].thread && (waiters[i].wait == wait_forever) == never_ends)
				finish(&waiters[i]);
	fflush(stdout);
	/* With the threads that wait forever. */
	_exit(0);
}
