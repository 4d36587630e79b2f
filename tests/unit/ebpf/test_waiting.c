/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs as the kernel runs them: real threads that wait, and the samples that are written of them. */
#include "refusal_fixture.h"
#include "sampler/ebpf/ebpf.h"
#include "sampler/ebpf/waiting_shared.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 256, DATA_PAGES = 512, INTERVAL_NS = 5000000, REGISTERS = 21 };
enum { PLENTY = 1000000 };

/* A struct user_regs_struct of x86-64 begins with what its struct pt_regs has. */
static const struct ebpf_registers registers = {
	REGISTERS * sizeof(uint64_t),
	offsetof(struct user_regs_struct, orig_rax),
	{ offsetof(struct user_regs_struct, rdi), offsetof(struct user_regs_struct, rsi) },
};

static const uint8_t descriptors_of_call[512] = {
	[SYS_read] = EBPF_READS_ONE,
	[SYS_recvfrom] = EBPF_READS_ONE,
	[SYS_poll] = EBPF_POLLS,
	[SYS_ppoll] = EBPF_POLLS,
	[SYS_select] = EBPF_SELECTS,
	[SYS_pselect6] = EBPF_SELECTS,
};

static bool is_untraced;
static uint32_t most_threads;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The CPU time of this thread. */
static uint64_t used_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void sleep_ns(long ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

/* ---- Programs with rings of their own ---- */

struct sampling {
	int outputs[MAX_CPUS], switches[MAX_CPUS];
	void *pages[MAX_CPUS];
	size_t cpu_count, bytes;
	struct ebpf_process_set *processes;
	struct ebpf_waiting *waiting;
};

static int open_event(uint64_t config, size_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.context_switch = config == PERF_COUNT_SW_DUMMY,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void open_rings(struct sampling *sampling)
{
	sampling->cpu_count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	sampling->bytes = (1 + DATA_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	assert_true(sampling->cpu_count <= MAX_CPUS);
	for (size_t cpu = 0; cpu < sampling->cpu_count; cpu++) {
		sampling->outputs[cpu] = open_event(PERF_COUNT_SW_BPF_OUTPUT, cpu);
		sampling->switches[cpu] = open_event(PERF_COUNT_SW_DUMMY, cpu);
		if (sampling->outputs[cpu] < 0)
			continue;
		sampling->pages[cpu] =
			mmap(NULL, sampling->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sampling->outputs[cpu], 0);
		assert_ptr_not_equal(sampling->pages[cpu], MAP_FAILED);
	}
}

static void start_sampling(struct sampling *sampling, uint32_t samples_per_second)
{
	struct ebpf_waiting_options options = { .interval_ns = INTERVAL_NS,
		.samples_per_second = samples_per_second,
		.registers = registers,
		.descriptors_of_call = descriptors_of_call,
		.call_count = sizeof(descriptors_of_call),
		.has_switches = true,
		.most_threads = most_threads,
		.is_untraced = is_untraced };
	struct error err;

	*sampling = (struct sampling){ 0 };
	open_rings(sampling);
	if (!ebpf_process_set_create(&sampling->processes, &err))
		fail_msg("%s", err.message);
	ebpf_process_set_add(sampling->processes, getpid());
	options.processes = sampling->processes;
	options.output = sampling->outputs;
	options.cpu_count = sampling->cpu_count;
	if (!ebpf_waiting_create(&options, &sampling->waiting, &err) || !ebpf_waiting_meet(sampling->waiting, &err))
		fail_msg("%s", err.message);
}

static void stop_sampling(struct sampling *sampling)
{
	ebpf_waiting_destroy(sampling->waiting);
	ebpf_process_set_destroy(sampling->processes);
	for (size_t cpu = 0; cpu < sampling->cpu_count; cpu++) {
		if (sampling->pages[cpu])
			munmap(sampling->pages[cpu], sampling->bytes);
		close(sampling->outputs[cpu]);
		close(sampling->switches[cpu]);
	}
}

/* What was written of a thread. */
struct written {
	uint64_t ends, releases, blocked_ns, queued_ns;
	struct ebpf_wait last, release;
	struct ebpf_wait on_descriptor; /* the last wait in a call that reads descriptors */
};

static void add_written(struct written *written, const struct ebpf_wait *wait, pid_t tid)
{
	if (wait->tid != (uint32_t)tid)
		return;
	if (wait->kind == EBPF_WAIT_RELEASE) {
		written->releases++;
		written->release = *wait;
		return;
	}
	written->ends++;
	written->blocked_ns += wait->blocked_weight_ns;
	written->queued_ns += wait->queued_weight_ns;
	written->last = *wait;
	if (wait->state && (uint64_t)wait->system_call < sizeof(descriptors_of_call) &&
		descriptors_of_call[wait->system_call] != EBPF_READS_NONE)
		written->on_descriptor = *wait;
}

/* The records fit into the rings, so that none of them lies across an end. */
static struct written read_written(const struct sampling *sampling, pid_t tid)
{
	struct written written = { 0 };

	for (size_t cpu = 0; cpu < sampling->cpu_count; cpu++) {
		const struct perf_event_mmap_page *page = sampling->pages[cpu];
		const char *data = (const char *)page + sysconf(_SC_PAGESIZE);

		for (uint64_t at = 0; page && at < page->data_head;) {
			const struct perf_event_header *header = (const void *)(data + at);
			struct ebpf_wait wait;

			memcpy(&wait, data + at + sizeof(*header) + sizeof(uint32_t), sizeof(wait));
			if (header->type == PERF_RECORD_SAMPLE)
				add_written(&written, &wait, tid);
			at += header->size;
		}
		assert_true(!page || page->data_head < DATA_PAGES * (uint64_t)sysconf(_SC_PAGESIZE));
	}
	return written;
}

/* ---- Threads ---- */

struct sleeper {
	pthread_t thread;
	pid_t tid;
	int go[2], ready[2]; /* pipes */
	long sleeps, each_ns;
	uint64_t began_ns;  /* when it began to sleep */
	uint64_t waited_ns; /* the time that passed while it slept, less that in which it had a CPU */
};

static void *run_sleeper(void *argument)
{
	struct sleeper *sleeper = argument;
	char byte;

	sleeper->tid = (pid_t)syscall(SYS_gettid);
	assert_int_equal(write(sleeper->ready[1], "", 1), 1);
	assert_int_equal(read(sleeper->go[0], &byte, 1), 1);
	sleeper->began_ns = now_ns();
	sleeper->waited_ns = sleeper->began_ns - used_ns();
	for (long i = 0; i < sleeper->sleeps; i++)
		sleep_ns(sleeper->each_ns);
	sleeper->waited_ns = now_ns() - used_ns() - sleeper->waited_ns;
	assert_int_equal(write(sleeper->ready[1], "", 1), 1);
	assert_int_equal(read(sleeper->go[0], &byte, 1), 1);
	return NULL;
}

static void start_sleeper(struct sleeper *sleeper, long sleeps, long each_ns)
{
	char byte;

	*sleeper = (struct sleeper){ .sleeps = sleeps, .each_ns = each_ns };
	assert_int_equal(pipe(sleeper->go), 0);
	assert_int_equal(pipe(sleeper->ready), 0);
	assert_int_equal(pthread_create(&sleeper->thread, NULL, run_sleeper, sleeper), 0);
	assert_int_equal(read(sleeper->ready[0], &byte, 1), 1);
}

static void let_go_on(struct sleeper *sleeper)
{
	assert_int_equal(write(sleeper->go[1], "", 1), 1);
}

static void wait_until_ready(struct sleeper *sleeper)
{
	char byte;

	assert_int_equal(read(sleeper->ready[0], &byte, 1), 1);
}

/* It may not have begun yet, and then waits to be told twice. */
static void end_sleeper(struct sleeper *sleeper)
{
	let_go_on(sleeper);
	let_go_on(sleeper);
	pthread_join(sleeper->thread, NULL);
	close(sleeper->go[0]);
	close(sleeper->go[1]);
	close(sleeper->ready[0]);
	close(sleeper->ready[1]);
}

/* ---- Sockets ---- */

enum { CONNECTED, ACCEPTED, SOCKETS };

/* Both ends of a connection; -1 where there is no such network, as in an emulator without a loopback device. */
static void connect_sockets(const struct sockaddr *address, socklen_t size, int ends[SOCKETS])
{
	struct sockaddr_storage bound;
	socklen_t bound_size = sizeof(bound);
	int listener = socket(address->sa_family, SOCK_STREAM, 0);

	if (bind(listener, address, size) != 0) {
		assert_int_equal(errno, EADDRNOTAVAIL);
		close(listener);
		ends[CONNECTED] = ends[ACCEPTED] = -1;
		return;
	}
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&bound, &bound_size), 0);
	ends[CONNECTED] = socket(address->sa_family, SOCK_STREAM, 0);
	if (connect(ends[CONNECTED], (struct sockaddr *)&bound, bound_size) != 0) {
		assert_int_equal(errno, ENETUNREACH);
		close(listener);
		close(ends[CONNECTED]);
		ends[CONNECTED] = ends[ACCEPTED] = -1;
		return;
	}
	ends[ACCEPTED] = accept(listener, NULL, NULL);
	assert_true(ends[ACCEPTED] >= 0);
	close(listener);
}

static void connect_tcp(int ends[SOCKETS])
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	connect_sockets((const struct sockaddr *)&address, sizeof(address), ends);
}

