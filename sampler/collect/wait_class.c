/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/wait_class.h"

#include <linux/futex.h>
#include <string.h>

/*
 * The states of a thread (Linux, include/linux/sched.h), which are bits: newer kernels add some that say how a thread
 * sleeps (freezable, killable), so a state is never compared as a whole.
 */
enum {
	TASK_UNINTERRUPTIBLE = 0x2,
	TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
	TASK_NOLOAD = 0x400,
	TASK_RTLOCK_WAIT = 0x1000, /* kernels for real time: a lock of the kernel that spins elsewhere */
};

/* ---- Files ---- */

enum wait_file wait_file_of_link(const char *link)
{
	static const struct {
		const char *start;
		enum wait_file file;
	} kinds[] = {
		{ "socket:[", WAIT_FILE_SOCKET },
		{ "pipe:[", WAIT_FILE_PIPE },
		{ "anon_inode:[timerfd]", WAIT_FILE_TIMER },
		{ "anon_inode:[eventfd", WAIT_FILE_EVENT }, /* its number follows in newer kernels */
		{ "anon_inode:[signalfd]", WAIT_FILE_EVENT },
		{ "anon_inode:[eventpoll]", WAIT_FILE_EVENT },
		{ "anon_inode:[io_uring]", WAIT_FILE_EVENT },
		{ "anon_inode:[fanotify]", WAIT_FILE_EVENT },
		{ "anon_inode:[userfaultfd]", WAIT_FILE_EVENT },
		{ "anon_inode:inotify", WAIT_FILE_EVENT },
		{ "/dev/fuse", WAIT_FILE_EVENT }, /* requests to a file system in user space */
		{ "/dev/pts/", WAIT_FILE_TERMINAL },
		{ "/dev/tty", WAIT_FILE_TERMINAL },
		{ "/dev/console", WAIT_FILE_TERMINAL },
		{ "/dev/ptmx", WAIT_FILE_TERMINAL },
		{ "/", WAIT_FILE_DISK },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(link, kinds[i].start, strlen(kinds[i].start)) == 0)
			return kinds[i].file;
	return WAIT_FILE_UNKNOWN;
}

static enum profile_wait_class class_of_file(enum wait_file file)
{
	switch (file) {
	case WAIT_FILE_DISK:
	case WAIT_FILE_PIPE:
		return PROFILE_WAIT_IO;
	case WAIT_FILE_SOCKET:
		return PROFILE_WAIT_NETWORK;
	case WAIT_FILE_TIMER:
		return PROFILE_WAIT_TIMER;
	case WAIT_FILE_EVENT:
	case WAIT_FILE_TERMINAL:
		return PROFILE_WAIT_IDLE;
	case WAIT_FILE_UNKNOWN:
		break;
	}
	return PROFILE_WAIT_OTHER;
}

/* ---- System calls ---- */

/* PROFILE_WAIT_OTHER for calls of which more has to be known. */
static const uint8_t call_classes[MACHINE_CALL_COUNT] = {
	[MACHINE_CALL_OTHER] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_FUTEX] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_FUTEX_WAIT] = PROFILE_WAIT_LOCK,
	[MACHINE_CALL_FUTEX_WAITV] = PROFILE_WAIT_LOCK,
	[MACHINE_CALL_SEMAPHORE] = PROFILE_WAIT_LOCK,
	[MACHINE_CALL_FILE_LOCK] = PROFILE_WAIT_LOCK,
	[MACHINE_CALL_FILE_CONTROL] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_EVENTS] = PROFILE_WAIT_IDLE,
	[MACHINE_CALL_POLL] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_SELECT] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_ACCEPT] = PROFILE_WAIT_IDLE,
	[MACHINE_CALL_CHILD] = PROFILE_WAIT_IDLE,
	[MACHINE_CALL_SIGNAL] = PROFILE_WAIT_IDLE,
	[MACHINE_CALL_SLEEP] = PROFILE_WAIT_TIMER,
	[MACHINE_CALL_RECEIVE] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_SOCKET] = PROFILE_WAIT_NETWORK,
	[MACHINE_CALL_READ] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_FILE] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_PATH] = PROFILE_WAIT_IO,
	[MACHINE_CALL_SYNC] = PROFILE_WAIT_IO,
	[MACHINE_CALL_MEMORY] = PROFILE_WAIT_OTHER,
	[MACHINE_CALL_RESTART] = PROFILE_WAIT_OTHER,
};

static enum machine_call call_of(const struct machine *machine, const struct ebpf_wait *wait)
{
	return machine_call_of(machine, wait->system_call);
}

