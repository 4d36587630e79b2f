/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the files that have another path in head, by the functions that were matched. */
#include "diff/file_pairs.h"

#include <stdlib.h>

/* Two paths and the self time of the functions that say so, as measured. */
struct file_pair {
	uint32_t base, head; /* strings of the diff */
	double time;
};

struct diff_file_pairs {
	const struct diff *diff;
	uint32_t *partners; /* owned; [string] the path of the other side; 0: none */
};

/* What is met while pairs are found. */
struct survey {
	struct file_pair *items; /* owned */
	size_t count, capacity;
	struct hash_map index;
	bool *is_on[DIFF_SIDES]; /* owned; [string] it is a path of this side */
};

static void survey_deinit(struct survey *survey)
{
	free(survey->items);
	hash_map_deinit(&survey->index);
	for (int side = 0; side < DIFF_SIDES; side++)
		free(survey->is_on[side]);
}

void diff_file_pairs_destroy(struct diff_file_pairs *pairs)
{
	if (!pairs)
		return;
	free(pairs->partners);
	free(pairs);
}

static bool add_pair(struct survey *survey, const struct diff_function *f, struct error *err)
{
	uint32_t key[2] = { f->base_file, f->file }, *id;
	bool added;

	if (!hash_map_add(&survey->index, key, (uint32_t)survey->count, &id, &added, err))
		return false;
	if (added) {
		if (!ARRAY_RESERVE(&survey->items, &survey->capacity, survey->count + 1, ARRAY_MAX_IDS, err))
			return false;
		survey->items[survey->count++] = (struct file_pair){ .base = key[0], .head = key[1] };
	}
	survey->items[*id].time += f->raw_self[DIFF_BASE] + f->raw_self[DIFF_HEAD];
	return true;
}

static bool survey_functions(struct survey *survey, const struct diff *diff, struct error *err)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (f->tier == DIFF_TIER_ONE_SIDED) {
			for (int side = 0; side < DIFF_SIDES; side++)
				survey->is_on[side][f->file] |= f->raw_total[side] > 0;
			continue;
		}
		survey->is_on[DIFF_BASE][f->base_file] = true;
		survey->is_on[DIFF_HEAD][f->file] = true;
		if (f->base_file != 0 && f->file != 0 && f->base_file != f->file && !add_pair(survey, f, err))
			return false;
	}
	return true;
}

/* Pairs with most time come first; ties are in order of string ids, so that the result does not depend on the sort. */
static int by_falling_time(const void *left, const void *right)
{
	const struct file_pair *a = left, *b = right;

	if (a->time != b->time)
		return ORDER(b->time, a->time);
	return a->base != b->base ? ORDER(a->base, b->base) : ORDER(a->head, b->head);
}

static void join(const struct survey *survey, uint32_t *partners)
{
	if (survey->count > 0)
		qsort(survey->items, survey->count, sizeof(*survey->items), by_falling_time);
	for (size_t i = 0; i < survey->count; i++) {
		const struct file_pair *pair = &survey->items[i];

		if (survey->is_on[DIFF_HEAD][pair->base] || survey->is_on[DIFF_BASE][pair->head] ||
			partners[pair->base] != 0 || partners[pair->head] != 0)
			continue;
		partners[pair->base] = pair->head;
		partners[pair->head] = pair->base;
	}
}

bool diff_file_pairs_create(const struct diff *diff, struct diff_file_pairs **pairs, struct error *err)
{
	size_t strings = string_table_count(diff->strings);
	CLEANUP(diff_file_pairs_cleanup) struct diff_file_pairs *made = calloc(1, sizeof(*made));
	CLEANUP(survey_deinit) struct survey survey = { 0 };

	hash_map_init(&survey.index, 2 * sizeof(uint32_t));
	for (int side = 0; side < DIFF_SIDES; side++)
		survey.is_on[side] = calloc(strings + 1, sizeof(bool));
	if (!made || !survey.is_on[DIFF_BASE] || !survey.is_on[DIFF_HEAD])
		return error_set_memory(err);
	made->diff = diff;
	made->partners = calloc(strings + 1, sizeof(*made->partners));
	if (!made->partners)
		return error_set_memory(err);
	if (!survey_functions(&survey, diff, err))
		return false;
	join(&survey, made->partners);
	*pairs = TAKE(made);
	return true;
}

const char *diff_file_partner(const struct diff_file_pairs *pairs, const char *path, size_t bytes)
{
	uint32_t string = string_table_find(pairs->diff->strings, path, bytes);

	return string != UINT32_MAX && pairs->partners[string] ? diff_string(pairs->diff, pairs->partners[string])
							       : NULL;
}