/* A name of which the kernel knows the rest. */
static void connect_unix(int ends[SOCKETS])
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX };

	connect_sockets((const struct sockaddr *)&address, sizeof(address.sun_family), ends);
}

static void make_pair(int ends[SOCKETS])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static void wait_in_recv(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, 0), 1);
}

static void wait_in_read(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 1);
}

static void wait_in_poll(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&polled, 1, -1), 1);
}

/* As libraries do that may be woken by another thread. */
static void wait_in_poll_of_two(int fd)
{
	struct pollfd polled[] = { { .fd = eventfd(0, 0), .events = POLLIN }, { .fd = fd, .events = POLLIN } };

	assert_int_equal(ppoll(polled, 2, NULL, NULL), 1);
	close(polled[0].fd);
}

static void wait_in_select(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	assert_int_equal(select(fd + 1, &set, NULL, NULL, NULL), 1);
}

static const struct peer_case {
	void (*connect)(int ends[SOCKETS]);
	int end;
	void (*wait)(int fd);
	enum ebpf_wait_peer peer;
} peer_cases[] = {
	{ connect_tcp, CONNECTED, wait_in_recv, EBPF_PEER_CALLED },
	{ connect_tcp, CONNECTED, wait_in_read, EBPF_PEER_CALLED },
	{ connect_tcp, CONNECTED, wait_in_poll, EBPF_PEER_CALLED },
	{ connect_tcp, CONNECTED, wait_in_poll_of_two, EBPF_PEER_CALLED },
	{ connect_tcp, CONNECTED, wait_in_select, EBPF_PEER_CALLED },
	{ connect_tcp, ACCEPTED, wait_in_recv, EBPF_PEER_CLIENT },
	{ connect_tcp, ACCEPTED, wait_in_poll, EBPF_PEER_CLIENT },
	{ connect_tcp, ACCEPTED, wait_in_poll_of_two, EBPF_PEER_UNKNOWN },
	{ connect_tcp, ACCEPTED, wait_in_select, EBPF_PEER_CLIENT },
	{ connect_unix, CONNECTED, wait_in_recv, EBPF_PEER_CALLED },
	{ connect_unix, CONNECTED, wait_in_poll, EBPF_PEER_CALLED },
	{ connect_unix, ACCEPTED, wait_in_recv, EBPF_PEER_CLIENT },
	{ make_pair, CONNECTED, wait_in_poll, EBPF_PEER_UNKNOWN },
	{ make_pair, CONNECTED, wait_in_recv, EBPF_PEER_UNKNOWN },
};

