/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of lines that are not in the file of their function: code of macros, and of files that were included. */
#include "diff/listing/lister.h"

#include <string.h>

/* The lines of one side of a function, of which the greatest are listed. */
enum { MOST_OTHERS = 256 };

struct other {
	uint32_t place, line;
	uint32_t file;    /* string of the listing: its path */
	const char *name; /* the last part of the path: two builds may lie in different directories */
	const struct text_line *text;
	double total;
	bool is_paired;
};

struct others {
	struct other items[MOST_OTHERS];
	size_t count;
};

static int by_total(const void *left, const void *right)
{
	const struct other *a = left, *b = right;

	return a->total != b->total ? ORDER(b->total, a->total) : ORDER(a->place, b->place);
}

static int elsewhere_by_place(const void *left, const void *right)
{
	const struct other *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	order = order ? order : ORDER(a->file, b->file);
	return order ? order : ORDER(a->line, b->line);
}

static bool name_other(struct lister *lister, enum diff_side number, const struct lister_side *side,
	struct other *other, struct error *err)
{
	const struct profile *profile = lister->profiles[number];
	const struct diff_place *place = &lister->places[number].lines->places[other->place];
	const char *path = profile_string(profile, place->file), *slash = strrchr(path, '/');
	struct sources_file file = { .line = place->line, .build_id = side->build_id };
	const struct listing_source *source;

	if (!string_table_add(lister->listing->strings, path, strlen(path), &other->file, err))
		return false;
	file.path = other->file;
	if (!sources_find(&lister->sources[number], &file, &source, err))
		return false;
	other->text = source ? text_line_at(&source->text, place->line) : NULL;
	other->name = slash ? slash + 1 : path;
	return true;
}

static bool elsewhere_collect(struct lister *lister, enum diff_side number, const struct lister_side *side,
	struct others *others, struct error *err)
{
	CLEANUP(cleanup_free) struct other *all = memory_alloc((side->other_count + 1) * sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; i < side->other_count; i++) {
		const struct diff_place *place = &lister->places[number].lines->places[side->others[i]];

		if (place->line > 0)
			all[count++] =
				(struct other){ .place = side->others[i], .line = place->line, .total = place->total };
	}
	qsort(all, count, sizeof(*all), by_total);
	others->count = count < MOST_OTHERS ? count : MOST_OTHERS;
	for (size_t i = 0; i < others->count; i++) {
		others->items[i] = all[i];
		if (!name_other(lister, number, side, &others->items[i], err))
			return false;
	}
	qsort(others->items, others->count, sizeof(*others->items), elsewhere_by_place);
	return true;
}

/* Lines of one file are the same if their texts are; if a text is not known, if they have the same number. */
static bool elsewhere_is_same(const struct other *base, const struct other *head)
{
	if (strcmp(base->name, head->name) != 0)
		return false;
	if (!base->text || !head->text)
		return base->line == head->line;
	return base->text->size == head->text->size &&
	       memcmp(base->text->text, head->text->text, base->text->size) == 0;
}

static struct other *partner_of(struct others *head, const struct other *base)
{
	for (size_t i = 0; i < head->count; i++)
		if (!head->items[i].is_paired && elsewhere_is_same(base, &head->items[i]))
			return &head->items[i];
	return NULL;
}

/* Appends a row of one line of each side, of which one may be NULL. */
static bool elsewhere_add_row(struct lister *lister, struct listing_function *listed,
	struct other *const lines[DIFF_SIDES], size_t *capacity, struct error *err)
{
	struct listing_row *row;
	size_t number = lister->row_count + listed->row_count;

	if (!lister_add_row(listed, capacity, &row, err))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct other *line = lines[side];

		if (!line)
			continue;
		line->is_paired = true;
		row->line[side] = line->line;
		row->file = line->file;
		if (line->text && !text_intern_shown(lister->listing->strings, line->text, lister_line_bytes(lister),
					  &row->text[side], err))
			return false;
		lister_add_time(lister, (enum diff_side)side, line->place, row, number);
	}
	listed->elsewhere_count++;
	return true;
}

bool lister_add_elsewhere(struct lister *lister, struct listing_function *listed,
	const struct lister_side sides[DIFF_SIDES], size_t *capacity, struct error *err)
{
	CLEANUP(cleanup_free) struct others *others = memory_zeroed(DIFF_SIDES, sizeof(*others));

	for (int side = (int)lister_first_side(lister); side < DIFF_SIDES; side++)
		if (!elsewhere_collect(lister, (enum diff_side)side, &sides[side], &others[side], err))
			return false;
	for (size_t i = 0; i < others[DIFF_BASE].count; i++) {
		struct other *line = &others[DIFF_BASE].items[i];

		if (!elsewhere_add_row(lister, listed, (struct other *[]){ line, partner_of(&others[DIFF_HEAD], line) },
			    capacity, err))
			return false;
	}
	for (size_t i = 0; i < others[DIFF_HEAD].count; i++)
		if (!others[DIFF_HEAD].items[i].is_paired &&
			!elsewhere_add_row(
				lister, listed, (struct other *[]){ NULL, &others[DIFF_HEAD].items[i] }, capacity, err))
			return false;
	return true;
}
