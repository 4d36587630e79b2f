/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/process/otel_context.h"
#include "sampler/sampler.h"

/*
 * Looks for the contexts that processes of a recording publish (recording/process/otel_context.h), and makes labels of
 * the profile of them. A process publishes its context some time after its start. So it is looked at when it is met,
 * and whenever it has been known for twice as long as at the look before: of a process that lives on, a context is
 * found by the time that it is as old again.
 */

enum { CONTEXTS_MOST_PROCESSES = 256 };

/* A process by its place in the table of processes. */
struct contexts_process {
	uint64_t met_ns, due_ns; /* by the records' clock; due UINT64_MAX: its context is known */
};

struct contexts {
	bool is_active;
	struct contexts_process processes[CONTEXTS_MOST_PROCESSES]; /* those that were met first */
	size_t count;
	bool is_users[OTEL_CONTEXT_VALUES]; /* the user has set the label */
	bool is_mixed[OTEL_CONTEXT_VALUES]; /* processes say different things, so there is no such label */
	struct otel_context first;          /* what was said first */
	struct otel_context other;          /* of mixed labels, what was said against it */
};

/* A recording of the whole system is of no service: nothing is looked for then. */
void contexts_init(struct contexts *contexts, const struct sampler_options *options);

/* To be called again and again, at `clock_ns` of the records' clock. */
COMMON_MUST_CHECK
bool contexts_look(struct contexts *contexts, struct process_reader *reader, struct process_table *table,
	uint64_t clock_ns, struct error *err);

/* The last look, at every process whose context is not known. */
COMMON_MUST_CHECK
bool contexts_look_last(
	struct contexts *contexts, struct process_reader *reader, struct process_table *table, struct error *err);

/* How long to wait for samples at most, until contexts_look() is to be called. */
int contexts_timeout(const struct contexts *contexts, uint64_t clock_ns, int timeout_ms);

/* Tells of labels that were left out. */
void contexts_tell(const struct contexts *contexts, struct buffer *notices);