struct socket_waiter {
	const struct peer_case *of;
	int fd;
	pid_t tid;
	int ready[2];
};

static void *run_socket_waiter(void *argument)
{
	struct socket_waiter *waiter = argument;

	waiter->tid = (pid_t)syscall(SYS_gettid);
	assert_int_equal(write(waiter->ready[1], "", 1), 1);
	waiter->of->wait(waiter->fd);
	return NULL;
}

/* ---- Tests ---- */

/* Visits the threads that are asleep until that one is shown, and returns whether it was. */
static bool find_sleeper(struct sampling *sampling, pid_t tid, struct ebpf_visit **visit, struct ebpf_sleeper **sleeper)
{
	struct error err;

	assert_true(ebpf_visit_begin(sampling->waiting, visit, &err));
	do
		assert_true(ebpf_visit_next(*visit, sleeper, &err));
	while (*sleeper && (*sleeper)->wait.tid != (uint32_t)tid);
	return *sleeper != NULL;
}

/* Many waits, each shorter than the interval: together they have their time. */
static void test_short_waits_have_their_time(void **state)
{
	enum { SLEEPS = 100, EACH_NS = 1000000 };
	struct sampling sampling;
	struct sleeper sleeper;
	struct written written;
	uint64_t sum, enabled_ns;

	start_sleeper(&sleeper, SLEEPS, EACH_NS);
	start_sampling(&sampling, PLENTY);
	enabled_ns = now_ns();
	ebpf_waiting_enable(sampling.waiting, enabled_ns);
	let_go_on(&sleeper);
	wait_until_ready(&sleeper);
	written = read_written(&sampling, sleeper.tid);
	sum = written.blocked_ns + written.queued_ns;
	/* Two sums, each right but for an interval. The scheduler and the program read the clock at two places. */
	assert_true(sum + 2 * INTERVAL_NS + SLEEPS * UINT64_C(20000) + sleeper.waited_ns / 20 >= sleeper.waited_ns);
	/* On a busy machine it gets a CPU some time after it was let go on. */
	assert_true(sum <= sleeper.waited_ns + sleeper.began_ns - enabled_ns + 3 * INTERVAL_NS);
	assert_true(written.ends <= sum / INTERVAL_NS);
	assert_int_equal(written.last.process, getpid());
	assert_int_equal(written.blocked_ns % INTERVAL_NS, 0);
	assert_true(ebpf_waiting_counts(sampling.waiting).switches >= SLEEPS);
	end_sleeper(&sleeper);
	stop_sampling(&sampling);
}

