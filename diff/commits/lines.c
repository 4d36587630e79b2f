/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds up the time of the lines of functions, and finds where these begin and end. */
#include "diff/commits/lines.h"

#include "diff/commits/macros.h"
#include "diff/commits/rows.h"
#include "diff/lines.h"

#include <stdlib.h>
#include <string.h>

void line_times_deinit(struct line_times *times)
{
	free(times->times);
	for (size_t i = 0; i < times->range_count; i++)
		free(times->ranges[i].uses);
	free(times->ranges);
}

/* ---- Times ---- */

/* The code of a module is that of its whole file, but the functions in it are not executed with it. */
static bool is_module(const struct profile *profile, const struct profile_function *f)
{
	static const char name[] = "py::<module>:";

	return strncmp(profile_string(profile, f->name), name, sizeof(name) - 1) == 0;
}

static void commits_lines_extend(
	struct line_range *range, const struct profile *profile, const char *path, const struct diff_place *place)
{
	const struct profile_function *f = &profile->functions[place->of];

	if (path && !is_module(profile, f))
		range->path = path;
	if (f->start_line > 0 && (range->definition == 0 || f->start_line < range->definition))
		range->definition = f->start_line;
	if (range->last == 0 || place->line < range->first)
		range->first = place->line;
	if (place->line > range->last)
		range->last = place->line;
}

static int commits_lines_by_function_and_line(const void *left, const void *right)
{
	const struct line_time *a = left, *b = right;

	return a->function != b->function ? ORDER(a->function, b->function) : ORDER(a->line, b->line);
}

/* Functions that are one on this side, as copies of a function in several files, may have a line each. */
static void join_equal(struct line_times *times)
{
	size_t kept = 0;

	if (times->count == 0)
		return;
	qsort(times->times, times->count, sizeof(*times->times), commits_lines_by_function_and_line);
	for (size_t i = 1; i < times->count; i++) {
		if (commits_lines_by_function_and_line(&times->times[kept], &times->times[i]) == 0)
			times->times[kept].total += times->times[i].total;
		else
			times->times[++kept] = times->times[i];
	}
	times->count = kept + 1;
}

void line_times_sum(const struct diff *diff, enum diff_side side, const struct profile *profile,
	const struct commits_sources *sources, struct line_times *times)
{
	CLEANUP(cleanup_free) bool *wanted = memory_alloc(diff->function_count + 1);
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = NULL;

	times->ranges = memory_zeroed(diff->function_count + 1, sizeof(*times->ranges));
	times->range_count = diff->function_count;
	memset(wanted, true, diff->function_count);
	diff_lines_create(diff, side, profile, wanted, &lines);
	times->times = memory_zeroed(lines->place_count + 1, sizeof(*times->times));
	for (size_t i = 0; i < lines->place_count; i++) {
		const struct diff_place *place = &lines->places[i];

		if (place->line == 0 || !diff_place_is_own(profile, place))
			continue;
		commits_lines_extend(
			&times->ranges[place->function], profile, sources->paths[side][place->file], place);
		times->times[times->count++] = (struct line_time){ place->function, place->line, place->total };
	}
	join_equal(times);
}

const struct line_time *line_times_of(const struct line_times *times, uint32_t function, size_t *count)
{
	const struct rows rows = ROWS_BY(line_time, times->times, times->count, function);

	return times->times + rows_find(&rows, function, count);
}

/* ---- Ranges ---- */

/* A function and the file that it is in. */
struct commits_lines_placed {
	const char *path;
	uint32_t function, definition;
};

static int commits_lines_by_place(const void *left, const void *right)
{
	const struct commits_lines_placed *a = left, *b = right;
	int order = strcmp(a->path, b->path);

	return order != 0 ? order : ORDER(a->definition, b->definition);
}

/*
 * Returns the end by the text, else by what comes next in the file: functions within this one begin before its last
 * line.
 */
static uint32_t commits_lines_find_end(const struct commits_lines_placed *functions, size_t count, size_t at,
	const struct line_range *range, const char *text, size_t size)
{
	if (text)
		return profile_source_end(text, size, 1, functions[at].definition, range->last);
	for (size_t i = at + 1; i < count && strcmp(functions[i].path, functions[at].path) == 0; i++)
		if (functions[i].definition > range->last)
			return functions[i].definition - 1;
	return range->last;
}

static size_t place_functions(
	const struct diff *diff, const struct line_range *ranges, struct commits_lines_placed *placed)
{
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct line_range *range = &ranges[i];

		if (!range->path)
			continue;
		placed[count++] = (struct commits_lines_placed){ range->path, i,
			range->definition > 0 && range->definition <= range->first ? range->definition : range->first };
	}
	if (count > 0)
		qsort(placed, count, sizeof(*placed), commits_lines_by_place);
	return count;
}

bool line_times_bound(const struct diff *diff, enum diff_side side, const struct commits_sources *sources,
	struct line_times *times, struct error *err)
{
	CLEANUP(cleanup_free)
	struct commits_lines_placed *placed = memory_zeroed(diff->function_count + 1, sizeof(*placed));
	CLEANUP(macros_deinit) struct macros macros = { 0 };
	const char *text = NULL, *path = NULL;
	size_t count, size = 0;

	count = place_functions(diff, times->ranges, placed);
	for (size_t i = 0; i < count; i++) {
		struct line_range *range = &times->ranges[placed[i].function];

		if (!path || strcmp(path, placed[i].path) != 0) {
			path = placed[i].path;
			text = sources->text ? sources->text(sources->context, side, path, &size) : NULL;
			macros.count = 0;
			if (text && !macros_find(text, size, &macros, err))
				return false;
		}
		range->last = commits_lines_find_end(placed, count, i, range, text, size);
		range->first = placed[i].definition;
		if (text && !macros_add_uses(&macros, text, size, range, err))
			return false;
	}
	return true;
}
