/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process.h"
#include "sampler/sampler.h"
#include "sampler/stitch.h"

/* The user stack of a thread when it was last seen, root first. */
struct collector_recent {
	uint32_t locations[UNWIND_MAX_FRAMES], stacks[UNWIND_MAX_FRAMES];
	size_t count;
};

/* Who a thread is, as long as the sideband tells nothing new. */
struct collector_who {
	int32_t pid, tid;
	uint64_t version;         /* of the process table */
	uint32_t process, thread; /* index in the process table; id in the profile */
};

/* A step that stacks took lately: the profile's own index is too large to stay in the cache. */
struct collector_step {
	uint64_t frame;         /* a location, or an address of the kernel, which no location's id is like */
	uint32_t parent, stack; /* stack 0: none */
};

enum { COLLECTOR_RECENT = 32, COLLECTOR_WHO = 64, COLLECTOR_STEP_BITS = 13 }; /* threads share places */

/* From records to samples of the profile. */
struct collector {
	struct profile *profile; /* owned until taken */
	struct process_table processes;
	struct unwinder *unwinder;
	struct stitch_memory *stitches;
	struct collector_recent *recent; /* owned: COLLECTOR_RECENT of them */
	struct collector_step *steps;    /* owned: 1 << COLLECTOR_STEP_BITS of them */
	struct collector_who who[COLLECTOR_WHO];
	uint32_t run;
	uint64_t start_ns;         /* CLOCK_MONOTONIC; times of events count from here */
	bool has_stack;            /* records carry registers and stack */
	bool is_time;              /* the period is nanoseconds of CPU time */
	int64_t nominal_ns;        /* of CPU time that a sample stands for when the period is no time */
	uint64_t full_dumps_cut;   /* stacks cut because more was there than the dump had room for */
	uint64_t last_depth_bytes; /* of the stack unwound last, from its first frame to its last */
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
	const struct process_files *files; /* of a recording of another time; NULL: of the processes as they run */
};

COMMON_MUST_CHECK
bool collector_init(struct collector *collector, const struct collector_options *options, struct error *err);
void collector_deinit(struct collector *collector);

/* One record, in order of time. */
COMMON_MUST_CHECK
bool collector_take(struct collector *collector, const struct record *record, bool from_sideband, struct error *err);