/* What the budget puts off is charged to the next wait, once there is room. */
static void test_the_budget_loses_nothing(void **state)
{
	enum { SLEEPS = 30, EACH_NS = 2 * INTERVAL_NS, A_WINDOW = 1 };
	struct sampling sampling;
	struct sleeper sleeper;
	struct written written;

	start_sleeper(&sleeper, SLEEPS, EACH_NS);
	start_sampling(&sampling, A_WINDOW);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	let_go_on(&sleeper);
	wait_until_ready(&sleeper);
	written = read_written(&sampling, sleeper.tid);
	assert_true(ebpf_waiting_counts(sampling.waiting).deferred > 0);
	assert_true(written.ends < SLEEPS);
	/* Windows are of 100 ms: up to one of them waits to be charged. */
	assert_true(written.blocked_ns + written.queued_ns + 130000000 + SLEEPS * UINT64_C(20000) >= sleeper.waited_ns);
	end_sleeper(&sleeper);
	stop_sampling(&sampling);
}

/* Waits until all have slept: what was charged in percent of what they have waited since. */
static uint64_t charged_percent(struct sampling *sampling, struct sleeper *sleepers, size_t count, uint64_t enabled_ns)
{
	uint64_t found = 0, slept = 0;

	for (size_t i = 0; i < count; i++)
		wait_until_ready(&sleepers[i]);
	for (size_t i = 0; i < count; i++) {
		struct written written = read_written(sampling, sleepers[i].tid);

		found += written.blocked_ns + written.queued_ns;
		slept += sleepers[i].waited_ns + sleepers[i].began_ns - enabled_ns;
	}
	return found * 100 / slept;
}

/* Threads whose sums began in a short interval have their time when it becomes a long one: not one by one, but all. */
static void test_a_longer_interval_leaves_nothing_out(void **state)
{
	enum { SLEEPERS = 64, SLEEPS = 50, EACH_NS = 4000000, TIMES_LONGER = 16 };
	static struct sleeper sleepers[SLEEPERS];
	uint64_t enabled_ns, share;
	struct sampling sampling;

	for (size_t i = 0; i < SLEEPERS; i++)
		start_sleeper(&sleepers[i], SLEEPS, EACH_NS);
	start_sampling(&sampling, PLENTY);
	enabled_ns = now_ns();
	ebpf_waiting_enable(sampling.waiting, enabled_ns);
	ebpf_waiting_set_interval(sampling.waiting, TIMES_LONGER * (uint64_t)INTERVAL_NS);
	for (size_t i = 0; i < SLEEPERS; i++)
		let_go_on(&sleepers[i]);
	share = charged_percent(&sampling, sleepers, SLEEPERS, enabled_ns);
	/* A thread's share is off by half an interval, 40 of 200 ms: 64 of them by a fortieth. */
	assert_in_range(share, 85, 115);
	for (size_t i = 0; i < SLEEPERS; i++)
		end_sleeper(&sleepers[i]);
	stop_sampling(&sampling);
}

/*
 * Nor is anything charged that nobody has waited when it becomes a short one again: half the difference of each sum
 * would be.
 */
static void test_a_shorter_interval_adds_nothing(void **state)
{
	enum { SLEEPERS = 64, SLEEPS = 50, EACH_NS = 4000000, TIMES_LONGER = 16 };
	static struct sleeper sleepers[SLEEPERS];
	uint64_t enabled_ns, share;
	struct sampling sampling;

	for (size_t i = 0; i < SLEEPERS; i++)
		start_sleeper(&sleepers[i], SLEEPS, EACH_NS);
	start_sampling(&sampling, PLENTY);
	ebpf_waiting_set_interval(sampling.waiting, TIMES_LONGER * (uint64_t)INTERVAL_NS);
	enabled_ns = now_ns();
	ebpf_waiting_enable(sampling.waiting, enabled_ns);
	for (size_t i = 0; i < SLEEPERS; i++)
		let_go_on(&sleepers[i]);
	sleep_ns(SLEEPS * EACH_NS / 2);
	assert_true(ebpf_waiting_counts(sampling.waiting).threads >= SLEEPERS);
	ebpf_waiting_set_interval(sampling.waiting, INTERVAL_NS);
	share = charged_percent(&sampling, sleepers, SLEEPERS, enabled_ns);
	/* A thread is off by a quarter of the long interval, 20 of 200 ms, in each of two sums: 64 of them by a
	 * sixtieth. */
	assert_in_range(share, 86, 114);
	for (size_t i = 0; i < SLEEPERS; i++)
		end_sleeper(&sleepers[i]);
	stop_sampling(&sampling);
}

