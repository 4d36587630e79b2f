/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps what a trace has found in an order in which it is found by function. */
#include "commits/trace.h"

#include <stdlib.h>
#include <string.h>

void trace_deinit(struct trace *trace)
{
	free(trace->changes);
	free(trace->kept);
	free(trace->is_executed);
}

static int by_function_and_line(const void *left, const void *right)
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
		qsort(trace->kept, trace->kept_count, sizeof(*trace->kept), by_function_and_line);
}

/* The items of a function in an array that is sorted by it, as its first member after `offset` says. */
static size_t find_first(const void *items, size_t count, size_t size, size_t offset, uint32_t function, size_t *found)
{
	size_t low = 0, high = count, first;
	uint32_t of;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		memcpy(&of, (const char *)items + middle * size + offset, sizeof(of));
		if (of < function)
			low = middle + 1;
		else
			high = middle;
	}
	for (first = low; low < count; low++) {
		memcpy(&of, (const char *)items + low * size + offset, sizeof(of));
		if (of != function)
			break;
	}
	*found = low - first;
	return first;
}

const struct trace_change *trace_changes_of(const struct trace *trace, uint32_t function, size_t *count)
{
	return trace->changes + find_first(trace->changes, trace->change_count, sizeof(*trace->changes),
					offsetof(struct trace_change, function), function, count);
}

const struct trace_kept *trace_kept_of(const struct trace *trace, uint32_t function, size_t *count)
{
	return trace->kept + find_first(trace->kept, trace->kept_count, sizeof(*trace->kept),
				     offsetof(struct trace_kept, function), function, count);
}
