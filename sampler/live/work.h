/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/work_places.h"

/*
 * An event that the user has named in place of requests.
 *
 *	SUBSYSTEM:NAME                      a tracepoint of the kernel
 *	uprobe:PATH:FUNCTION[+OFFSET]       a function of a program or library begins, or gets as far as this
 *	usdt:PATH:PROVIDER:NAME             a probe that a program or library declares (<sys/sdt.h>)
 *
 * The kernel has one event for all threads, which a program of ours counts for those of the target: what threads
 * inherit is made anew at each fork, and for an event of a file the kernel then reads the file's name from the memory
 * of whoever forks, so that fork() fails.
 */
struct work {
	int events[WORK_MOST_PLACES]; /* owned, until somebody takes them: descriptors of perf events, one for each
					 place */
	size_t count;
	bool are_tracepoints;
};

/* Opens the event. Fails, with a message that names it, where it is not there or may not be counted. */
COMMON_MUST_CHECK
bool work_open(struct work *work, const char *text, struct error *err);
void work_close(struct work *work);