/* Whoever lets a thread go on is written down where the thread's wait is due, with the same number. */
static void test_a_release_belongs_to_its_wait(void **state)
{
	struct sampling sampling;
	struct sleeper sleeper;
	struct written written;

	/* It sleeps no more after that: a timer's end would be another release, by whoever it interrupts. */
	start_sleeper(&sleeper, 0, 0);
	start_sampling(&sampling, PLENTY);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	sleep_ns(4 * INTERVAL_NS);
	let_go_on(&sleeper);
	wait_until_ready(&sleeper);
	written = read_written(&sampling, sleeper.tid);
	assert_true(written.releases >= 1);
	assert_true(written.release.sequence != 0);
	assert_int_equal(written.release.system_call, SYS_write);
	assert_int_equal(written.release.arguments[0], sleeper.go[1]);
	assert_true(written.ends >= 1);
	end_sleeper(&sleeper);
	stop_sampling(&sampling);
}

/* A thread that sleeps from before the recording until after it. */
static void test_who_never_wakes_is_charged(void **state)
{
	struct sampling sampling;
	struct sleeper sleeper;
	struct ebpf_sleeper *shown;
	struct ebpf_visit *visit;
	uint64_t began, ended;

	start_sleeper(&sleeper, 1, 1000);
	/* It has told that it is ready, and goes to sleep in read(). */
	sleep_ns(50000000);
	start_sampling(&sampling, PLENTY);
	began = now_ns();
	ebpf_waiting_enable(sampling.waiting, began);
	sleep_ns(6 * INTERVAL_NS);
	assert_true(find_sleeper(&sampling, sleeper.tid, &visit, &shown));
	assert_true(ebpf_waiting_charge(sampling.waiting, shown));
	ended = now_ns();
	assert_int_equal(shown->wait.kind, EBPF_WAIT_OPEN);
	assert_int_equal(shown->wait.system_call, SYS_read);
	assert_int_equal(shown->wait.arguments[0], sleeper.go[0]);
	assert_int_equal(shown->register_count, REGISTERS);
	assert_true(shown->wait.blocked_ns + shown->wait.queued_ns <= ended - began);
	assert_true(shown->wait.blocked_weight_ns >= 5 * (uint64_t)INTERVAL_NS);
	/* What is charged is charged once: at once there is nothing more. */
	assert_false(ebpf_waiting_charge(sampling.waiting, shown) && now_ns() - ended < INTERVAL_NS / 2 &&
		     shown->wait.blocked_ns > INTERVAL_NS);
	ebpf_visit_end(visit);
	end_sleeper(&sleeper);
	stop_sampling(&sampling);
}

/* The stack of a thread that has gone on is not that of its wait. */
static void test_who_went_on_is_not_charged_for_it(void **state)
{
	struct sampling sampling;
	struct sleeper sleeper;
	struct ebpf_sleeper *shown;
	struct ebpf_visit *visit;

	start_sleeper(&sleeper, 1, 1000);
	sleep_ns(50000000);
	start_sampling(&sampling, PLENTY);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	sleep_ns(4 * INTERVAL_NS);
	assert_true(find_sleeper(&sampling, sleeper.tid, &visit, &shown));
	let_go_on(&sleeper);
	wait_until_ready(&sleeper);
	assert_false(ebpf_waiting_charge(sampling.waiting, shown));
	ebpf_visit_end(visit);
	assert_true(read_written(&sampling, sleeper.tid).blocked_ns >= 3 * (uint64_t)INTERVAL_NS);
	end_sleeper(&sleeper);
	stop_sampling(&sampling);
}

