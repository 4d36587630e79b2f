/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/tally.h"
#include "sampler/sampler.h"

/*
 * The count of an event that the user has named in place of requests. The kernel only counts it: there are no samples,
 * and no program.
 *
 *	SUBSYSTEM:NAME                      a tracepoint of the kernel
 *	uprobe:PATH:FUNCTION[+OFFSET]       a function of a program or library begins, or gets as far as this
 *	usdt:PATH:PROVIDER:NAME             a probe that a program or library declares (<sys/sdt.h>)
 */

/* A counter, of which a process may have several. */
struct work_counter {
	int fd;      /* owned */
	int32_t pid; /* 0: of a CPU */
};

struct work {
	struct work_counter *counters; /* owned; NULL: no event is counted */
	size_t counter_count, counter_capacity;
};

/*
 * Opens disabled counters for all threads that the target has, which whatever these start inherits; of the whole system
 * or of a control group, for each CPU. Fails, with a message that names the event, where it is not there
 * (ERROR_NOT_FOUND) or may not be counted (ERROR_PERMISSION).
 */
COMMON_MUST_CHECK
bool work_open(struct work *work, const struct sampler_options *options, int32_t child, struct error *err);
void work_close(struct work *work);

/* Turns all counters on or off. */
COMMON_MUST_CHECK
bool work_enable(struct work *work, bool enabled, struct error *err);

/* Reads them: what a process has counted, with all that it has started, or all CPUs as process 0. */
COMMON_MUST_CHECK
bool work_look(struct work *work, struct tally *tally, int64_t time_ns, struct error *err);
