/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blames lines whose time has changed on the commits that changed lines near them. Time is not only where the code was
 * changed: the lines of a loop take longer when its head was changed, and the processor charges a line with the one
 * before it.
 */
#include "commits/blame.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_PARTS = 1 << 24 };

/* A changed line this far away is half as near. */
static const double half_distance = 3;

void blame_deinit(struct blame *blame)
{
	line_times_deinit(&blame->times[DIFF_BASE]);
	line_times_deinit(&blame->times[DIFF_HEAD]);
	trace_deinit(&blame->trace);
	free(blame->parts);
}

bool blame_init(struct blame *blame, const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const struct commits_sources *sources, struct error *err)
{
	return line_times_sum(diff, DIFF_BASE, profiles[DIFF_BASE], &blame->times[DIFF_BASE], err) &&
	       line_times_sum(diff, DIFF_HEAD, profiles[DIFF_HEAD], &blame->times[DIFF_HEAD], err) &&
	       line_times_bound(diff, DIFF_HEAD, sources, &blame->times[DIFF_HEAD], err) &&
	       trace_lines(history, sources->paths[DIFF_HEAD], blame->times[DIFF_HEAD].ranges, diff->function_count,
		       &blame->trace, err);
}

static double time_at(const struct line_time *times, size_t count, uint32_t line)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && times[low].line == line ? times[low].total : 0;
}

/* The line of base that a line of head was; 0: it is new. */
static uint32_t base_line(const struct trace_kept *kept, size_t count, uint32_t head)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (kept[middle].head < head)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && kept[low].head == head ? kept[low].base : 0;
}

/* How much time came to a line of head, in the direction that is looked for. */
static double moved_time(const struct blame *blame, uint32_t function, const struct line_time *head,
	const struct trace_kept *kept, size_t kept_count)
{
	size_t count;
	const struct line_time *base = line_times_of(&blame->times[DIFF_BASE], function, &count);
	uint32_t line = base_line(kept, kept_count, head->line);
	double delta = head->total - (line ? time_at(base, count, line) : 0);

	return fmax(blame->is_increase ? delta : -delta, 0);
}

static double nearness(uint32_t a, uint32_t b)
{
	uint32_t distance = a > b ? a - b : b - a;

	return 1 / (1 + distance / half_distance);
}

static int by_commit(const void *left, const void *right)
{
	const struct trace_change *a = left, *b = right;

	return a->commit != b->commit ? ORDER(a->commit, b->commit) : ORDER(a->line, b->line);
}

/* Adds the commit that changed these lines, by the line of head that is nearest to each that has changed its time. */
static bool add_part(
	struct blame *blame, uint32_t function, const struct trace_change *changes, size_t count, struct error *err)
{
	size_t line_count, kept_count;
	const struct line_time *lines = line_times_of(&blame->times[DIFF_HEAD], function, &line_count);
	const struct trace_kept *kept = trace_kept_of(&blame->trace, function, &kept_count);
	double sum = 0, near = 0;

	for (size_t i = 0; i < line_count; i++) {
		double moved = moved_time(blame, function, &lines[i], kept, kept_count), best = 0;

		for (size_t j = 0; moved > 0 && j < count; j++)
			best = fmax(best, nearness(lines[i].line, changes[j].line));
		sum += moved;
		near += moved * best;
	}
	if (!ARRAY_RESERVE(&blame->parts, &blame->part_capacity, blame->part_count + 1, MAX_PARTS, err))
		return false;
	blame->parts[blame->part_count++] =
		(struct blame_part){ changes[0].commit, sum > 0 ? near / sum : nearness(0, UINT32_MAX) };
	return true;
}

bool blame_function(struct blame *blame, uint32_t function, struct error *err)
{
	size_t count, next;
	const struct trace_change *found = trace_changes_of(&blame->trace, function, &count);
	CLEANUP(cleanup_free) struct trace_change *changes = malloc((count + 1) * sizeof(*changes));

	blame->part_count = 0;
	if (!changes)
		return error_set_memory(err);
	if (count == 0)
		return true;
	memcpy(changes, found, count * sizeof(*changes));
	qsort(changes, count, sizeof(*changes), by_commit);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && changes[next].commit == changes[i].commit;)
			next++;
		if (!add_part(blame, function, &changes[i], next - i, err))
			return false;
	}
	return true;
}