static void test_nothing_counts_while_it_is_off(void **state)
{
	struct sampling sampling;
	struct sleeper sleeper;
	struct ebpf_sleeper *shown;
	struct ebpf_visit *visit;

	start_sleeper(&sleeper, 4, 2 * INTERVAL_NS);
	start_sampling(&sampling, PLENTY);
	let_go_on(&sleeper);
	wait_until_ready(&sleeper);
	assert_false(find_sleeper(&sampling, sleeper.tid, &visit, &shown));
	ebpf_visit_end(visit);
	assert_int_equal(read_written(&sampling, sleeper.tid).ends, 0);
	assert_int_equal(ebpf_waiting_counts(sampling.waiting).samples, 0);
	/* What was waited until now does not count later either. */
	ebpf_waiting_enable(sampling.waiting, now_ns());
	end_sleeper(&sleeper);
	assert_true(read_written(&sampling, sleeper.tid).blocked_ns <= 2 * (uint64_t)INTERVAL_NS);
	stop_sampling(&sampling);
}

/* A child that sleeps and is killed: with no hook on the way to user code, its wait is charged all the same. */
static void test_who_is_killed_is_charged(void **state)
{
	struct sampling sampling;
	pid_t child;
	int status;

	start_sampling(&sampling, PLENTY);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		for (;;)
			pause();
	ebpf_process_set_add(sampling.processes, child);
	/* The programs meet it at its next switch, or here. */
	sleep_ns(50000000);
	assert_true(ebpf_waiting_meet(sampling.waiting, &(struct error){ 0 }));
	sleep_ns(8 * INTERVAL_NS);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(read_written(&sampling, child).blocked_ns >= 6 * (uint64_t)INTERVAL_NS);
	stop_sampling(&sampling);
}

/* A child that sleeps, with an id of its parent's choice; -1, with errno set. */
static pid_t fork_sleeper(pid_t pid)
{
	struct clone_args arguments = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1 };
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (child == 0)
		pause();
	return child;
}

static void end_child(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
}

/* Two children whose ids lead to one place of the table of threads. */
static bool fork_neighbours(pid_t children[2])
{
	for (pid_t pid = 2; pid < WAITING_PLACES; pid++) {
		children[0] = fork_sleeper(pid);
		children[1] = children[0] < 0 ? -1 : fork_sleeper(pid + WAITING_PLACES);
		if (children[1] >= 0)
			return true;
		if (children[0] >= 0)
			end_child(children[0]);
	}
	return false;
}

/* A process leaves its CPU for good a little after its parent knows that it has ended. */
static void expect_threads(const struct sampling *sampling, uint64_t threads)
{
	for (int i = 0; i < 1000 && ebpf_waiting_counts(sampling->waiting).threads != threads; i++)
		sleep_ns(10000000);
	assert_int_equal(ebpf_waiting_counts(sampling->waiting).threads, threads);
}

/* Each of them has its time, and so has who gets the place when it is free again. */
static void test_neighbours_in_the_table_have_their_time(void **state)
{
	struct sampling sampling;
	pid_t children[2];
	uint64_t threads;

	if (!fork_neighbours(children))
		skip(); /* that is a right of its own */
	start_sampling(&sampling, PLENTY);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	sleep_ns(INTERVAL_NS); /* this thread is met */
	threads = ebpf_waiting_counts(sampling.waiting).threads;
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 2; i++)
			ebpf_process_set_add(sampling.processes, children[i]);
		assert_true(ebpf_waiting_meet(sampling.waiting, &(struct error){ 0 }));
		expect_threads(&sampling, threads + 2);
		sleep_ns(8 * INTERVAL_NS);
		end_child(children[turn]);
		assert_true(read_written(&sampling, children[turn]).blocked_ns >= 6 * (uint64_t)INTERVAL_NS);
		expect_threads(&sampling, threads + 1);
		if (turn == 0)
			assert_int_equal(fork_sleeper(children[0]), children[0]);
	}
	end_child(children[0]);
	expect_threads(&sampling, threads);
	stop_sampling(&sampling);
}

/* For a user without rights, creating fails, and says what would help; nothing is printed. */
static void refuse_in_child(void)
{
	int outputs[1] = { -1 };
	struct ebpf_waiting_options options = { .interval_ns = INTERVAL_NS, .output = outputs, .cpu_count = 1 };
	struct ebpf_waiting *waiting = NULL;
	struct error err = { 0 };

	if (ebpf_waiting_create(&options, &waiting, &err) || waiting)
		_exit(2);
	_exit(err.code == ERROR_PERMISSION && strstr(err.message, "CAP_BPF and CAP_PERFMON") ? 0 : 3);
}

enum { MOST_SWITCHES = 4096 };

static int by_time(const void *a, const void *b)
{
	const struct ebpf_switch *x = a, *y = b;

	return ORDER(x->time_ns, y->time_ns);
}

