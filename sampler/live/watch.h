/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/event.h"
#include "sampler/process/process.h"

/* A process whose end is waited for. */
struct watched_process {
	pid_t pid;
	int pidfd;      /* owned; -1: an old kernel, or the process has ended */
	bool has_ended; /* its pidfd has reported the end */
};

/* Waits for samples, for the end of the target's processes, and for the owner's descriptor. */
struct sampler_watch {
	int epoll;      /* owned */
	int wake_fd;    /* the owner's, as registered now; -1: none */
	int longest_ms; /* no ring is full before that time; 0: rings wake the recorder when they fill */
	struct watched_process *processes; /* owned; NULL: not made */
	size_t process_count;
};

/* `pids`: the processes whose end ends the recording; none for a whole system. */
COMMON_MUST_CHECK
bool watch_init(struct sampler_watch *watch, const struct event_set *events, const pid_t *pids, size_t pid_count,
	struct error *err);
void watch_deinit(struct sampler_watch *watch);

/* Waits for another descriptor too. */
COMMON_MUST_CHECK
bool watch_add(struct sampler_watch *watch, int fd, struct error *err);

/* Returns when there is something to do, or after the time. A signal is not an error. */
COMMON_MUST_CHECK
bool watch_wait(struct sampler_watch *watch, int timeout_ms, int wake_fd, struct error *err);

/* Returns whether the `index`-th of the watched processes has ended. */
bool watch_has_ended(struct sampler_watch *watch, size_t index);

/* Returns whether the watched processes have ended, and every other process of the table with them. */
bool watch_all_ended(struct sampler_watch *watch, const struct process_table *table);
