/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/wait_class.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* States as include/linux/sched.h has them. */
enum {
	RUNNING = 0,
	INTERRUPTIBLE = 0x1,
	UNINTERRUPTIBLE = 0x2,
	STOPPED = 0x100 | 0x4,
	TRACED = 0x8,
	PARKED = 0x40,
	WAKEKILL = 0x100,
	NOLOAD = 0x400,
	RTLOCK_WAIT = 0x1000,
	FREEZABLE = 0x2000,
};

/* System calls of x86-64. */
enum {
	READ = 0,
	WRITE = 1,
	OPEN = 2,
	POLL = 7,
	MMAP = 9,
	BRK = 12,
	SELECT = 23,
	PAUSE = 34,
	NANOSLEEP = 35,
	CONNECT = 42,
	ACCEPT = 43,
	SENDTO = 44,
	RECVFROM = 45,
	EXIT = 60,
	WAIT4 = 61,
	SEMOP = 65,
	FCNTL = 72,
	FLOCK = 73,
	FSYNC = 74,
	RT_SIGTIMEDWAIT = 128,
	FUTEX = 202,
	RESTART_SYSCALL = 219,
	SEMTIMEDOP = 220,
	CLOCK_NANOSLEEP = 230,
	EPOLL_WAIT = 232,
	WAITID = 247,
	OPENAT = 257,
	PSELECT6 = 270,
	PPOLL = 271,
	EPOLL_PWAIT = 281,
	ACCEPT4 = 288,
	PREADV = 295,
	IO_URING_ENTER = 426,
	EPOLL_PWAIT2 = 441,
	FUTEX_WAITV = 449,
	FUTEX_WAKE = 454,
	FUTEX_WAIT = 455,
	HIGHEST = 500,
};

static const struct machine *x86_64(void)
{
	return machine_of(EM_X86_64);
}

static enum profile_wait_class class_of(uint32_t wait_state, int64_t system_call, uint64_t second, enum wait_file file)
{
	const struct ebpf_wait wait = { .state = wait_state, .system_call = system_call, .arguments = { 3, second } };

	return wait_class_of(x86_64(), &wait, file);
}

/* ---- Files ---- */