/* Takes the switches of a thread, in their order, and returns how many there are. */
static size_t take_switches_of(struct sampling *sampling, pid_t tid, struct ebpf_switch taken[static MOST_SWITCHES])
{
	struct ebpf_switch some[7];
	size_t count = 0, got;

	while ((got = ebpf_waiting_take_switches(sampling->waiting, some, 7)) > 0)
		for (size_t i = 0; i < got; i++)
			if (some[i].tid == tid && count < MOST_SWITCHES)
				taken[count++] = some[i];
	qsort(taken, count, sizeof(taken[0]), by_time);
	return count;
}

/* A thread that begins after the programs do, sleeps, and ends: each switch is told once. */
static void test_switches_of_a_thread_alternate(void **state)
{
	enum { SLEEPS = 50, EACH_NS = 1000000 };
	struct ebpf_switch taken[MOST_SWITCHES];
	struct sampling sampling;
	struct sleeper sleeper;
	uint64_t off_ns = 0;
	bool is_first_told;
	size_t count;

	start_sampling(&sampling, PLENTY);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	start_sleeper(&sleeper, SLEEPS, EACH_NS);
	let_go_on(&sleeper);
	wait_until_ready(&sleeper);
	end_sleeper(&sleeper);
	/* Whoever waits for its end goes on before it has left its CPU for good. */
	sleep_ns(20000000);
	count = take_switches_of(&sampling, sleeper.tid, taken);
	assert_true(count >= 2 * SLEEPS);
	/* Kernels do not tell each switch. That of a thread which is not known yet is then not told here, too. */
	is_first_told = taken[0].is_on;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(taken[i].is_on, is_first_told ? i % 2 == 0 : i % 2 == 1);
		off_ns += i > 0 && taken[i].is_on ? taken[i].time_ns - taken[i - 1].time_ns : 0;
	}
	assert_false(taken[count - 1].is_on);
	assert_true(off_ns + SLEEPS * UINT64_C(20000) >= sleeper.waited_ns);
	assert_int_equal(ebpf_waiting_counts(sampling.waiting).switches_lost, 0);
	assert_int_equal(take_switches_of(&sampling, sleeper.tid, taken), 0);
	stop_sampling(&sampling);
}

static void test_a_refusal_says_what_would_help(void **state)
{
	expect_refusal(refuse_in_child);
}

/* Sampled when it goes on, and asked for while it is asleep. */
static void expect_peer(struct sampling *sampling, const struct peer_case *of)
{
	struct socket_waiter waiter = { .of = of };
	struct ebpf_polled polled = { .events = POLLIN };
	pthread_t thread;
	int ends[SOCKETS];
	char byte;

	of->connect(ends);
	if (ends[CONNECTED] < 0)
		return;
	waiter.fd = polled.descriptor = ends[of->end];
	assert_int_equal(write(waiter.fd, "?", 1), 1);
	assert_int_equal(pipe(waiter.ready), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_socket_waiter, &waiter), 0);
	assert_int_equal(read(waiter.ready[0], &byte, 1), 1);
	sleep_ns(4 * INTERVAL_NS);
	if (of->wait == wait_in_poll)
		assert_int_equal(ebpf_waiting_find_peer(sampling->waiting, (uint32_t)waiter.tid, &polled, 1), of->peer);
	assert_int_equal(write(ends[SOCKETS - 1 - of->end], "!", 1), 1);
	pthread_join(thread, NULL);
	assert_int_equal(read_written(sampling, waiter.tid).on_descriptor.peer, of->peer);
	for (size_t i = 0; i < SOCKETS; i++) {
		close(ends[i]);
		close(waiter.ready[i]);
	}
}

static void test_the_other_end_of_a_socket_is_known(void **state)
{
	struct sampling sampling;

	start_sampling(&sampling, PLENTY);
	ebpf_waiting_enable(sampling.waiting, now_ns());
	for (size_t i = 0; i < sizeof(peer_cases) / sizeof(peer_cases[0]); i++)
		expect_peer(&sampling, &peer_cases[i]);
	stop_sampling(&sampling);
}

/* ---- Accounts ---- */

enum { ROOM = 64, THREADS_OF_HOSTILE = 100, THREADS_OF_OTHER = 12, HOSTILE_USER = 54321 };

static void *wait_for_end(void *end)
{
	char byte;

	return read(*(int *)end, &byte, 1) == 0 ? NULL : end;
}

static void start_waiting_threads(pthread_t *threads, size_t count, int *end)
{
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, wait_for_end, end) != 0)
			abort();
}

static uint64_t met_threads(const struct sampling *sampling)
{
	return ebpf_waiting_counts(sampling->waiting).threads;
}

