/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of functions whose self values changed most, by pairing the sampled lines of both sides. */
#include "diff/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Self values by function and line. */
struct line_sums {
	struct line_sum {
		uint32_t function, line;
		double value;
	} * sums; /* owned */
	size_t count, capacity;
};

/* The sums of one function. */
struct line_range {
	const struct line_sum *sums; /* borrowed */
	size_t count;
};

static void line_sums_deinit(struct line_sums *sums)
{
	free(sums->sums);
}

static bool add_line(struct line_sums *sums, struct line_sum sum, struct error *err)
{
	if (!ARRAY_RESERVE(&sums->sums, &sums->capacity, sums->count + 1, ARRAY_MAX_IDS, err))
		return false;
	sums->sums[sums->count++] = sum;
	return true;
}

static int by_line(const void *left, const void *right)
{
	const struct line_sum *a = left, *b = right;

	return a->function != b->function ? ORDER(a->function, b->function) : ORDER(a->line, b->line);
}

static void add_up(struct line_sums *sums)
{
	size_t kept = 0;

	if (sums->count == 0)
		return;
	qsort(sums->sums, sums->count, sizeof(*sums->sums), by_line);
	for (size_t i = 1; i < sums->count; i++) {
		if (by_line(&sums->sums[i], &sums->sums[kept]) == 0)
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
 * Moves to the frame of the function whose self value a sample counts to. A sample in an interpreter counts to the
 * function that this runs, where only frames of the interpreter are between.
 */
static void frame_to_owner(const struct diff *diff, const struct profile *profile, struct frame *frame)
{
	const struct diff_function *f = &diff->functions[diff->nodes[frame->node].function];
	unsigned int language = f->interprets;
	struct frame above = *frame;

	if (language == PROFILE_LANGUAGE_NATIVE)
		return;
	while (frame_up(diff, profile, &above)) {
		f = &diff->functions[diff->nodes[above.node].function];
		if (f->language == language) {
			*frame = above;
			return;
		}
		if (f->interprets != language)
			return;
	}
}

/* The line of the function's file; 0: it is not known, or that of another file. */
static uint32_t line_of_frame(const struct profile *profile, struct frame frame)
{
	const struct profile_location *location = &profile->locations[profile->stacks[frame.stack].location];
	const struct profile_line *line =
		frame.depth < location->line_count ? &profile->lines[location->first_line + frame.depth] : NULL;

	return line && line->file == 0 ? line->line : 0;
}

/* Sums one function, or all whose own change is proven (PROFILE_NONE). */
static bool sum_lines(const struct diff *diff, enum diff_side side, const struct profile *profile, uint32_t function,
	struct line_sums *sums, struct error *err)
{
	const char *type = diff_string(diff, diff->metric), *unit = diff_string(diff, diff->unit);
	uint32_t metric = profile_find_metric(profile, type, unit);
	double factor = side == DIFF_HEAD && diff->sides == DIFF_SIDES ? diff->scale.factor : 1;

	if (metric == PROFILE_NONE)
		metric = 0;
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct line_sum sum = { .value = (double)profile->values[i * profile->value_type_count + metric] *
						 factor };
		struct frame frame = { profile->samples[i].stack, diff->sample_nodes[side][i], 0 };

		if (!(sum.value > 0) || frame.node == 0)
			continue;
		frame_to_owner(diff, profile, &frame);
		sum.function = diff->nodes[frame.node].function;
		if (function == PROFILE_NONE ? !diff_state_is_difference(diff->functions[sum.function].self.state)
					     : sum.function != function)
			continue;
		sum.line = line_of_frame(profile, frame);
		if (sum.line > 0 && !add_line(sums, sum, err))
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
static struct diff_line changed_line(const struct line_range *base, const struct line_range *head)
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
	*line = changed_line(
		&(struct line_range){ base.sums, base.count }, &(struct line_range){ head.sums, head.count });
	return true;
}

/* Takes the sums of a function from the front of a range. */
static struct line_range take_function(struct line_range *range, uint32_t function)
{
	struct line_range taken = { range->sums, 0 };

	while (range->count > 0 && range->sums->function == function) {
		taken.count++;
		range->sums++;
		range->count--;
	}
	return taken;
}

bool diff_changed_lines(
	const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t *lines, struct error *err)
{
	CLEANUP(line_sums_deinit) struct line_sums base = { 0 };
	CLEANUP(line_sums_deinit) struct line_sums head = { 0 };
	struct line_range base_left, head_left;

	if (!sum_lines(diff, DIFF_BASE, profiles[DIFF_BASE], PROFILE_NONE, &base, err) ||
		!sum_lines(diff, DIFF_HEAD, profiles[DIFF_HEAD], PROFILE_NONE, &head, err))
		return false;
	base_left = (struct line_range){ base.sums, base.count };
	head_left = (struct line_range){ head.sums, head.count };
	for (uint32_t i = 0; i < diff->function_count; i++) {
		struct line_range of_base = take_function(&base_left, i), of_head = take_function(&head_left, i);

		lines[i] = changed_line(&of_base, &of_head).line;
	}
	return true;
}

bool diff_append_place(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t function,
	struct buffer *out, struct error *err)
{
	const struct diff_function *f = &diff->functions[function];
	const char *file = diff_string(diff, f->file), *slash = strrchr(file, '/');
	struct diff_line line = { 0 };

	if (profiles[DIFF_HEAD] && !diff_changed_line(diff, profiles, function, &line, err))
		return false;
	if (line.line == 0)
		line.line = f->line;
	if (file[0] && line.line)
		buffer_printf(out, "%s:%u", slash ? slash + 1 : file, line.line);
	return true;
}
