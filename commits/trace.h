/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "commits/lines.h"

/* Carries lines of functions back through the commits, from head to base. */

/* A line that differs between base and head, and the commit that made it so. */
struct trace_change {
	size_t commit;
	uint32_t function;
	uint32_t line;   /* of head: itself; of a line that was removed, the one before it */
	uint32_t text;   /* as repository_history.texts */
	bool is_removed; /* base had it */
};

/* A line that both sides have. */
struct trace_kept {
	uint32_t function, head, base;
};

struct trace {
	struct trace_change *changes; /* owned; by function. What the range took back again is not there */
	struct trace_kept *kept;      /* owned; by function, then by line of head */
	size_t change_count, kept_count, change_capacity, kept_capacity;
	bool *is_executed; /* owned; [commit] */
};

/* `ranges`: [function] lines in head; those without a path are left out. */
COMMON_MUST_CHECK
bool trace_lines(const struct repository_history *history, const char *const *paths, const struct line_range *ranges,
	size_t function_count, struct trace *trace, struct error *err);
void trace_deinit(struct trace *trace);

/* The parts of a function. */
const struct trace_change *trace_changes_of(const struct trace *trace, uint32_t function, size_t *count);
const struct trace_kept *trace_kept_of(const struct trace *trace, uint32_t function, size_t *count);