/* What waits already when its process becomes one of the target is met by a visit. */
static void meet_until_refused(const struct sampling *sampling, uint64_t times)
{
	struct error err;

	for (int i = 0; i < 10000 && ebpf_waiting_counts(sampling->waiting).threads_unknown < times; i++) {
		assert_true(ebpf_waiting_meet(sampling->waiting, &err));
		sleep_ns(1000000);
	}
}

/* One account has more threads than there is room for. All threads of another one are met beside it. */
static void test_an_account_has_a_share_of_the_threads(void **state)
{
	pthread_t threads[THREADS_OF_HOSTILE];
	struct sampling sampling;
	uint64_t before;
	int end[2];
	pid_t child;

	assert_int_equal(pipe2(end, O_CLOEXEC), 0);
	most_threads = ROOM;
	start_sampling(&sampling, PLENTY);
	most_threads = 0;
	child = fork();
	if (child == 0) {
		close(end[1]);
		if (setuid(HOSTILE_USER) != 0)
			_exit(1);
		start_waiting_threads(threads, THREADS_OF_HOSTILE, &end[0]);
		(void)wait_for_end(&end[0]);
		_exit(0);
	}
	ebpf_process_set_add(sampling.processes, child);
	meet_until_refused(&sampling, THREADS_OF_HOSTILE - ROOM / 2);
	before = met_threads(&sampling);
	assert_in_range(before, ROOM / 2, ROOM / 2 + 1);
	start_waiting_threads(threads, THREADS_OF_OTHER, &end[0]);
	for (int i = 0; i < 10000 && met_threads(&sampling) < before + THREADS_OF_OTHER; i++)
		sleep_ns(1000000);
	assert_in_range(met_threads(&sampling), before + THREADS_OF_OTHER, before + THREADS_OF_OTHER + 1);
	close(end[1]);
	for (size_t i = 0; i < THREADS_OF_OTHER; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* What they held is given back. */
	for (int i = 0; i < 10000 && met_threads(&sampling) > 1; i++)
		sleep_ns(1000000);
	assert_in_range(met_threads(&sampling), 0, 1);
	close(end[0]);
	stop_sampling(&sampling);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_an_account_has_a_share_of_the_threads),
	cmocka_unit_test(test_the_other_end_of_a_socket_is_known),
	cmocka_unit_test(test_short_waits_have_their_time),
	cmocka_unit_test(test_the_budget_loses_nothing),
	cmocka_unit_test(test_a_longer_interval_leaves_nothing_out),
	cmocka_unit_test(test_a_shorter_interval_adds_nothing),
	cmocka_unit_test(test_a_release_belongs_to_its_wait),
	cmocka_unit_test(test_who_never_wakes_is_charged),
	cmocka_unit_test(test_who_went_on_is_not_charged_for_it),
	cmocka_unit_test(test_nothing_counts_while_it_is_off),
	cmocka_unit_test(test_who_is_killed_is_charged),
	cmocka_unit_test(test_neighbours_in_the_table_have_their_time),
	cmocka_unit_test(test_switches_of_a_thread_alternate),
	cmocka_unit_test(test_a_refusal_says_what_would_help),
};

static bool find_hook(enum ebpf_waiting_hook *hook)
{
	int outputs[1] = { -1 };
	struct ebpf_waiting_options options = {
		.interval_ns = INTERVAL_NS, .output = outputs, .cpu_count = 1, .is_untraced = is_untraced
	};
	struct ebpf_waiting *waiting = NULL;
	struct error err;

	if (!ebpf_waiting_create(&options, &waiting, &err)) {
		fprintf(stderr, "waits cannot be sampled here: %s\n", err.message);
		return false;
	}
	*hook = ebpf_waiting_hook(waiting);
	ebpf_waiting_destroy(waiting);
	return true;
}

static int run_with_hook(enum ebpf_waiting_hook hook)
{
	static const char *const names[] = { [EBPF_WAITING_FENTRY] = "fentry",
		[EBPF_WAITING_KPROBE] = "kprobe",
		[EBPF_WAITING_RSEQ_UPDATE] = "rseq_update" };

	printf("hook: %s\n", names[hook]);
	return cmocka_run_group_tests_name("ebpf.waiting", tests, NULL, NULL);
}

int main(void)
{
	enum ebpf_waiting_hook hook;
	int failed;

	if (!find_hook(&hook))
		return 77;
	failed = run_with_hook(hook);
	if (hook != EBPF_WAITING_FENTRY)
		return failed;
	/* What comes next where there is no fentry finds the same. */
	is_untraced = true;
	return find_hook(&hook) ? failed + run_with_hook(hook) : 1;
}
