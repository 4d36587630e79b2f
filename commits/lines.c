/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds up the time of the lines of functions, and finds where these begin and end. */
#include "commits/lines.h"

#include <stdlib.h>
#include <string.h>

/* Lines of all functions; those of a real program are some tens of thousands. */
enum { MAX_TIMES = 1 << 24 };

void line_times_deinit(struct line_times *times)
{
	free(times->times);
	free(times->ranges);
}

/* ---- Times ---- */

struct summing {
	const struct diff *diff;
	const struct profile *profile;
	const char *const *paths; /* [string of the profile] */
	struct line_times *times;
	struct hash_map index; /* of function and line */
	size_t *counted;       /* owned: [function] the sample that counted to it last, from 1 */
	double factor;
	uint32_t metric;
};

static void summing_deinit(struct summing *s)
{
	hash_map_deinit(&s->index);
	free(s->counted);
}

static bool add_time(struct summing *s, uint32_t function, uint32_t line, double value, struct error *err)
{
	const uint32_t key[2] = { function, line };
	struct line_times *times = s->times;
	bool added = false;
	uint32_t *at;

	if (!hash_map_add(&s->index, key, (uint32_t)times->count, &at, &added, err))
		return false;
	if (added) {
		if (!ARRAY_RESERVE(&times->times, &times->capacity, times->count + 1, MAX_TIMES, err))
			return false;
		times->times[times->count++] = (struct line_time){ function, line, 0 };
	}
	times->times[*at].total += value;
	return true;
}

/* The code of a module is that of its whole file, but the functions in it are not executed with it. */
static bool is_module(const struct profile *profile, const struct profile_function *f)
{
	static const char name[] = "py::<module>:";

	return strncmp(profile_string(profile, f->name), name, sizeof(name) - 1) == 0;
}

static void extend(const struct summing *s, struct line_range *range, const struct profile_function *f, uint32_t line)
{
	if (s->paths[f->file] && !is_module(s->profile, f))
		range->path = s->paths[f->file];
	if (f->start_line > 0 && (range->definition == 0 || f->start_line < range->definition))
		range->definition = f->start_line;
	if (range->last == 0 || line < range->first)
		range->first = line;
	if (line > range->last)
		range->last = line;
}

/* A stack counts to one line of a function: where several frames are of it, to that of the innermost. */
static bool add_frame(struct summing *s, size_t sample, uint32_t function, const struct profile_line *line,
	double value, struct error *err)
{
	if (line->line == 0 || line->file != 0 || s->counted[function] == sample + 1)
		return true;
	s->counted[function] = sample + 1;
	extend(s, &s->times->ranges[function], &s->profile->functions[line->function], line->line);
	return add_time(s, function, line->line, value, err);
}

/* The frames of a stack are the nodes of the tree from the leaf's to the root. */
static bool add_sample(struct summing *s, size_t sample, uint32_t node, struct error *err)
{
	const struct profile *p = s->profile;
	double value = (double)p->values[sample * p->value_type_count + s->metric] * s->factor;

	for (uint32_t stack = p->samples[sample].stack; stack && node; stack = p->stacks[stack].parent) {
		const struct profile_location *location = &p->locations[p->stacks[stack].location];
		uint32_t i = 0;

		do {
			uint32_t function = s->diff->nodes[node].function;

			if (i < location->line_count && function != PROFILE_NONE &&
				!add_frame(s, sample, function, &p->lines[location->first_line + i], value, err))
				return false;
			node = s->diff->nodes[node].parent;
		} while (++i < location->line_count && node);
	}
	return true;
}

static int by_function_and_line(const void *left, const void *right)
{
	const struct line_time *a = left, *b = right;

	return a->function != b->function ? ORDER(a->function, b->function) : ORDER(a->line, b->line);
}

bool line_times_sum(const struct diff *diff, enum diff_side side, const struct profile *profile,
	const struct commits_sources *sources, struct line_times *times, struct error *err)
{
	CLEANUP(summing_deinit)
	struct summing s = {
		.diff = diff, .profile = profile, .paths = sources->paths[side], .times = times, .factor = 1
	};

	hash_map_init(&s.index, 2 * sizeof(uint32_t));
	s.metric = profile_find_metric(profile, diff_string(diff, diff->metric), diff_string(diff, diff->unit));
	if (s.metric == PROFILE_NONE)
		s.metric = 0;
	if (side == DIFF_HEAD)
		s.factor = diff->scale.factor;
	times->ranges = calloc(diff->function_count + 1, sizeof(*times->ranges));
	s.counted = calloc(diff->function_count + 1, sizeof(*s.counted));
	if (!times->ranges || !s.counted)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->sample_count; i++)
		if (!add_sample(&s, i, diff->sample_nodes[side][i], err))
			return false;
	if (times->count > 0)
		qsort(times->times, times->count, sizeof(*times->times), by_function_and_line);
	return true;
}

const struct line_time *line_times_of(const struct line_times *times, uint32_t function, size_t *count)
{
	size_t low = 0, high = times->count, first;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times->times[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	first = low;
	while (low < times->count && times->times[low].function == function)
		low++;
	*count = low - first;
	return times->times + first;
}

/* ---- Ranges ---- */

/* A function and the file that it is in. */
struct placed {
	const char *path;
	uint32_t function, definition;
};

static int by_place(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;
	int order = strcmp(a->path, b->path);

	return order != 0 ? order : ORDER(a->definition, b->definition);
}

/* The end by the text, else by what comes next in the file: functions within this one begin before its last line. */
static uint32_t find_end(const struct placed *functions, size_t count, size_t at, const struct line_range *range,
	const char *text, size_t size)
{
	if (text)
		return profile_source_end(text, size, 1, functions[at].definition, range->last);
	for (size_t i = at + 1; i < count && strcmp(functions[i].path, functions[at].path) == 0; i++)
		if (functions[i].definition > range->last)
			return functions[i].definition - 1;
	return range->last;
}

static size_t place_functions(const struct diff *diff, const struct line_range *ranges, struct placed *placed)
{
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct line_range *range = &ranges[i];

		if (!range->path)
			continue;
		placed[count++] = (struct placed){ range->path, i,
			range->definition > 0 && range->definition <= range->first ? range->definition : range->first };
	}
	if (count > 0)
		qsort(placed, count, sizeof(*placed), by_place);
	return count;
}

bool line_times_bound(const struct diff *diff, enum diff_side side, const struct commits_sources *sources,
	struct line_times *times, struct error *err)
{
	CLEANUP(cleanup_free) struct placed *placed = calloc(diff->function_count + 1, sizeof(*placed));
	const char *text = NULL, *path = NULL;
	size_t count, size = 0;

	if (!placed)
		return error_set_memory(err);
	count = place_functions(diff, times->ranges, placed);
	for (size_t i = 0; i < count; i++) {
		struct line_range *range = &times->ranges[placed[i].function];

		if (!path || strcmp(path, placed[i].path) != 0) {
			path = placed[i].path;
			text = sources->text ? sources->text(sources->context, side, path, &size) : NULL;
		}
		range->last = find_end(placed, count, i, range, text, size);
		range->first = placed[i].definition;
	}
	return true;
}
