/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SET_MAX_STRING_BYTES = 1 << 28, SET_MAX_BINARIES = 1 << 16 };

struct summary_index {
	struct hash_map functions; /* key (a string) -> function */
	size_t function_capacity, capacity;
	size_t row_capacity, binary_capacity; /* of the last summary */
};

bool summary_set_create(struct summary_set **set, struct error *err)
{
	struct summary_set *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->index = calloc(1, sizeof(*made->index));
	if (!made->index || !string_table_create(SET_MAX_STRING_BYTES, &made->strings, err)) {
		if (!made->index)
			error_set_memory(err);
		free(made->index);
		free(made);
		return false;
	}
	hash_map_init(&made->index->functions, sizeof(uint32_t));
	*set = made;
	return true;
}

static void set_free_summary(struct summary *summary)
{
	free(summary->rows);
	free(summary->own_rows);
	free(summary->binaries);
}

void summary_set_destroy(struct summary_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		set_free_summary(&set->items[i]);
	hash_map_deinit(&set->index->functions);
	string_table_destroy(set->strings);
	free(set->functions);
	free(set->items);
	free(set->index);
	free(set);
}

bool summary_add_empty(struct summary_set *set, struct summary **summary, struct error *err)
{
	struct summary_index *index = set->index;

	if (!ARRAY_RESERVE(&set->items, &index->capacity, set->count + 1, ARRAY_MAX_IDS, err))
		return false;
	index->row_capacity = index->binary_capacity = 0;
	*summary = &set->items[set->count++];
	**summary = (struct summary){ .runs = 1 };
	return true;
}

void summary_drop_last(struct summary_set *set)
{
	set_free_summary(&set->items[--set->count]);
}

/* What the newer profile knows of a function replaces what is there. */
static void set_take_over(struct summary_function *into, const struct summary_function *from)
{
	if (from->name)
		into->name = from->name;
	if (from->shown)
		into->shown = from->shown;
	if (from->shown_in)
		into->shown_in = from->shown_in;
	if (from->module)
		into->module = from->module;
	if (from->file)
		into->file = from->file;
	if (from->origin != PROFILE_ORIGIN_UNKNOWN)
		into->origin = from->origin;
	if (from->language != PROFILE_LANGUAGE_NATIVE)
		into->language = from->language;
	into->interrupt = from->interrupt;
}

bool summary_add_function(
	struct summary_set *set, const struct summary_function *function, uint32_t *id, struct error *err)
{
	struct summary_index *index = set->index;
	uint32_t *found;
	bool added;

	if (!ARRAY_RESERVE(&set->functions, &index->function_capacity, set->function_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&index->functions, &function->key, (uint32_t)set->function_count, &found, &added, err))
		return false;
	if (added)
		set->functions[set->function_count++] = *function;
	else
		set_take_over(&set->functions[*found], function);
	*id = *found;
	return true;
}

bool summary_add_row(struct summary_set *set, const struct summary_row *row, struct error *err)
{
	struct summary *last = &set->items[set->count - 1];

	return ARRAY_APPEND(&last->rows, &set->index->row_capacity, &last->row_count, ARRAY_MAX_IDS, err, *row);
}

bool summary_add_binary(struct summary_set *set, const struct summary_binary *binary, struct error *err)
{
	struct summary *last = &set->items[set->count - 1];

	return ARRAY_APPEND(
		&last->binaries, &set->index->binary_capacity, &last->binary_count, SET_MAX_BINARIES, err, *binary);
}

static int set_by_function(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return ORDER(x->function, y->function);
}

static float set_error_of_sum(float a, float b)
{
	return (float)hypot((double)a, (double)b);
}

/* Rows of one function are parts of its time, each with noise of its own. */
static void set_add_up(struct summary_row *into, const struct summary_row *row)
{
	into->self += row->self;
	into->total += row->total;
	into->self_error = set_error_of_sum(into->self_error, row->self_error);
	into->total_error = set_error_of_sum(into->total_error, row->total_error);
	if (into->fingerprint != row->fingerprint)
		into->fingerprint = 0;
}

/* Rows that come from an archive are in order already. */
static bool set_is_in_order(const struct summary *summary)
{
	for (size_t i = 1; i < summary->row_count; i++)
		if (summary->rows[i - 1].function >= summary->rows[i].function)
			return false;
	return true;
}

void summary_sort_rows(struct summary *summary)
{
	struct summary_row *rows = summary->rows;
	size_t kept = 0;

	if (!set_is_in_order(summary))
		qsort(rows, summary->row_count, sizeof(*rows), set_by_function);
	for (size_t i = 0; i < summary->row_count; i++) {
		if (kept && rows[kept - 1].function == rows[i].function)
			set_add_up(&rows[kept - 1], &rows[i]);
		else if (rows[i].self != 0 || rows[i].total != 0)
			rows[kept++] = rows[i];
	}
	summary->row_count = kept;
}

static int set_by_module(const void *a, const void *b, void *strings)
{
	const struct summary_binary *x = a, *y = b;
	int order = strcmp(string_table_get(strings, x->module), string_table_get(strings, y->module));

	if (order == 0)
		order = strcmp(string_table_get(strings, x->build_id), string_table_get(strings, y->build_id));
	return order ? order : strcmp(string_table_get(strings, x->path), string_table_get(strings, y->path));
}

static void set_finish_binaries(struct summary *summary, struct string_table *strings)
{
	struct summary_binary *binaries = summary->binaries;
	size_t kept = 0;

	if (summary->binary_count)
		qsort_r(binaries, summary->binary_count, sizeof(*binaries), set_by_module, strings);
	for (size_t i = 0; i < summary->binary_count; i++) {
		struct summary_binary *before = kept ? &binaries[kept - 1] : NULL;

		if (before && before->module == binaries[i].module && before->build_id == binaries[i].build_id &&
			before->path == binaries[i].path)
			before->is_program |= binaries[i].is_program;
		else
			binaries[kept++] = binaries[i];
	}
	summary->binary_count = kept;
}

bool summary_finish(struct summary_set *set, struct error *err)
{
	struct summary *last = &set->items[set->count - 1];
	struct summary_row *exact;

	summary_sort_rows(last);
	set_finish_binaries(last, set->strings);
	set->index->row_capacity = last->row_count;
	if (last->row_count == 0) {
		free(last->rows);
		last->rows = NULL;
		return true;
	}
	/* A history holds thousands of summaries: each has the memory that it needs and no more. */
	exact = realloc(last->rows, last->row_count * sizeof(*exact));
	if (!exact)
		return error_set_memory(err);
	last->rows = exact;
	return true;
}

const struct summary_row *summary_row_of(const struct summary *summary, uint32_t function)
{
	const struct summary_row wanted = { .function = function };

	return summary->row_count ? bsearch(&wanted, summary->rows, summary->row_count, sizeof(wanted), set_by_function)
				  : NULL;
}

const char *summary_label(const struct summary_set *set, const struct summary *summary, const char *key)
{
	for (size_t i = 0; i < summary->label_count; i++) {
		if (strcmp(summary_string(set, summary->labels[i].key), key) == 0)
			return summary_string(set, summary->labels[i].value);
	}
	return NULL;
}
