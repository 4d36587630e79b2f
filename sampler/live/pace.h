/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The waiting time that a sample stands for, so that no more than PACE_BUDGET samples are written in a second. The
 * interval is doubled when the kernel put samples off, and halved when they have been few for seconds, down to the one
 * that was asked for and to one that leaves the budget a sample of each thread. Samples are few below a quarter of the
 * budget: with half the interval they are still below half of it.
 */
enum { PACE_BUDGET = 2000 };

struct pace {
	uint64_t asked_ns, interval_ns;
	uint64_t longest_ns; /* that the interval has been */
	uint32_t calm;       /* seconds with few samples, one after the other */
};

/* Returns the pace of a recording that begins with so many threads. */
struct pace pace_init(uint64_t asked_ns, size_t threads);

/* The counts since the interval was fitted last. */
struct pace_counts {
	uint64_t elapsed_ns, samples, deferred;
	uint64_t threads; /* that there are now */
};

/* Fits the interval; true if it has changed. To be called about once a second. */
bool pace_fit(struct pace *pace, const struct pace_counts *since);
