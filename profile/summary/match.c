/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matches the functions of a set's profiles, which may have other keys in each. */
#include "profile/summary/summary.h"

#include <stdlib.h>
#include <string.h>

/* The functions of a set that have one template in one module. */
struct match_class {
	size_t functions;
	uint32_t latest;
	bool has_numbers;
	size_t profiles, rows;   /* profiles that have any of them, and of how many functions in all these */
	size_t most, in_profile; /* in one profile: the most, and in the one at hand */
	size_t profile;          /* the last one that has any, counted from 1 */
};

struct matching {
	struct summary_set *set;
	struct match_class *classes;    /* owned */
	uint32_t *class_of;             /* owned: [function] */
	struct string_table *templates; /* owned */
};

static void matching_deinit(struct matching *matching)
{
	free(matching->classes);
	free(matching->class_of);
	string_table_destroy(matching->templates);
}

static bool match_classes(struct matching *matching, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);
	const struct summary_set *set = matching->set;

	for (uint32_t i = 0; i < set->function_count; i++) {
		const char *key = summary_string(set, set->functions[i].key);
		struct match_class *class;
		bool has_numbers;

		text.size = 0;
		has_numbers = profile_key_template(key, &text);
		buffer_printf(&text, "`%s`%d", profile_split_key(key).module, set->functions[i].interrupt);
		if (!buffer_ok(&text, err) ||
			!string_table_add(matching->templates, text.data, text.size, &matching->class_of[i], err))
			return false;
		class = &matching->classes[matching->class_of[i]];
		class->functions++;
		class->latest = i;
		class->has_numbers |= has_numbers;
	}
	return true;
}

static void match_count(struct matching *matching)
{
	const struct summary_set *set = matching->set;

	for (size_t i = 0; i < set->count; i++) {
		for (size_t k = 0; k < set->items[i].row_count; k++) {
			struct match_class *class =
				&matching->classes[matching->class_of[set->items[i].rows[k].function]];

			if (class->profile != i + 1) {
				class->profile = i + 1;
				class->profiles++;
				class->in_profile = 0;
			}
			class->rows++;
			class->in_profile++;
			class->most = class->in_profile > class->most ? class->in_profile : class->most;
		}
	}
}

/*
 * Returns whether the functions of a class are one in a history: each profile has one of them at most, or they are
 * numbered and profiles have other numbers.
 */
static bool match_is_one(const struct match_class *class)
{
	if (class->functions < 2)
		return false;
	return class->most < 2 || (class->has_numbers && class->rows < class->functions * class->profiles);
}

/* Adds the function that stands for several of one profile, by what their names have in common. */
static bool match_add_group(struct matching *matching, struct match_class *class, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);
	struct summary_set *set = matching->set;
	struct summary_function group = set->functions[class->latest];
	const char *key = summary_string(set, group.key);

	profile_shown_template(key, &text);
	buffer_printf(&text, " (%zu functions)", class->most);
	if (!buffer_ok(&text, err) || !string_table_add(set->strings, text.data, text.size, &group.name, err))
		return false;
	group.shown = group.name;
	buffer_printf(&text, "`%s", profile_split_key(key).module);
	return buffer_ok(&text, err) && string_table_add(set->strings, text.data, text.size, &group.key, err) &&
	       summary_add_function(set, &group, &class->latest, err);
}

/* Returns whether a row is another function's. */
static bool match_moves(const struct matching *matching, const struct summary_row *row)
{
	const struct match_class *class = &matching->classes[matching->class_of[row->function]];

	return match_is_one(class) && class->latest != row->function;
}

static bool match_rows(const struct matching *matching, struct summary *summary, struct error *err)
{
	size_t moved = 0;

	for (size_t i = 0; i < summary->row_count; i++)
		moved += match_moves(matching, &summary->rows[i]);
	if (moved == 0)
		return true;
	if (!ARRAY_ZEROED(&summary->own_rows, summary->row_count, err))
		return false;
	summary->own_row_count = summary->row_count;
	memcpy(summary->own_rows, summary->rows, summary->row_count * sizeof(*summary->rows));
	for (size_t i = 0; i < summary->row_count; i++)
		if (match_moves(matching, &summary->rows[i]))
			summary->rows[i].function =
				matching->classes[matching->class_of[summary->rows[i].function]].latest;
	summary_sort_rows(summary);
	return true;
}

bool summary_match_functions(struct summary_set *set, struct error *err)
{
	CLEANUP(matching_deinit) struct matching matching = { .set = set };

	if (!ARRAY_ZEROED(&matching.classes, set->function_count + 1, err) ||
		!ARRAY_ZEROED(&matching.class_of, set->function_count + 1, err) ||
		!string_table_create(SIZE_MAX / 2, &matching.templates, err) || !match_classes(&matching, err))
		return false;
	match_count(&matching);
	for (uint32_t i = 0; i < string_table_count(matching.templates); i++)
		if (match_is_one(&matching.classes[i]) && matching.classes[i].most > 1 &&
			!match_add_group(&matching, &matching.classes[i], err))
			return false;
	for (size_t i = 0; i < set->count; i++)
		if (!match_rows(&matching, &set->items[i], err))
			return false;
	return true;
}
