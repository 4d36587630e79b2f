/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/collect/live_stack.h"
#include "sampler/collect/open_ends.h"
#include "sampler/collect/stack_builder.h"
#include "sampler/collect/stack_depths.h"
#include "sampler/collect/switch_log.h"
#include "sampler/collect/waits.h"
#include "sampler/interpret/interpret.h"
#include "sampler/verify/verify.h"

/* The state of a collector, for the files of sampler/collect/ alone. */

/* The identity of a thread, valid until the sideband changes it. */
struct collector_who {
	int32_t pid, tid;
	uint64_t version;         /* of the process table */
	uint32_t process, thread; /* index in the process table; id in the profile */
};

/* A sample that is held until others arrive, so that their stacks are walked together. */
struct collector_held {
	struct record record;       /* borrows its bytes */
	uint32_t process, thread;   /* index in the process table; id in the profile */
	struct ebpf_frames frames;  /* that the record has, if it has one */
	struct ebpf_frames returns; /* return addresses that the kernel has replaced */
};

enum { COLLECTOR_WHO = 64 }; /* size of the table; threads share its places */

struct collector {
	struct profile *profile; /* owned until taken */
	struct process_table processes;
	struct unwinder *unwinder;
	struct stitch_memory *stitches;
	struct stack_builder *builder;
	struct collector_who who[COLLECTOR_WHO];
	struct collector_held held[UNWIND_TOGETHER];
	size_t held_count;
	struct collector_rest rest;
	struct live_stack live_stack;
	struct open_ends open_ends;
	struct stack_depths depths;
	struct interpreters *interpreters;      /* NULL: stacks have no frames of interpreters */
	struct ebpf_frame_reader *frame_reader; /* borrowed; NULL: none */
	bool expects_returns;                   /* the frame reader was told of return probes */
	struct wait_counter *waits;             /* NULL: waits are not sampled */
	struct switch_log *switches;            /* NULL: elapsed time is not shared out */
	struct counters *counters;              /* NULL: none are read with samples */
	struct verifier *verifier;              /* NULL: no verification with libunwind */
	uint32_t run;
	uint64_t start_ns;  /* CLOCK_MONOTONIC; times of events count from here */
	bool has_stack;     /* records carry registers and stack */
	bool is_time;       /* the period is nanoseconds of CPU time */
	uint32_t wall;      /* value type that has the CPU time as well; PROFILE_NONE: there is none */
	int64_t nominal_ns; /* CPU time that a sample stands for if the period is not a time */
	struct collector_cuts cuts;
	bool met_32bit;
	uint64_t moved; /* samples that collector_doubt() has counted */
	bool has_cuts;  /* some stacks were cut, and may be completed by other stacks */
};
