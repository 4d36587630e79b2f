/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of functions whose self values changed most, by pairing the sampled lines of both sides. */
#include "diff/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Self values by function and line. */
struct line_sums {
	struct line_sum {
		uint32_t function, line;
		double value;
	} * sums; /* owned */
	size_t count;
};

/* The sums of one function. */
struct changed_line_range {
	const struct line_sum *sums; /* borrowed */
	size_t count;
};

static void line_sums_deinit(struct line_sums *sums)
{
	free(sums->sums);
}

static int changed_line_compare(const void *left, const void *right)
{
	const struct line_sum *a = left, *b = right;

	return a->function != b->function ? ORDER(a->function, b->function) : ORDER(a->line, b->line);
}

/* Functions of several files may be one in a diff, and have lines of the same number. */
static void changed_line_add_up(struct line_sums *sums)
{
	size_t kept = 0;

	if (sums->count == 0)
		return;
	qsort(sums->sums, sums->count, sizeof(*sums->sums), changed_line_compare);
	for (size_t i = 1; i < sums->count; i++) {
		if (changed_line_compare(&sums->sums[i], &sums->sums[kept]) == 0)
			sums->sums[kept].value += sums->sums[i].value;
		else
			sums->sums[++kept] = sums->sums[i];
	}
	sums->count = kept + 1;
}

static void sum_lines(const struct diff *diff, enum diff_side side, const struct profile *profile, const bool *wanted,
	struct line_sums *sums)
{
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = NULL;

	diff_lines_create(diff, side, profile, wanted, &lines);
	sums->sums = memory_zeroed(lines->place_count + 1, sizeof(*sums->sums));
	for (size_t i = 0; i < lines->place_count; i++) {
		const struct diff_place *place = &lines->places[i];

		if (place->self > 0 && place->line > 0 && diff_place_is_own(profile, place))
			sums->sums[sums->count++] = (struct line_sum){ place->function, place->line, place->self };
	}
	changed_line_add_up(sums);
}

static void keep_greatest(struct diff_line *kept, struct diff_line line)
{
	if (kept->line == 0 || fabs(line.head - line.base) > fabs(kept->head - kept->base))
		*kept = line;
}

/* Pairs the lines of both sides; a line that only base has is named by its number there, if head has none at all. */
static struct diff_line changed_line(const struct changed_line_range *base, const struct changed_line_range *head)
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

/* Takes the sums of a function from the front of a range. */
static struct changed_line_range take_function(struct changed_line_range *range, uint32_t function)
{
	struct changed_line_range taken = { range->sums, 0 };

	while (range->count > 0 && range->sums->function == function) {
		taken.count++;
		range->sums++;
		range->count--;
	}
	return taken;
}

/* Fills changed[function] of all functions that are wanted; other entries become empty. */
static void changed_line_find_changed(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const bool *wanted, struct diff_line *changed)
{
	CLEANUP(line_sums_deinit) struct line_sums base = { 0 };
	CLEANUP(line_sums_deinit) struct line_sums head = { 0 };
	struct changed_line_range base_left, head_left;

	if (diff->sides == DIFF_SIDES)
		sum_lines(diff, DIFF_BASE, profiles[DIFF_BASE], wanted, &base);
	sum_lines(diff, DIFF_HEAD, profiles[DIFF_HEAD], wanted, &head);
	base_left = (struct changed_line_range){ base.sums, base.count };
	head_left = (struct changed_line_range){ head.sums, head.count };
	for (uint32_t i = 0; i < diff->function_count; i++) {
		struct changed_line_range of_base = take_function(&base_left, i),
					  of_head = take_function(&head_left, i);

		changed[i] = changed_line(&of_base, &of_head);
	}
}

void diff_changed_line(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t function,
	struct diff_line *line)
{
	CLEANUP(cleanup_free) bool *wanted = memory_zeroed(diff->function_count + 1, sizeof(*wanted));
	CLEANUP(cleanup_free) struct diff_line *changed = memory_alloc((diff->function_count + 1) * sizeof(*changed));

	wanted[function] = true;
	changed_line_find_changed(diff, profiles, wanted, changed);
	*line = changed[function];
}

void diff_changed_lines(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t *lines)
{
	CLEANUP(cleanup_free) bool *wanted = memory_zeroed(diff->function_count + 1, sizeof(*wanted));
	CLEANUP(cleanup_free) struct diff_line *changed = memory_alloc((diff->function_count + 1) * sizeof(*changed));

	for (size_t i = 0; i < diff->function_count; i++)
		wanted[i] = diff_state_is_difference(diff->functions[i].self.state);
	changed_line_find_changed(diff, profiles, wanted, changed);
	for (size_t i = 0; i < diff->function_count; i++)
		lines[i] = changed[i].line;
}

void diff_append_place(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t function,
	struct buffer *out)
{
	const struct diff_function *f = &diff->functions[function];
	const char *file = diff_string(diff, f->file), *slash = strrchr(file, '/');
	struct diff_line line = { 0 };

	if (profiles[DIFF_HEAD])
		diff_changed_line(diff, profiles, function, &line);
	if (line.line == 0)
		line.line = f->line;
	if (file[0] && line.line)
		buffer_printf(out, "%s:%u", slash ? slash + 1 : file, line.line);
}
