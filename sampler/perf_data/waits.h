/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/switches.h"

/*
 * Waits in perf.data files. Every wait that perf recorded counts with its own time.
 *
 *	PERF_DATA_OFF_CPU   `perf record --off-cpu`: a sample's period is the time for which a thread waited at a stack.
 *	                    Until perf 6.15, and for waits below --off-cpu-thresh after that, they stand at the end of
 *	                    the file, with times that are none.
 *	PERF_DATA_SWITCHES  `-e sched:sched_switch -g` or `-e context-switches -g`: a sample is taken where a thread
 *	                    leaves its CPU. PERF_RECORD_SWITCH (--switch-events) says that it runs again, or the thread
 *	                    that follows in another record of sched_switch does (-a).
 *
 * Its state alone says what a thread waited for; functions of the stack say more when they have names
 * (symbolize_waits()).
 */

struct perf_data;
struct perf_data_event;

enum perf_data_waits { PERF_DATA_NO_WAITS, PERF_DATA_OFF_CPU, PERF_DATA_SWITCHES };

/* Returns what the samples of an event can tell of waits. */
enum perf_data_waits perf_data_waits_of(const struct perf_data_event *event);

/* Returns whether a metric is one of waits: off-cpu, idle. NULL is none. */
bool perf_data_waits_are_wanted(const char *metric);

/* Takes a sample, or that a thread leaves a CPU or runs again, while waits are read. */
COMMON_MUST_CHECK
bool perf_data_waits_take_sample(
	struct perf_data *data, const struct queued_record *queued, struct record *record, struct error *err);
COMMON_MUST_CHECK
bool perf_data_waits_take_switch(struct perf_data *data, const struct record *record, struct error *err);

/* Waits that last at the end of the file are charged up to then. */
COMMON_MUST_CHECK
bool perf_data_waits_finish(struct perf_data *data, struct error *err);
