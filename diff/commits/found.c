/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps what a trace has found in an order in which it is found by function. */
#include "diff/commits/rows.h"
#include "diff/commits/trace.h"

#include <stdlib.h>

void trace_deinit(struct trace *trace)
{
	free(trace->changes);
	free(trace->kept);
	free(trace->is_executed);
}

static int found_by_function_and_line(const void *left, const void *right)
{
	const struct trace_kept *a = left, *b = right;

	return a->function != b->function ? ORDER(a->function, b->function) : ORDER(a->line, b->line);
}

static int by_function_and_commit(const void *left, const void *right)
{
	const struct trace_change *a = left, *b = right;

	if (a->function != b->function)
		return ORDER(a->function, b->function);
	if (a->commit != b->commit)
		return ORDER(a->commit, b->commit);
	return a->line != b->line ? ORDER(a->line, b->line) : a->is_other - b->is_other;
}

void trace_sort(struct trace *trace)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->change_count; i++)
		if (trace->changes[i].commit != TRACE_NO_COMMIT)
			trace->changes[kept++] = trace->changes[i];
	trace->change_count = kept;
	if (kept > 0)
		qsort(trace->changes, kept, sizeof(*trace->changes), by_function_and_commit);
	if (trace->kept_count > 0)
		qsort(trace->kept, trace->kept_count, sizeof(*trace->kept), found_by_function_and_line);
}

const struct trace_change *trace_changes_of(const struct trace *trace, uint32_t function, size_t *count)
{
	const struct rows rows = ROWS_BY(trace_change, trace->changes, trace->change_count, function);

	return trace->changes + rows_find(&rows, function, count);
}

const struct trace_kept *trace_kept_of(const struct trace *trace, uint32_t function, size_t *count)
{
	const struct rows rows = ROWS_BY(trace_kept, trace->kept, trace->kept_count, function);

	return trace->kept + rows_find(&rows, function, count);
}
