/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/contexts.h"

#include "sampler/process/otel_context.h"

#include <string.h>

enum { MOST_PROCESSES = 256, MOST_AT_ONCE = 8 };
static const uint64_t first_wait_ns = 100000000, ns_per_ms = 1000000;

/* A process by its place in the table of processes. */
struct contexts_process {
	uint64_t met_ns, due_ns; /* by the records' clock; due UINT64_MAX: its context is known */
};

struct contexts {
	struct instrument instrument;
	struct contexts_process processes[MOST_PROCESSES]; /* those that were met first */
	size_t count;
	bool is_users[OTEL_CONTEXT_VALUES]; /* the user has set the label */
	bool is_mixed[OTEL_CONTEXT_VALUES]; /* processes say different things, so there is no such label */
	struct otel_context first;          /* what was said first */
	struct otel_context other;          /* of mixed labels, what was said against it */
};

/* Takes what one process says of one label. */
static bool take_value(
	struct contexts *contexts, size_t which, const char *value, struct profile *profile, struct error *err)
{
	const char *key = otel_context_labels[which], *first = contexts->first.values[which];
	struct error why;

	if (value[0] == '\0' || contexts->is_users[which] || contexts->is_mixed[which] || strcmp(value, first) == 0)
		return true;
	if (first[0] != '\0') {
		contexts->is_mixed[which] = true;
		strcpy(contexts->other.values[which], value);
		profile_remove_label(profile, key);
		return true;
	}
	strcpy(contexts->first.values[which], value);
	/* With as many labels of the user's own as there may be, these come first. */
	if (profile_set_label(profile, key, value, &why) || why.code == ERROR_LIMIT)
		return true;
	*err = why;
	return false;
}

static bool read_context(struct contexts *contexts, size_t process, struct error *err)
{
	const struct instrument_session *session = contexts->instrument.session;
	const struct process_table *table = collector_processes(session->collector);
	struct otel_context context;
	int32_t pid = table->processes[process].pid;

	/* Processes outside our pid namespace have pid 0. */
	if (pid <= 0 || !table->processes[process].is_alive || !otel_context_of(session->reader, pid, &context))
		return true;
	contexts->processes[process].due_ns = UINT64_MAX;
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		if (!take_value(contexts, i, context.values[i], table->profile, err))
			return false;
	return true;
}

static void contexts_meet(struct contexts *contexts, uint64_t clock_ns)
{
	const struct process_table *table = collector_processes(contexts->instrument.session->collector);

	for (; contexts->count < table->count && contexts->count < MOST_PROCESSES; contexts->count++)
		contexts->processes[contexts->count] = (struct contexts_process){ clock_ns, clock_ns };
}

static bool contexts_poll(struct instrument *instrument, uint64_t clock_ns, struct error *err)
{
	struct contexts *contexts = (struct contexts *)instrument;
	size_t readings = 0;

	contexts_meet(contexts, clock_ns);
	for (size_t i = 0; i < contexts->count && readings < MOST_AT_ONCE; i++) {
		struct contexts_process *process = &contexts->processes[i];
		uint64_t age_ns = clock_ns - process->met_ns;

		if (process->due_ns > clock_ns)
			continue;
		readings++;
		process->due_ns = clock_ns + (age_ns > first_wait_ns ? age_ns : first_wait_ns);
		if (!read_context(contexts, i, err))
			return false;
	}
	return true;
}

static int contexts_due_ms(const struct instrument *instrument, uint64_t clock_ns)
{
	const struct contexts *contexts = (const struct contexts *)instrument;
	uint64_t least_ms = INSTRUMENT_NEVER_DUE;

	for (size_t i = 0; i < contexts->count; i++) {
		uint64_t due_ns = contexts->processes[i].due_ns,
			 left_ms = due_ns > clock_ns ? (due_ns - clock_ns) / ns_per_ms + 1 : 0;

		least_ms = left_ms < least_ms ? left_ms : least_ms;
	}
	return (int)least_ms;
}

/* Reads once more every process whose context is not known. */
static bool contexts_describe(struct instrument *instrument, struct error *err)
{
	struct contexts *contexts = (struct contexts *)instrument;

	contexts_meet(contexts, 0);
	for (size_t i = 0; i < contexts->count; i++)
		if (contexts->processes[i].due_ns != UINT64_MAX && !read_context(contexts, i, err))
			return false;
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		if (contexts->is_mixed[i])
			buffer_printf(instrument->session->notices,
				"processes of the recording differ in their %s ('%s', '%s'), so the profile has no such label; "
				"--label %s=... gives it one\n",
				otel_context_labels[i], contexts->first.values[i], contexts->other.values[i],
				otel_context_labels[i]);
	return true;
}

static bool contexts_are_wanted(const struct sampler_options *options)
{
	return options->target.kind != SAMPLER_TARGET_SYSTEM;
}

static bool contexts_open(struct instrument *instrument, struct error *err)
{
	struct contexts *contexts = (struct contexts *)instrument;
	const struct sampler_options *options = instrument->session->options;

	(void)err;
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		for (size_t k = 0; k < options->label_count; k++)
			if (strcmp(options->labels[k].key, otel_context_labels[i]) == 0)
				contexts->is_users[i] = true;
	return true;
}

const struct instrument_functions contexts_functions = {
	.state_bytes = sizeof(struct contexts),
	.works_while_off = true,
	.is_wanted = contexts_are_wanted,
	.open = contexts_open,
	.due_ms = contexts_due_ms,
	.poll = contexts_poll,
	.describe = contexts_describe,
};
