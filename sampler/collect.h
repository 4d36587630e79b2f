/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process.h"
#include "sampler/sampler.h"
#include "sampler/stitch.h"

/* The user stack last seen on a CPU, root first. */
struct collector_recent {
	uint32_t locations[UNWIND_MAX_FRAMES], stacks[UNWIND_MAX_FRAMES];
	size_t count;
};

enum { COLLECTOR_RECENT = 16 }; /* CPUs share them */

/* From records to samples of the profile. */
struct collector {
	struct profile *profile; /* owned until taken */
	struct process_table processes;
	struct unwinder *unwinder;
	struct stitch_memory *stitches;
	struct collector_recent *recent; /* owned: COLLECTOR_RECENT of them */
	uint32_t run;
	uint64_t start_ns;       /* CLOCK_MONOTONIC; times of events count from here */
	bool has_stack;          /* records carry registers and stack */
	bool is_time;            /* the period is nanoseconds of CPU time */
	int64_t nominal_ns;      /* of CPU time that a sample stands for when the period is no time */
	uint64_t full_dumps_cut; /* stacks cut because more was there than the dump had room for */
	bool met_32bit;
};

struct collector_options {
	const char *event;
	bool is_time;
	bool counts_time; /* the event follows CPU time: cpu-clock, task-clock, cycles */
	bool has_stack;
	uint32_t frequency_hz;
	uint64_t start_ns;
	struct buffer *notices;
};

COMMON_MUST_CHECK
bool collector_init(struct collector *collector, const struct collector_options *options, struct error *err);
void collector_deinit(struct collector *collector);

/* One record, in order of time. */
COMMON_MUST_CHECK
bool collector_take(struct collector *collector, const struct record *record, bool from_sideband, struct error *err);
