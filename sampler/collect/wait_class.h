/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "profile/profile.h"
#include "sampler/ebpf/ebpf.h"

/* The kind of file behind the descriptor that a system call waits on, by the text of the link /proc/PID/fd/N. */
enum wait_file {
	WAIT_FILE_UNKNOWN,
	WAIT_FILE_DISK, /* a file, a directory, a block device */
	WAIT_FILE_PIPE,
	WAIT_FILE_SOCKET,
	WAIT_FILE_EVENT,    /* eventfd, signalfd, epoll, inotify: an event loop's */
	WAIT_FILE_TIMER,    /* timerfd */
	WAIT_FILE_TERMINAL, /* a terminal: whoever types */
};

/* "socket:[812]", "pipe:[9]", "anon_inode:[eventfd]", "/dev/pts/3", "/var/lib/x": what kind that is. */
enum wait_file wait_file_of_link(const char *link);

/* Returns where a system call has the descriptors whose other end it waits for. */
enum ebpf_wait_descriptors wait_descriptors_of(const struct machine *machine, int64_t system_call);

/* Returns whether the class of a wait depends on the file behind its first argument. */
bool wait_class_needs_file(const struct machine *machine, const struct ebpf_wait *wait);

/*
 * Returns what a blocked thread waits for, by its state, its system call and who is at the other end of a socket: no
 * kernel symbols are needed. Time in which it was ready to run is PROFILE_WAIT_RUN_QUEUE, whatever it did before.
 * `file` WAIT_FILE_UNKNOWN: not known, or not needed.
 */
enum profile_wait_class wait_class_of(const struct machine *machine, const struct ebpf_wait *wait, enum wait_file file);

/* Returns whether the thread waits for any of several events, as an event loop does. */
bool wait_is_for_events(const struct machine *machine, const struct ebpf_wait *wait);

/* Returns whether the wait is one for a lock, whose address is wait->arguments[0]. */
bool wait_is_futex(const struct machine *machine, const struct ebpf_wait *wait);
