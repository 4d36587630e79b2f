/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/contexts.h"

#include <string.h>

enum { MOST_AT_ONCE = 8 };
static const uint64_t first_wait_ns = 100000000, ns_per_ms = 1000000;

void contexts_init(struct contexts *contexts, const struct sampler_options *options)
{
	contexts->is_active = options->target.kind != SAMPLER_TARGET_SYSTEM;
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		for (size_t k = 0; k < options->label_count; k++)
			if (strcmp(options->labels[k].key, otel_context_labels[i]) == 0)
				contexts->is_users[i] = true;
}

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

static bool look_at(struct contexts *contexts, size_t process, struct process_reader *reader,
	const struct process_table *table, struct error *err)
{
	struct otel_context context;
	int32_t pid = table->processes[process].pid;

	/* Processes outside our pid namespace have pid 0. */
	if (pid <= 0 || !table->processes[process].is_alive || !otel_context_of(reader, pid, &context))
		return true;
	contexts->processes[process].due_ns = UINT64_MAX;
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		if (!take_value(contexts, i, context.values[i], table->profile, err))
			return false;
	return true;
}

static void meet(struct contexts *contexts, const struct process_table *table, uint64_t clock_ns)
{
	for (; contexts->count < table->count && contexts->count < CONTEXTS_MOST_PROCESSES; contexts->count++)
		contexts->processes[contexts->count] = (struct contexts_process){ clock_ns, clock_ns };
}

bool contexts_look(struct contexts *contexts, struct process_reader *reader, struct process_table *table,
	uint64_t clock_ns, struct error *err)
{
	size_t looks = 0;

	if (!contexts->is_active)
		return true;
	meet(contexts, table, clock_ns);
	for (size_t i = 0; i < contexts->count && looks < MOST_AT_ONCE; i++) {
		struct contexts_process *process = &contexts->processes[i];
		uint64_t age_ns = clock_ns - process->met_ns;

		if (process->due_ns > clock_ns)
			continue;
		looks++;
		process->due_ns = clock_ns + (age_ns > first_wait_ns ? age_ns : first_wait_ns);
		if (!look_at(contexts, i, reader, table, err))
			return false;
	}
	return true;
}

bool contexts_look_last(
	struct contexts *contexts, struct process_reader *reader, struct process_table *table, struct error *err)
{
	if (!contexts->is_active)
		return true;
	meet(contexts, table, 0);
	for (size_t i = 0; i < contexts->count; i++)
		if (contexts->processes[i].due_ns != UINT64_MAX && !look_at(contexts, i, reader, table, err))
			return false;
	return true;
}

int contexts_timeout(const struct contexts *contexts, uint64_t clock_ns, int timeout_ms)
{
	for (size_t i = 0; i < contexts->count; i++) {
		uint64_t due_ns = contexts->processes[i].due_ns,
			 left_ms = due_ns > clock_ns ? (due_ns - clock_ns) / ns_per_ms + 1 : 0;

		if (left_ms < (uint64_t)timeout_ms)
			timeout_ms = (int)left_ms;
	}
	return timeout_ms;
}

void contexts_tell(const struct contexts *contexts, struct buffer *notices)
{
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		if (contexts->is_mixed[i])
			buffer_printf(notices,
				"processes of the recording differ in their %s ('%s', '%s'), so the profile has no such label; "
				"--label %s=... gives it one\n",
				otel_context_labels[i], contexts->first.values[i], contexts->other.values[i],
				otel_context_labels[i]);
}
