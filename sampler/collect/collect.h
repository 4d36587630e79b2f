/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/counters.h"
#include "sampler/process/process.h"
#include "sampler/process/remaps.h"
#include "sampler/recording.h"

/* Turns records into samples of the profile. One thread uses a collector. */
struct collector;

/*
 * The rest of a stack copy of which only the top was read at first (record_sample.is_short). `held`: the sample's
 * number among those that the collector holds.
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

struct collector_options {
	const char *event;
	bool is_time;
	bool counts_time; /* the event follows CPU time: cpu-clock, task-clock, cycles */
	bool has_waits;   /* waits are sampled too; only where counts_time */
	bool has_elapsed; /* the elapsed time is shared out, as records of switches tell; only where has_waits */
	const struct counters_options *counters; /* that are read with each sample; NULL: none */
	bool has_stack;
	uint32_t frequency_hz;
	uint64_t start_ns;
	struct buffer *notices;
	const struct machine *machine; /* that stacks were recorded on; NULL: not known, and then has_stack is false */
	struct process_host host;
	bool names_interpreters;                /* stacks have the frames of interpreters; only of live processes */
	struct ebpf_frame_reader *frame_reader; /* borrowed; NULL: none */
	struct collector_rest rest;             /* where samples may be short (struct record_sample); else {} */
	uint32_t verify_every;                  /* one stack in so many is also unwound by libunwind; 0: none */
	bool verifier_may_wait; /* the recorder may wait for libunwind, since no records are lost meanwhile */
};

/* Owned by the caller. The options are read here only. */
COMMON_MUST_CHECK
bool collector_create(const struct collector_options *options, struct collector **collector, struct error *err);
void collector_destroy(struct collector *collector); /* NULL is allowed */

/* The profile that is filled, borrowed; it has one run of this number. */
struct profile *collector_profile(const struct collector *collector);
uint32_t collector_run(const struct collector *collector);

/*
 * A thread gets a CPU at a time by the clock of the records, or leaves it, where no records of switches tell; `count`
 * of such switches are missing. Of no use where elapsed time is not shared out.
 */
COMMON_MUST_CHECK
bool collector_add_switch(struct collector *collector, uint64_t time_ns, int32_t tid, bool is_on, struct error *err);
void collector_miss_switches(struct collector *collector, uint64_t count);

/* The processes that samples are of, borrowed. */
struct process_table *collector_processes(struct collector *collector);

/* Counts the samples that code which was moved without a record may have named falsely; `context`: the collector. */
void collector_doubt(void *context, const struct remaps_doubt *doubt);

/* Times of events count from this one on, by the clock of the records. */
void collector_set_start(struct collector *collector, uint64_t start_ns);

/* Tells the collector that from now on the counters are those of threads, or of CPUs: their events were opened anew. */
void collector_set_counts_threads(struct collector *collector, bool counts_threads);

/* One record, in order of time. The bytes of a sample must stay as long as samples are held, or until the flush. */
COMMON_MUST_CHECK
bool collector_take(struct collector *collector, const struct record *record, bool from_sideband, struct error *err);

/* A sample that is not the target's: only what its CPU has counted until then is taken. */
COMMON_MUST_CHECK
bool collector_leave_out(struct collector *collector, const struct record *record, struct error *err);

/* Returns how many samples are held until others arrive, so that their stacks are walked together. */
size_t collector_held_count(const struct collector *collector);

/* Adds all held samples to the profile. */
COMMON_MUST_CHECK
bool collector_flush(struct collector *collector, struct error *err);

/* Stacks that were cut because they were larger than the room for the copy, or for another reason, such as code without
 * unwind information. */
struct collector_cuts {
	uint64_t by_room, by_rules;
};
struct collector_cuts collector_cuts(const struct collector *collector);

/* Returns whether samples were of 32-bit processes, whose stacks are not supported. */
bool collector_met_32bit(const struct collector *collector);

/* Appends notices on what the stacks of live processes lack, to those of the options, which are not NULL then. */
void collector_describe_limits(const struct collector *collector);

/*
 * Once all samples are added: hands the profile over, which is finished, with the images of its processes, the places
 * of its locks, and the result of the verification if that was requested. Other members of the result stay as they are;
 * on failure all that it has is released.
 */
COMMON_MUST_CHECK
bool collector_finish(struct collector *collector, struct recording *result, struct error *err);