bool wait_is_futex(const struct machine *machine, const struct ebpf_wait *wait)
{
	enum machine_call call = call_of(machine, wait);

	if (call == MACHINE_CALL_FUTEX_WAIT)
		return true;
	if (call != MACHINE_CALL_FUTEX)
		return false;
	/*
	 * The command without the bits that say how it waits: private, by which clock. The kernel takes the lower half
	 * alone.
	 */
	switch ((int)(uint32_t)wait->arguments[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

bool wait_is_for_events(const struct machine *machine, const struct ebpf_wait *wait)
{
	enum machine_call call = call_of(machine, wait);

	return wait->state != 0 &&
	       (call == MACHINE_CALL_EVENTS || call == MACHINE_CALL_POLL || call == MACHINE_CALL_SELECT);
}

/* fcntl() waits for locks that other processes hold, those of a process or those of an open file. */
static bool is_file_lock(const struct ebpf_wait *wait)
{
	enum { SET_LOCK_AND_WAIT = 7, SET_OPEN_FILE_LOCK_AND_WAIT = 38 };

	uint32_t command = (uint32_t)wait->arguments[1];

	return command == SET_LOCK_AND_WAIT || command == SET_OPEN_FILE_LOCK_AND_WAIT;
}

static bool is_by_file(enum machine_call call, const struct ebpf_wait *wait)
{
	return call == MACHINE_CALL_FILE || call == MACHINE_CALL_READ ||
	       (call == MACHINE_CALL_FILE_CONTROL && !is_file_lock(wait));
}

bool wait_class_needs_file(const struct machine *machine, const struct ebpf_wait *wait)
{
	/* Only of sockets is it known who the other end is. */
	return wait->state != 0 && !(wait->state & TASK_UNINTERRUPTIBLE) && wait->peer == EBPF_PEER_UNKNOWN &&
	       is_by_file(call_of(machine, wait), wait);
}

enum ebpf_wait_descriptors wait_descriptors_of(const struct machine *machine, int64_t system_call)
{
	switch (machine_call_of(machine, system_call)) {
	case MACHINE_CALL_READ:
	case MACHINE_CALL_RECEIVE:
		return EBPF_READS_ONE;
	case MACHINE_CALL_POLL:
		return EBPF_POLLS;
	case MACHINE_CALL_SELECT:
		return EBPF_SELECTS;
	default:
		return EBPF_READS_NONE;
	}
}

/* poll() and select() without a descriptor are how programs sleep for less than a second. */
static bool is_of_no_descriptor(enum machine_call call, const struct ebpf_wait *wait)
{
	return (call == MACHINE_CALL_POLL && (uint32_t)wait->arguments[1] == 0) ||
	       (call == MACHINE_CALL_SELECT && (uint32_t)wait->arguments[0] == 0);
}

/*
 * Returns the class by the peer. A thread that reads, or polls before it reads, waits for the other end of a socket. A
 * client may have no request for as long as it likes: to wait for one is to wait for work. A call out was made because
 * the answer is needed. Where the other end is not known, reading a socket is the network, and polling is an event
 * loop.
 */
static enum profile_wait_class class_of_peer(enum machine_call call, const struct ebpf_wait *wait, enum wait_file file)
{
	bool polls = call == MACHINE_CALL_POLL || call == MACHINE_CALL_SELECT;

	switch ((enum ebpf_wait_peer)wait->peer) {
	case EBPF_PEER_CLIENT:
		return PROFILE_WAIT_IDLE;
	case EBPF_PEER_ANSWERED:
	case EBPF_PEER_CALLED:
		return PROFILE_WAIT_NETWORK;
	case EBPF_PEER_UNKNOWN:
		break;
	}
	if (polls)
		return is_of_no_descriptor(call, wait) ? PROFILE_WAIT_TIMER : PROFILE_WAIT_IDLE;
	return call == MACHINE_CALL_READ ? class_of_file(file) : PROFILE_WAIT_NETWORK;
}

/* A wait that no signal ends: for a disk, unless the call says that something else is more likely. */
static enum profile_wait_class class_of_uninterruptible(
	const struct machine *machine, const struct ebpf_wait *wait, enum machine_call call)
{
	if (wait->system_call < 0 || is_by_file(call, wait))
		return PROFILE_WAIT_IO;
	if (wait_descriptors_of(machine, wait->system_call) != EBPF_READS_NONE)
		return class_of_peer(call, wait, WAIT_FILE_UNKNOWN);
	return call == MACHINE_CALL_MEMORY || wait_is_futex(machine, wait) || call == MACHINE_CALL_FILE_CONTROL
		       ? PROFILE_WAIT_LOCK
		       : (enum profile_wait_class)call_classes[call];
}

enum profile_wait_class wait_class_of(const struct machine *machine, const struct ebpf_wait *wait, enum wait_file file)
{
	enum machine_call call = call_of(machine, wait);

	if (wait->state == 0)
		return PROFILE_WAIT_RUN_QUEUE;
	if (wait->state & TASK_STOPPED_OR_TRACED)
		return PROFILE_WAIT_OTHER;
	if (wait->state & TASK_RTLOCK_WAIT)
		return PROFILE_WAIT_LOCK;
	if (wait->state & TASK_UNINTERRUPTIBLE)
		/* Threads of the kernel that wait for work do not count as load. */
		return wait->state & TASK_NOLOAD ? PROFILE_WAIT_IDLE : class_of_uninterruptible(machine, wait, call);
	if (wait_is_futex(machine, wait) || (call == MACHINE_CALL_FILE_CONTROL && is_file_lock(wait)))
		return PROFILE_WAIT_LOCK;
	if (wait_descriptors_of(machine, wait->system_call) != EBPF_READS_NONE)
		return class_of_peer(call, wait, file);
	return is_by_file(call, wait) ? class_of_file(file) : (enum profile_wait_class)call_classes[call];
}
