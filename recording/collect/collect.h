/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/collect/counters.h"
#include "recording/collect/live_stack.h"
#include "recording/collect/stack_builder.h"
#include "recording/collect/waits.h"
#include "recording/interpret/interpret.h"
#include "recording/process/process.h"
#include "recording/recording.h"
#include "recording/verify/verify.h"

/* The identity of a thread, valid until the sideband changes it. */
struct collector_who {
	int32_t pid, tid;
	uint64_t version;         /* of the process table */
	uint32_t process, thread; /* index in the process table; id in the profile */
};

/* A sample that is held until others arrive, so that their stacks are walked together. */
struct collector_held {
	struct record record;     /* borrows its bytes */
	uint32_t process, thread; /* index in the process table; id in the profile */
	struct ebpf_chain chain;  /* that the record has, if it has one */
};

enum { COLLECTOR_WHO = 64 }; /* size of the table; threads share its places */

/*
 * The rest of a stack copy of which only the top was read at first (record_sample.is_short). `held`: the sample's place
 * in struct collector.
 */
struct collector_rest {
	/* Reads all of the stack copy, because a walk of its top did not reach the thread's first frame. */
	bool (*read)(void *context, size_t held, struct record *record, struct error *err);
	/*
	 * Called with the bytes of the stack copy that a walk has used; UINT64_MAX: it did not reach the thread's first
	 * frame.
	 */
	void (*note_used)(void *context, uint64_t stack_bytes);
	void *context;
};

/* Turns records into samples of the profile. */
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
	struct interpreters *interpreters; /* NULL: stacks have no frames of interpreters */
	struct ebpf_chains *chains;        /* borrowed; NULL: none */
	struct wait_counter *waits;        /* NULL: waits are not sampled */
	struct counters *counters;         /* NULL: none are read with samples */
	struct verifier *verifier;         /* NULL: no verification with libunwind */
	uint32_t run;
	uint64_t start_ns;     /* CLOCK_MONOTONIC; times of events count from here */
	bool has_stack;        /* records carry registers and stack */
	bool is_time;          /* the period is nanoseconds of CPU time */
	uint32_t wall;         /* value type that has the CPU time as well; PROFILE_NONE: there is none */
	int64_t nominal_ns;    /* CPU time that a sample stands for if the period is not a time */
	uint64_t cut_by_room;  /* stacks cut because they were larger than the room for the copy */
	uint64_t cut_by_rules; /* stacks cut for another reason, such as code without unwind information */
	bool met_32bit;
	bool has_cuts; /* some stacks were cut, and may be completed by other stacks */
};

struct collector_options {
	const char *event;
	bool is_time;
	bool counts_time;                        /* the event follows CPU time: cpu-clock, task-clock, cycles */
	bool has_waits;                          /* waits are sampled too; only where counts_time */
	const struct counters_options *counters; /* that are read with each sample; NULL: none */
	bool has_stack;
	uint32_t frequency_hz;
	uint64_t start_ns;
	struct buffer *notices;
	const struct machine *machine; /* that stacks were recorded on; NULL: not known, and then has_stack is false */
	struct process_host host;
	bool names_interpreters;    /* stacks have the frames of interpreters; only of live processes */
	struct ebpf_chains *chains; /* borrowed; NULL: none */
	struct collector_rest rest; /* where samples may be short (struct record_sample); else {} */
	uint32_t verify_every;      /* one stack in so many is also unwound by libunwind; 0: none */
	bool verifier_may_wait;     /* the recorder may wait for libunwind, since no records are lost meanwhile */
};

COMMON_MUST_CHECK
bool collector_init(struct collector *collector, const struct collector_options *options, struct error *err);
void collector_deinit(struct collector *collector);

/* One record, in order of time. The bytes of a sample must stay as long as samples are held (held_count), or until the
 * flush. */
COMMON_MUST_CHECK
bool collector_take(struct collector *collector, const struct record *record, bool from_sideband, struct error *err);

/* Adds all held samples to the profile. */
COMMON_MUST_CHECK
bool collector_flush(struct collector *collector, struct error *err);

/* If verification was requested: waits for its end and hands the result over. Call it after all samples were added. */
COMMON_MUST_CHECK
bool collector_finish_verification(struct collector *collector, struct recording *result, struct error *err);