static void links_tell_what_a_descriptor_is(void **state)
{
	static const struct {
		const char *link;
		enum wait_file file;
	} cases[] = {
		{ "socket:[812]", WAIT_FILE_SOCKET },
		{ "pipe:[9]", WAIT_FILE_PIPE },
		{ "anon_inode:[eventfd]", WAIT_FILE_EVENT },
		{ "anon_inode:[eventfd:12]", WAIT_FILE_EVENT },
		{ "anon_inode:[eventpoll]", WAIT_FILE_EVENT },
		{ "anon_inode:[signalfd]", WAIT_FILE_EVENT },
		{ "anon_inode:[io_uring]", WAIT_FILE_EVENT },
		{ "anon_inode:inotify", WAIT_FILE_EVENT },
		{ "/dev/fuse", WAIT_FILE_EVENT },
		{ "anon_inode:[timerfd]", WAIT_FILE_TIMER },
		{ "/dev/pts/3", WAIT_FILE_TERMINAL },
		{ "/dev/tty1", WAIT_FILE_TERMINAL },
		{ "/var/lib/x", WAIT_FILE_DISK },
		{ "/var/lib/x (deleted)", WAIT_FILE_DISK },
		{ "/dev/sda", WAIT_FILE_DISK },
		{ "anon_inode:[pidfd]", WAIT_FILE_UNKNOWN },
		{ "net:[4026531840]", WAIT_FILE_UNKNOWN },
		{ "", WAIT_FILE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(wait_file_of_link(cases[i].link), cases[i].file);
}

/* The links that this machine's kernel gives. */
static void descriptors_of_this_process_are_known(void **state)
{
	static const enum wait_file files[] = { WAIT_FILE_PIPE, WAIT_FILE_SOCKET, WAIT_FILE_EVENT, WAIT_FILE_EVENT,
		WAIT_FILE_EVENT, WAIT_FILE_TIMER, WAIT_FILE_DISK };
	int pipes[2], sockets[2], fds[7];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	fds[0] = pipes[0];
	fds[1] = sockets[0];
	fds[2] = eventfd(0, 0);
	fds[3] = epoll_create1(0);
	fds[4] = inotify_init();
	fds[5] = timerfd_create(CLOCK_MONOTONIC, 0);
	fds[6] = open("/", O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		char path[64], link[256] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[i]);
		assert_true(readlink(path, link, sizeof(link) - 1) > 0);
		if (wait_file_of_link(link) != files[i])
			fail_msg("%s is not of kind %d", link, files[i]);
		close(fds[i]);
	}
	close(pipes[1]);
	close(sockets[1]);
}

static void reading_waits_for_what_the_descriptor_is(void **state)
{
	static const struct {
		enum wait_file file;
		enum profile_wait_class wait_class;
	} cases[] = {
		{ WAIT_FILE_UNKNOWN, PROFILE_WAIT_OTHER },
		{ WAIT_FILE_DISK, PROFILE_WAIT_IO },
		{ WAIT_FILE_PIPE, PROFILE_WAIT_IO },
		{ WAIT_FILE_SOCKET, PROFILE_WAIT_NETWORK },
		{ WAIT_FILE_EVENT, PROFILE_WAIT_IDLE },
		{ WAIT_FILE_TIMER, PROFILE_WAIT_TIMER },
		{ WAIT_FILE_TERMINAL, PROFILE_WAIT_IDLE },
	};
	static const int64_t calls[] = { READ, WRITE, PREADV };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
			assert_int_equal(class_of(INTERRUPTIBLE, calls[k], 0, cases[i].file), cases[i].wait_class);
}

/* ---- System calls ---- */

/* What an interruptible thread waits for in a call, where no file is known. All other calls are PROFILE_WAIT_OTHER. */
static const struct {
	int64_t system_call;
	enum profile_wait_class wait_class;
} plain_calls[] = {
	{ FUTEX_WAITV, PROFILE_WAIT_LOCK },
	{ FUTEX_WAIT, PROFILE_WAIT_LOCK },
	{ SEMOP, PROFILE_WAIT_LOCK },
	{ SEMTIMEDOP, PROFILE_WAIT_LOCK },
	{ FLOCK, PROFILE_WAIT_LOCK },
	{ EPOLL_WAIT, PROFILE_WAIT_IDLE },
	{ EPOLL_PWAIT, PROFILE_WAIT_IDLE },
	{ EPOLL_PWAIT2, PROFILE_WAIT_IDLE },
	{ POLL, PROFILE_WAIT_TIMER },  /* of no descriptor */
	{ PPOLL, PROFILE_WAIT_TIMER }, /* likewise */
	{ SELECT, PROFILE_WAIT_IDLE },
	{ PSELECT6, PROFILE_WAIT_IDLE },
	{ IO_URING_ENTER, PROFILE_WAIT_IDLE },
	{ ACCEPT, PROFILE_WAIT_IDLE },
	{ ACCEPT4, PROFILE_WAIT_IDLE },
	{ RT_SIGTIMEDWAIT, PROFILE_WAIT_IDLE },
	{ PAUSE, PROFILE_WAIT_IDLE },
	{ WAIT4, PROFILE_WAIT_IDLE },
	{ WAITID, PROFILE_WAIT_IDLE },
	{ NANOSLEEP, PROFILE_WAIT_TIMER },
	{ CLOCK_NANOSLEEP, PROFILE_WAIT_TIMER },
	{ CONNECT, PROFILE_WAIT_NETWORK },
	{ SENDTO, PROFILE_WAIT_NETWORK },
	{ RECVFROM, PROFILE_WAIT_NETWORK },
	{ FSYNC, PROFILE_WAIT_IO },
	{ OPEN, PROFILE_WAIT_IO },
	{ OPENAT, PROFILE_WAIT_IO },
	{ RESTART_SYSCALL, PROFILE_WAIT_OTHER },
	{ MMAP, PROFILE_WAIT_OTHER },
	{ EXIT, PROFILE_WAIT_OTHER },
	{ FUTEX_WAKE, PROFILE_WAIT_OTHER },
	{ HIGHEST, PROFILE_WAIT_OTHER },
	{ INT64_MAX, PROFILE_WAIT_OTHER },
	{ -1, PROFILE_WAIT_OTHER },
	{ EBPF_WAIT_NO_CALL, PROFILE_WAIT_OTHER },
	{ INT64_MIN, PROFILE_WAIT_OTHER },
};

static void calls_tell_what_a_thread_waits_for(void **state)
{
	for (size_t i = 0; i < sizeof(plain_calls) / sizeof(plain_calls[0]); i++) {
		int64_t call = plain_calls[i].system_call;

		/* Newer kernels add bits to the state. */
		assert_int_equal(class_of(INTERRUPTIBLE, call, 0, WAIT_FILE_UNKNOWN), plain_calls[i].wait_class);
		assert_int_equal(
			class_of(INTERRUPTIBLE | FREEZABLE, call, 0, WAIT_FILE_UNKNOWN), plain_calls[i].wait_class);
		assert_int_equal(class_of(RUNNING, call, 0, WAIT_FILE_UNKNOWN), PROFILE_WAIT_RUN_QUEUE);
	}
}

/* Whoever polls before it reads waits for the same as who reads at once. */
static void who_is_at_the_other_end_decides(void **state)
{
	static const enum profile_wait_class classes[] = {
		[EBPF_PEER_CLIENT] = PROFILE_WAIT_IDLE,
		[EBPF_PEER_ANSWERED] = PROFILE_WAIT_NETWORK,
		[EBPF_PEER_CALLED] = PROFILE_WAIT_NETWORK,
	};
	static const int64_t calls[] = { READ, RECVFROM, POLL, PPOLL, SELECT, PSELECT6 };

	for (uint32_t peer = EBPF_PEER_CLIENT; peer <= EBPF_PEER_CALLED; peer++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
			struct ebpf_wait wait = {
				.state = INTERRUPTIBLE, .system_call = calls[i], .arguments = { 3, 1 }, .peer = peer
			};

			assert_int_equal(wait_class_of(x86_64(), &wait, WAIT_FILE_UNKNOWN), classes[peer]);
			assert_false(wait_class_needs_file(x86_64(), &wait));
			wait.state = RUNNING;
			assert_int_equal(wait_class_of(x86_64(), &wait, WAIT_FILE_UNKNOWN), PROFILE_WAIT_RUN_QUEUE);
		}
}

/* poll() and select() without a descriptor sleep; with several, none of which tells, they are event loops. */
static void polling_nothing_is_sleeping(void **state)
{
	const struct ebpf_wait nothing = { .state = INTERRUPTIBLE, .system_call = PSELECT6 };

	assert_int_equal(wait_class_of(x86_64(), &nothing, WAIT_FILE_UNKNOWN), PROFILE_WAIT_TIMER);
	assert_int_equal(class_of(INTERRUPTIBLE, POLL, 0, WAIT_FILE_UNKNOWN), PROFILE_WAIT_TIMER);
	assert_int_equal(class_of(INTERRUPTIBLE, POLL, 2, WAIT_FILE_UNKNOWN), PROFILE_WAIT_IDLE);
	assert_int_equal(class_of(INTERRUPTIBLE, PPOLL, 1, WAIT_FILE_UNKNOWN), PROFILE_WAIT_IDLE);
}

/* Every number has a class in every state, and only calls that read a descriptor need one. */
static void every_call_has_a_class(void **state)
{
	static const uint32_t states[] = { RUNNING, INTERRUPTIBLE, UNINTERRUPTIBLE, UNINTERRUPTIBLE | WAKEKILL,
		INTERRUPTIBLE | FREEZABLE, STOPPED, TRACED, PARKED, UNINTERRUPTIBLE | NOLOAD, UINT32_MAX };
	size_t with_file = 0;

	for (int64_t call = -2; call <= HIGHEST; call++) {
		const struct ebpf_wait wait = { .state = INTERRUPTIBLE, .system_call = call };

		with_file += wait_class_needs_file(x86_64(), &wait);
		for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
			for (int file = 0; file <= WAIT_FILE_TERMINAL; file++)
				assert_in_range(
					class_of(states[i], call, 0, (enum wait_file)file), 0, PROFILE_WAIT_OTHER);
		if (!wait_class_needs_file(x86_64(), &wait))
			assert_int_equal(class_of(INTERRUPTIBLE, call, 0, WAIT_FILE_UNKNOWN),
				class_of(INTERRUPTIBLE, call, 0, WAIT_FILE_SOCKET));
	}
	/* 33 calls that have a descriptor first, and fcntl. */
	assert_int_equal(with_file, 34);
}

static void a_descriptor_is_looked_at_only_where_it_decides(void **state)
{
	static const struct {
		uint32_t wait_state;
		int64_t system_call;
		uint64_t second;
		bool needs_file;
	} cases[] = {
		{ INTERRUPTIBLE, READ, 0, true },
		{ INTERRUPTIBLE | FREEZABLE, WRITE, 0, true },
		{ RUNNING, READ, 0, false },
		{ UNINTERRUPTIBLE, READ, 0, false },
		{ INTERRUPTIBLE, RECVFROM, 0, false },
		{ INTERRUPTIBLE, FCNTL, 1, true },
		{ INTERRUPTIBLE, FCNTL, 7, false },
		{ INTERRUPTIBLE, FUTEX, 0, false },
		{ INTERRUPTIBLE, -1, 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ebpf_wait wait = { .state = cases[i].wait_state,
			.system_call = cases[i].system_call,
			.arguments = { 3, cases[i].second } };

		assert_int_equal(wait_class_needs_file(x86_64(), &wait), cases[i].needs_file);
	}
}

/* ---- Locks ---- */

/* All operations of futex() with all ways to do them, by linux/futex.h. */
static void futex_waits_by_its_operation(void **state)
{
	enum { PRIVATE = 128, CLOCK_REALTIME_FLAG = 256, OPERATIONS = 14 };
	static const bool waits[OPERATIONS] = { [0] = true, [6] = true, [9] = true, [11] = true, [13] = true };
	static const uint64_t ways[] = { 0, PRIVATE, CLOCK_REALTIME_FLAG, PRIVATE | CLOCK_REALTIME_FLAG,
		(uint64_t)0xdead << 32 | PRIVATE };

	for (uint64_t operation = 0; operation < OPERATIONS; operation++)
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			const struct ebpf_wait wait = { .state = INTERRUPTIBLE | FREEZABLE,
				.system_call = FUTEX,
				.arguments = { 0x7f00, operation | ways[i] } };

			assert_int_equal(wait_is_futex(x86_64(), &wait), waits[operation]);
			assert_int_equal(wait_class_of(x86_64(), &wait, WAIT_FILE_UNKNOWN),
				waits[operation] ? PROFILE_WAIT_LOCK : PROFILE_WAIT_OTHER);
		}
}

static void only_one_futex_has_its_address_in_the_first_argument(void **state)
{
	static const struct {
		int64_t system_call;
		bool is_futex;
	} cases[] = { { FUTEX, true }, { FUTEX_WAIT, true }, { FUTEX_WAITV, false }, { SEMOP, false }, { READ, false },
		{ -1, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ebpf_wait wait = { .state = INTERRUPTIBLE, .system_call = cases[i].system_call };

		assert_int_equal(wait_is_futex(x86_64(), &wait), cases[i].is_futex);
	}
}

static void locks_on_files_are_locks(void **state)
{
	assert_int_equal(class_of(INTERRUPTIBLE, FCNTL, 7, WAIT_FILE_UNKNOWN), PROFILE_WAIT_LOCK);
	assert_int_equal(class_of(INTERRUPTIBLE, FCNTL, 38, WAIT_FILE_DISK), PROFILE_WAIT_LOCK);
	assert_int_equal(class_of(INTERRUPTIBLE, FCNTL, 1, WAIT_FILE_DISK), PROFILE_WAIT_IO);
}

/* ---- States ---- */

static void an_uninterruptible_wait_is_for_a_disk_unless_the_call_says_otherwise(void **state)
{
	static const struct {
		int64_t system_call;
		enum profile_wait_class wait_class;
	} cases[] = {
		{ -1, PROFILE_WAIT_IO }, /* a page fault */
		{ EBPF_WAIT_NO_CALL, PROFILE_WAIT_IO },
		{ READ, PROFILE_WAIT_IO },
		{ WRITE, PROFILE_WAIT_IO },
		{ OPENAT, PROFILE_WAIT_IO },
		{ FSYNC, PROFILE_WAIT_IO },
		{ FCNTL, PROFILE_WAIT_IO },
		{ MMAP, PROFILE_WAIT_LOCK },
		{ BRK, PROFILE_WAIT_LOCK },
		{ FUTEX, PROFILE_WAIT_LOCK },
		{ SENDTO, PROFILE_WAIT_NETWORK },
		{ EXIT, PROFILE_WAIT_OTHER },
		{ RESTART_SYSCALL, PROFILE_WAIT_OTHER },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			class_of(UNINTERRUPTIBLE, cases[i].system_call, 0, WAIT_FILE_SOCKET), cases[i].wait_class);
		assert_int_equal(class_of(UNINTERRUPTIBLE | WAKEKILL, cases[i].system_call, 0, WAIT_FILE_UNKNOWN),
			cases[i].wait_class);
		/* A thread of the kernel that waits for work. */
		assert_int_equal(class_of(UNINTERRUPTIBLE | NOLOAD, cases[i].system_call, 0, WAIT_FILE_UNKNOWN),
			PROFILE_WAIT_IDLE);
	}
}

static void a_stopped_thread_waits_for_what_no_call_says(void **state)
{
	assert_int_equal(class_of(STOPPED, FUTEX, 0, WAIT_FILE_UNKNOWN), PROFILE_WAIT_OTHER);
	assert_int_equal(class_of(TRACED, EPOLL_WAIT, 0, WAIT_FILE_UNKNOWN), PROFILE_WAIT_OTHER);
	assert_int_equal(class_of(PARKED, -1, 0, WAIT_FILE_UNKNOWN), PROFILE_WAIT_OTHER);
	assert_int_equal(class_of(RTLOCK_WAIT, -1, 0, WAIT_FILE_UNKNOWN), PROFILE_WAIT_LOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_tell_what_a_descriptor_is),
		cmocka_unit_test(descriptors_of_this_process_are_known),
		cmocka_unit_test(reading_waits_for_what_the_descriptor_is),
		cmocka_unit_test(calls_tell_what_a_thread_waits_for),
		cmocka_unit_test(who_is_at_the_other_end_decides),
		cmocka_unit_test(polling_nothing_is_sleeping),
		cmocka_unit_test(every_call_has_a_class),
		cmocka_unit_test(a_descriptor_is_looked_at_only_where_it_decides),
		cmocka_unit_test(futex_waits_by_its_operation),
		cmocka_unit_test(only_one_futex_has_its_address_in_the_first_argument),
		cmocka_unit_test(locks_on_files_are_locks),
		cmocka_unit_test(an_uninterruptible_wait_is_for_a_disk_unless_the_call_says_otherwise),
		cmocka_unit_test(a_stopped_thread_waits_for_what_no_call_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
