/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blames lines whose time has changed on the commits that changed lines near them. Time is not only where the code was
 * changed: the lines of a loop take longer when its head was changed, and the processor charges a line with the one
 * before it.
 */
#include "diff/commits/blame.h"

#include "diff/commits/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 1 << 24, MOST_APART = 12 };

/* A changed line this far away is half as near. */
static const double half_distance = 3;
/* A line that only the other side has says less than one whose own time is gone, or is new. */
static const double weight_of_other = 0.7;

void blame_deinit(struct blame *blame)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		line_times_deinit(&blame->times[side]);
		trace_deinit(&blame->traces[side]);
	}
	free(blame->partners);
	free(blame->weights);
	free(blame->parts);
}

/* Returns how many lines of a function are in another one on the other side. */
static size_t count_within(const struct repository_history *history, const struct trace_kept *kept, size_t count,
	const struct line_range *range)
{
	size_t within = 0;

	for (size_t i = 0; i < count; i++)
		within += kept[i].other_line >= range->first && kept[i].other_line <= range->last &&
			  strcmp(string_table_get(history->strings, kept[i].other_path), range->path) == 0;
	return within;
}

/* A function that was renamed is gone under its name, and new under another one: its lines tell. */
static void blame_find_partner(
	struct blame *blame, const struct repository_history *history, uint32_t gone, size_t functions)
{
	const struct line_range *bases = blame->times[DIFF_BASE].ranges, *heads = blame->times[DIFF_HEAD].ranges;
	size_t count, most = 0;
	const struct trace_kept *kept = trace_kept_of(&blame->traces[DIFF_BASE], gone, &count);
	uint32_t best = PROFILE_NONE;

	for (uint32_t i = 0; i < functions; i++) {
		size_t within = heads[i].path && !bases[i].path ? count_within(history, kept, count, &heads[i]) : 0;

		if (within > most) {
			most = within;
			best = i;
		}
	}
	if (best == PROFILE_NONE || blame->partners[best] != PROFILE_NONE || most * 2 < count)
		return;
	blame->partners[gone] = best;
	blame->partners[best] = gone;
}

static void find_partners(struct blame *blame, const struct repository_history *history, size_t functions)
{
	blame->partners = memory_zeroed(functions + 1, sizeof(*blame->partners));
	for (size_t i = 0; i < functions; i++)
		blame->partners[i] = PROFILE_NONE;
	for (uint32_t i = 0; i < functions; i++)
		if (blame->times[DIFF_BASE].ranges[i].path && !blame->times[DIFF_HEAD].ranges[i].path)
			blame_find_partner(blame, history, i, functions);
}

/*
 * A commit that changed one function of the sampled ones is no chance where it is the slow one; one that renamed a
 * macro in all of them is nearly always there.
 */
static void weigh_commits(struct blame *blame, size_t commits)
{
	blame->weights = memory_zeroed(commits + 1, sizeof(*blame->weights));
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct trace *trace = &blame->traces[side];

		for (size_t i = 0; i < trace->change_count; i++)
			if (i == 0 || trace->changes[i - 1].function != trace->changes[i].function ||
				trace->changes[i - 1].commit != trace->changes[i].commit)
				blame->weights[trace->changes[i].commit] += 1.0 / DIFF_SIDES;
	}
	for (size_t i = 0; i < commits; i++)
		blame->weights[i] = 1 / sqrt(1 + log2(fmax(blame->weights[i], 1)));
}

bool blame_init(struct blame *blame, const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const struct commits_sources *sources, struct error *err)
{
	blame->history = history;
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct line_times *times = &blame->times[side];

		line_times_sum(diff, (enum diff_side)side, profiles[side], sources, times);
		if (!line_times_bound(diff, (enum diff_side)side, sources, times, err) ||
			!trace_lines(history, (enum diff_side)side, times->ranges, diff->function_count,
				&blame->traces[side], err))
			return false;
	}
	find_partners(blame, history, diff->function_count);
	weigh_commits(blame, history->commit_count);
	return true;
}

bool blame_is_executed(const struct blame *blame, size_t commit)
{
	return blame->traces[DIFF_BASE].is_executed[commit] || blame->traces[DIFF_HEAD].is_executed[commit];
}

static double time_at(const struct line_time *times, size_t count, uint32_t line)
{
	const struct rows rows = ROWS_BY(line_time, times, count, line);
	size_t found, at = rows_find(&rows, line, &found);

	return found > 0 ? times[at].total : 0;
}

/* Returns the line of the other side that a line is; 0: it has none. */
static uint32_t other_line(const struct trace_kept *kept, size_t count, uint32_t line)
{
	const struct rows rows = ROWS_BY(trace_kept, kept, count, line);
	size_t found, at = rows_find(&rows, line, &found);

	return found > 0 ? kept[at].other_line : 0;
}

/* A function, seen from the side that has the time that came or went. */
struct seen {
	uint32_t function;
	enum diff_side side;
	const struct line_time *lines, *other_lines;
	const struct trace_kept *kept;
	size_t line_count, other_count, kept_count;
	double *moved; /* owned: [line] how much more time it has than on the other side */
	double sum;
};

