/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/commits/lines.h"

/* Carries lines of functions through the commits, from one side to the other. */

/* A change that was taken back, while a trace is made. */
#define TRACE_NO_COMMIT SIZE_MAX

/* A line that one side has and the other has not, and the commit that made it so. */
struct trace_change {
	size_t commit;
	uint32_t function;
	uint32_t line;       /* of the side that the trace began at: itself, or the one before it */
	uint32_t text;       /* as repository_history.texts */
	bool is_other;       /* the other side has it */
	uint32_t other_line; /* then its number there */
};

/* A line that both sides have. */
struct trace_kept {
	uint32_t function, line, other_line;
	uint32_t other_path; /* string of the history */
};

struct trace {
	struct trace_change *changes; /* owned; by function, then by commit. What the range took back is not there */
	struct trace_kept *kept;      /* owned; by function, then by line */
	size_t change_count, kept_count, change_capacity, kept_capacity;
	bool *is_executed; /* owned; [commit] whether it touched a function */
};

/* Lines of `side`. Functions without a path are left out. */
COMMON_MUST_CHECK
bool trace_lines(const struct repository_history *history, enum diff_side side, const struct line_range *ranges,
	size_t function_count, struct trace *trace, struct error *err);
void trace_deinit(struct trace *trace);

/* Sorts what was found, without what was taken back. The last step of a trace. */
void trace_sort(struct trace *trace);

/* Returns the parts of a function. */
const struct trace_change *trace_changes_of(const struct trace *trace, uint32_t function, size_t *count);
const struct trace_kept *trace_kept_of(const struct trace *trace, uint32_t function, size_t *count);
