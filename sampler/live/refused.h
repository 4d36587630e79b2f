/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"
#include "sampler/recording.h"

/*
 * Processes that events of threads no longer follow, because they execute a program that the kernel lets nobody watch
 * (sampler/process/process.h): how much CPU time they use without samples, as /proc tells it to everybody.
 */
enum { REFUSED_MOST = 32 }; /* processes that are known at a time; of others only their number is */

struct refused_process {
	int32_t pid;
	bool is_over; /* it has ended, or is sampled again */
	char name[PROC_COMM_BYTES];
	int64_t before_ns, used_ns; /* CPU time up to its program's begin, and since */
};

struct refused {
	struct refused_process processes[REFUSED_MOST];
	size_t count;
	uint64_t seen;      /* of the table's refusals */
	uint64_t until_ns;  /* when the last one of these was */
	uint64_t unsampled; /* of these, those that were not seen by other events */
	bool are_resumed, cannot_resume;
};

/* Takes the table's new ones. Returns whether one of them still runs. `clock_ns`: of the records. */
bool refused_take(struct refused *refused, const struct process_table *table, uint64_t clock_ns);

/* Events of CPUs see all processes: those that are new are no loss. */
void refused_pass(struct refused *refused, const struct process_table *table, uint64_t clock_ns);

/* Reads what those have used that still run. Returns whether there are any. */
bool refused_read(struct refused *refused);

/* Events were opened anew: from now on all have samples, and their maps are to be read. */
void refused_resume(struct refused *refused, struct process_table *table);

void refused_describe(struct refused *refused, struct recording_refusals *refusals);

/*
 * Notes in the facts of a finished profile how much CPU time of programs that the kernel did not sample, and of what
 * they have started, is missing. What is known of it are readings while they ran; where all else has samples, it is
 * what a command has used besides.
 */
void refused_note(const struct recording_refusals *refusals, struct profile *profile);