static void seen_deinit(struct seen *seen)
{
	free(seen->moved);
}

/* Returns the side that has the time that came or went; the other one, where the function is in that alone. */
static enum diff_side blame_side_of(const struct blame *blame, uint32_t function)
{
	enum diff_side side = blame->is_increase ? DIFF_HEAD : DIFF_BASE;

	if (!blame->times[side].ranges[function].path)
		side = side == DIFF_HEAD ? DIFF_BASE : DIFF_HEAD;
	return side;
}

bool blame_is_changed(const struct blame *blame, uint32_t function)
{
	size_t count;

	trace_changes_of(&blame->traces[blame_side_of(blame, function)], function, &count);
	return count > 0;
}

/*
 * Returns the line whose time has changed most of those that are nearest to a line; `seen->line_count`: there is none
 * near.
 */
static size_t nearest_moved(const struct seen *seen, uint32_t line)
{
	uint32_t least = MOST_APART + 1;
	size_t best = seen->line_count;

	for (size_t i = 0; i < seen->line_count; i++) {
		uint32_t at = seen->lines[i].line, apart = at > line ? at - line : line - at;

		if (!(seen->moved[i] > 0) || apart > least || (apart == least && seen->moved[i] <= seen->moved[best]))
			continue;
		least = apart;
		best = i;
	}
	return best;
}

/* A line that was changed is new here, and another one is gone there: what that took is no time that came. */
static void settle_changed(const struct blame *blame, struct seen *seen)
{
	size_t count;
	const struct trace_change *changes = trace_changes_of(&blame->traces[seen->side], seen->function, &count);

	for (size_t i = 0; i < count; i++) {
		double left =
			changes[i].is_other ? time_at(seen->other_lines, seen->other_count, changes[i].other_line) : 0;

		while (left > 0) {
			size_t at = nearest_moved(seen, changes[i].line);
			double taken;

			if (at == seen->line_count)
				break;
			taken = fmin(left, seen->moved[at]);
			seen->moved[at] -= taken;
			left -= taken;
		}
	}
}

static void see(const struct blame *blame, uint32_t function, struct seen *seen)
{
	enum diff_side side = blame_side_of(blame, function);

	seen->function = function;
	seen->side = side;
	seen->lines = line_times_of(&blame->times[side], function, &seen->line_count);
	seen->other_lines = line_times_of(&blame->times[!side],
		blame->partners[function] == PROFILE_NONE ? function : blame->partners[function], &seen->other_count);
	seen->kept = trace_kept_of(&blame->traces[side], function, &seen->kept_count);
	seen->moved = memory_zeroed(seen->line_count + 1, sizeof(*seen->moved));
	for (size_t i = 0; i < seen->line_count; i++) {
		uint32_t line = other_line(seen->kept, seen->kept_count, seen->lines[i].line);
		double other = line ? time_at(seen->other_lines, seen->other_count, line) : 0;

		seen->moved[i] = fmax(seen->lines[i].total - other, 0);
	}
	settle_changed(blame, seen);
	for (size_t i = 0; i < seen->line_count; i++)
		seen->sum += seen->moved[i];
	for (size_t i = 0; !(seen->sum > 0) && i < seen->line_count; i++)
		seen->moved[i] = seen->lines[i].total;
}

static double nearness(uint32_t a, uint32_t b)
{
	uint32_t distance = a > b ? a - b : b - a;

	return 1 / (1 + distance / half_distance);
}

/* Adds the commit that changed these lines, by the one that is nearest to each whose time has changed. */
static bool blame_add_part(struct blame *blame, const struct seen *seen, const struct trace_change *changes,
	size_t count, struct error *err)
{
	double sum = 0, near = 0;

	for (size_t i = 0; i < seen->line_count; i++) {
		double best = 0;

		for (size_t j = 0; seen->moved[i] > 0 && j < count; j++)
			best = fmax(best, nearness(seen->lines[i].line, changes[j].line) *
						  (changes[j].is_other ? weight_of_other : 1));
		sum += seen->moved[i];
		near += seen->moved[i] * best;
	}
	/* What it brought, base has as well. */
	if (blame->history->commits[changes[0].commit].is_update)
		return true;
	return ARRAY_APPEND(&blame->parts, &blame->part_capacity, &blame->part_count, MAX_PARTS, err,
		(struct blame_part){ changes[0].commit, sum > 0 ? near / sum * blame->weights[changes[0].commit] : 0 });
}

bool blame_function(struct blame *blame, uint32_t function, struct error *err)
{
	CLEANUP(seen_deinit) struct seen seen = { 0 };
	const struct trace_change *changes;
	size_t count, next;

	blame->part_count = 0;
	see(blame, function, &seen);
	changes = trace_changes_of(&blame->traces[seen.side], function, &count);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && changes[next].commit == changes[i].commit;)
			next++;
		if (!blame_add_part(blame, &seen, &changes[i], next - i, err))
			return false;
	}
	return true;
}
