/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/state.h"

/*
 * The way of sampling follows what the target turns out to be. An event's attributes are fixed when it is opened, so
 * each change opens all events anew; both sets are there for a moment, and no mapping is missed.
 *
 * - When many stacks are deeper than their dump, more of the stack is copied.
 * - When stacks are cut, the kernel is asked for its own chains of frame pointers too, which take the target time.
 * - When threads are born by the hundred a second, or processes by the dozen, one event per CPU with a filter takes the
 * place of events that all of them inherit: those make a thread twice as costly to create, and who lives for less than
 * a period is never sampled, since its clock starts with it.
 * - Where that is not permitted, clocks are kept apart, so that who starts them is sampled as it should be.
 */
void sampler_adapt_init(struct sampler *sampler);

/* Adapts to what was drained last, at a time by the clock of the records. What cannot be changed stays as it is. */
COMMON_MUST_CHECK
bool sampler_adapt(struct sampler *sampler, uint64_t clock_ns, struct error *err);

/* Returns how long to wait for samples at most: less at the beginning, when it is not known whether stacks are deep. */
int sampler_adapt_timeout(const struct sampler *sampler, uint64_t clock_ns, int timeout_ms);
