/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line of a function whose self value changed most, by pairing the sampled lines of both sides. */
#include "diff/suite.h"

#include <math.h>
#include <stdlib.h>

/* Self values of one function by line. */
struct line_sums {
	struct line_sum {
		uint32_t line;
		double value;
	} * sums; /* owned */
	size_t count, capacity;
};

static void line_sums_deinit(struct line_sums *sums)
{
	free(sums->sums);
}

static bool add_line(struct line_sums *sums, uint32_t line, double value, struct error *err)
{
	if (!ARRAY_RESERVE(&sums->sums, &sums->capacity, sums->count + 1, ARRAY_MAX_IDS, err))
		return false;
	sums->sums[sums->count++] = (struct line_sum){ line, value };
	return true;
}

static int by_line(const void *left, const void *right)
{
	const struct line_sum *a = left, *b = right;

	return ORDER(a->line, b->line);
}

static void add_up(struct line_sums *sums)
{
	size_t kept = 0;

	if (sums->count == 0)
		return;
	qsort(sums->sums, sums->count, sizeof(*sums->sums), by_line);
	for (size_t i = 1; i < sums->count; i++) {
		if (sums->sums[i].line == sums->sums[kept].line)
			sums->sums[kept].value += sums->sums[i].value;
		else
			sums->sums[++kept] = sums->sums[i];
	}
	sums->count = kept + 1;
}

/* A frame of a stack, which is one node of the tree. */
struct frame {
	uint32_t stack, node;
	uint32_t depth; /* among the frames of its location, from the innermost on */
};

/* Moves to the caller; false at the root. */
static bool frame_up(const struct diff *diff, const struct profile *profile, struct frame *frame)
{
	const struct profile_location *location = &profile->locations[profile->stacks[frame->stack].location];

	frame->node = diff->nodes[frame->node].parent;
	if (++frame->depth >= location->line_count) {
		frame->stack = profile->stacks[frame->stack].parent;
		frame->depth = 0;
	}
	return frame->stack != 0 && frame->node != 0;
}

/*
 * The line of the function whose self value a sample counts to; false: it counts to another function. A sample in an
 * interpreter counts to the function that this runs.
 */
static bool line_of_sample(
	const struct diff *diff, const struct profile *profile, struct frame frame, uint32_t function, uint32_t *line)
{
	const struct profile_location *location;

	if (frame.node == 0)
		return false;
	while (diff->nodes[frame.node].function != function) {
		const struct diff_function *passed = &diff->functions[diff->nodes[frame.node].function];

		if (passed->interprets == PROFILE_LANGUAGE_NATIVE ||
			passed->interprets != diff->functions[function].language || !frame_up(diff, profile, &frame))
			return false;
	}
	location = &profile->locations[profile->stacks[frame.stack].location];
	*line = frame.depth < location->line_count ? profile->lines[location->first_line + frame.depth].line : 0;
	return true;
}

static bool sum_lines(const struct diff *diff, enum diff_side side, const struct profile *profile, uint32_t function,
	struct line_sums *sums, struct error *err)
{
	const char *type = diff_string(diff, diff->metric), *unit = diff_string(diff, diff->unit);
	uint32_t metric = profile_find_metric(profile, type, unit), line;
	double factor = side == DIFF_HEAD && diff->sides == DIFF_SIDES ? diff->scale.factor : 1;

	if (metric == PROFILE_NONE)
		metric = 0;
	for (size_t i = 0; i < profile->sample_count; i++) {
		double value = (double)profile->values[i * profile->value_type_count + metric] * factor;
		struct frame frame = { profile->samples[i].stack, diff->sample_nodes[side][i], 0 };

		if (value > 0 && line_of_sample(diff, profile, frame, function, &line) && line > 0 &&
			!add_line(sums, line, value, err))
			return false;
	}
	add_up(sums);
	return true;
}

static void keep_greatest(struct diff_line *kept, struct diff_line line)
{
	if (kept->line == 0 || fabs(line.head - line.base) > fabs(kept->head - kept->base))
		*kept = line;
}

/* Pairs the lines of both sides; a line that only base has is named by its number there, if head has none at all. */
static struct diff_line changed_line(const struct line_sums *base, const struct line_sums *head)
{
	struct diff_line changed = { 0 };
	size_t b = 0;

	for (size_t h = 0; h < head->count; h++) {
		struct diff_line line = { head->sums[h].line, 0, head->sums[h].value };

		if (base->count == head->count) {
			line.base = base->sums[h].value;
		} else {
			while (b < base->count && base->sums[b].line < line.line)
				b++;
			line.base = b < base->count && base->sums[b].line == line.line ? base->sums[b].value : 0;
		}
		keep_greatest(&changed, line);
	}
	for (size_t i = 0; head->count == 0 && i < base->count; i++)
		keep_greatest(&changed, (struct diff_line){ base->sums[i].line, base->sums[i].value, 0 });
	return changed;
}

bool diff_changed_line(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t function,
	struct diff_line *line, struct error *err)
{
	CLEANUP(line_sums_deinit) struct line_sums base = { 0 };
	CLEANUP(line_sums_deinit) struct line_sums head = { 0 };

	if ((diff->sides == DIFF_SIDES && !sum_lines(diff, DIFF_BASE, profiles[DIFF_BASE], function, &base, err)) ||
		!sum_lines(diff, DIFF_HEAD, profiles[DIFF_HEAD], function, &head, err))
		return false;
	*line = changed_line(&base, &head);
	return true;
}
