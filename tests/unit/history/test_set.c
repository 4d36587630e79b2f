/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/summary/summary.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <string.h>

enum { MOST_ALLOCATIONS = 1000 };

static uint32_t string_of(struct summary_set *set, const char *text)
{
	struct error err;
	uint32_t id;

	must(string_table_add(set->strings, text, strlen(text), &id, &err), &err);
	return id;
}

static struct summary_set *empty_set(void)
{
	struct summary_set *set;
	struct error err;

	must(summary_set_create(&set, &err), &err);
	return set;
}

static struct summary *add_summary(struct summary_set *set)
{
	struct summary *summary;
	struct error err;

	must(summary_add_empty(set, &summary, &err), &err);
	return summary;
}

static uint32_t add_function(struct summary_set *set, struct summary_function function)
{
	struct error err;
	uint32_t id;

	must(summary_add_function(set, &function, &id, &err), &err);
	return id;
}

static void add_row(struct summary_set *set, struct summary_row row)
{
	struct error err;

	must(summary_add_row(set, &row, &err), &err);
}

static void finish(struct summary_set *set)
{
	struct error err;

	must(summary_finish(set, &err), &err);
}

static void a_function_is_one_by_its_key_and_as_the_latest_profile_has_it(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = empty_set();
	const uint32_t parse = string_of(set, "parse`app"), old_file = string_of(set, "old.c");
	const uint32_t new_file = string_of(set, "new.c"), name = string_of(set, "parse");
	struct summary_function first = { .key = parse, .name = name, .file = old_file };

	first.origin = PROFILE_ORIGIN_USER;
	assert_int_equal(add_function(set, first), 0);
	assert_int_equal(add_function(set, (struct summary_function){ .key = string_of(set, "lex`app") }), 1);
	assert_int_equal(add_function(set, (struct summary_function){ .key = parse, .file = new_file }), 0);
	assert_int_equal(set->function_count, 2);
	assert_int_equal(set->functions[0].file, new_file);
	/* What the latest one does not know stays. */
	assert_int_equal(set->functions[0].name, name);
	assert_int_equal(set->functions[0].origin, PROFILE_ORIGIN_USER);
}

static void rows_are_found_by_function_and_each_is_there_once(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = empty_set();
	const struct summary *summary = add_summary(set);
	const struct summary_row *row;

	add_row(set, (struct summary_row){ .function = 7, .self = 1, .total = 4, .self_error = 3, .fingerprint = 5 });
	add_row(set, (struct summary_row){ .function = 2, .total = 9, .fingerprint = 6 });
	add_row(set, (struct summary_row){ .function = 4 });
	add_row(set, (struct summary_row){ .function = 7, .self = 2, .total = 2, .self_error = 4, .fingerprint = 8 });
	finish(set);
	assert_int_equal(summary->row_count, 2);
	row = summary_row_of(summary, 7);
	assert_non_null(row);
	assert_true(row->self == 3 && row->total == 6 && row->self_error == 5);
	assert_true(row->fingerprint == 0);
	row = summary_row_of(summary, 2);
	assert_non_null(row);
	assert_true(row->total == 9 && row->fingerprint == 6);
	assert_null(summary_row_of(summary, 4));
	assert_null(summary_row_of(summary, 8));
}

static void a_summary_without_rows_has_none(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = empty_set();
	const struct summary *summary = add_summary(set);

	finish(set);
	assert_int_equal(summary->row_count, 0);
	assert_null(summary_row_of(summary, 0));
}

static void binaries_are_in_the_order_of_their_modules(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = empty_set();
	const struct summary *summary = add_summary(set);
	const uint32_t libc = string_of(set, "libc.so"), app = string_of(set, "app"), one = string_of(set, "11");
	const struct summary_binary given[] = { { .module = libc, .build_id = one }, { .module = app, .build_id = one },
		{ .module = app, .build_id = one, .is_program = true }, { .module = app } };
	struct error err;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		must(summary_add_binary(set, &given[i], &err), &err);
	finish(set);
	assert_int_equal(summary->binary_count, 3);
	assert_true(summary->binaries[0].module == app && summary->binaries[0].build_id == 0);
	assert_true(summary->binaries[1].module == app && summary->binaries[1].is_program);
	assert_int_equal(summary->binaries[2].module, libc);
}

static void a_label_is_found_by_its_key(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = empty_set();
	struct summary *summary = add_summary(set);

	summary->labels[0].key = string_of(set, "service");
	summary->labels[0].value = string_of(set, "cart");
	summary->label_count = 1;
	assert_string_equal(summary_label(set, summary, "service"), "cart");
	assert_null(summary_label(set, summary, "version"));
}

static void the_last_summary_can_be_dropped(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = empty_set();

	add_summary(set);
	add_row(set, (struct summary_row){ .self = 1, .total = 1 });
	finish(set);
	add_summary(set);
	add_row(set, (struct summary_row){ .self = 2, .total = 2 });
	summary_drop_last(set);
	assert_int_equal(set->count, 1);
	add_summary(set);
	add_row(set, (struct summary_row){ .self = 3, .total = 3 });
	finish(set);
	assert_true(summary_row_of(&set->items[0], 0)->self == 1);
	assert_true(summary_row_of(&set->items[1], 0)->self == 3);
}

static bool fills_a_set(struct error *err)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	const struct summary_function function = { .key = 0 };
	const struct summary_row row = { .self = 1, .total = 1 };
	const struct summary_binary binary = { .path = 0 };
	struct summary *summary;
	uint32_t id;

	return summary_set_create(&set, err) && summary_add_empty(set, &summary, err) &&
	       summary_add_function(set, &function, &id, err) && summary_add_row(set, &row, err) &&
	       summary_add_binary(set, &binary, err) && summary_finish(set, err);
}

static void without_memory_the_process_ends(void **state)
{
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(fills_a_set(&err), &err);
}

/* ---- Functions that have other keys in other profiles ---- */

/* Adds a profile whose functions are named, up to NULL, each with a time of its place times 100. */
static void add_named(struct summary_set *set, const char *const *keys)
{
	struct summary *summary;
	struct error err;

	assert_true(summary_add_empty(set, &summary, &err));
	for (size_t i = 0; keys[i]; i++) {
		struct summary_function function = { 0 };
		struct summary_row row = { .self = 100 * (double)(i + 1), .total = 100 * (double)(i + 1) };

		assert_true(string_table_add(set->strings, keys[i], strlen(keys[i]), &function.key, &err));
		function.name = function.shown = function.key;
		assert_true(summary_add_function(set, &function, &row.function, &err));
		assert_true(summary_add_row(set, &row, &err));
	}
	assert_true(summary_finish(set, &err));
}

static double self_of(const struct summary_set *set, size_t profile, const char *name)
{
	double self = 0;

	for (size_t i = 0; i < set->items[profile].row_count; i++)
		if (strcmp(summary_string(set, set->functions[set->items[profile].rows[i].function].name), name) == 0)
			self += set->items[profile].rows[i].self;
	return self;
}

static void functions_with_other_keys_are_matched(void **state)
{
	static const char *const profiles[][5] = {
		{ "S.lambda$main$3`m", "parse /srv/r1/a.js`m", "run.func1`m", "run.func2`m" },
		{ "S.lambda$main$5`m", "parse /srv/r2/a.js`m", "run.func1`m", "run.func2`m" },
		{ "S.lambda$main$4`m", "parse /srv/r3/a.js`m", "run.func1`m", "run.func2`m" },
	};
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	struct error err;

	assert_true(summary_set_create(&set, &err));
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		add_named(set, profiles[i]);
	assert_true(summary_match_functions(set, &err));
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		assert_int_equal(set->items[i].row_count, 4);
		assert_float_equal(self_of(set, i, "S.lambda$main$4`m"), 100, 0);
		assert_float_equal(self_of(set, i, "parse /srv/r3/a.js`m"), 200, 0);
		assert_float_equal(self_of(set, i, "run.func1`m"), 300, 0);
		assert_float_equal(self_of(set, i, "run.func2`m"), 400, 0);
	}
	/* What is kept is what each profile has itself. */
	assert_int_equal(set->items[0].own_row_count, 4);
	assert_null(set->items[2].own_rows);
}

/* One was inserted: nothing tells which of the others is which. */
static void functions_that_nothing_tells_apart_are_one(void **state)
{
	static const char *const profiles[][5] = {
		{ "S.lambda$main$0`m", "S.lambda$main$1`m", "other`m" },
		{ "S.lambda$main$0`m", "S.lambda$main$1`m", "S.lambda$main$2`m", "other`m" },
		{ "S.lambda$main$0`other", "S.lambda$main$1`other" },
	};
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	struct error err;

	assert_true(summary_set_create(&set, &err));
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		add_named(set, profiles[i]);
	assert_true(summary_match_functions(set, &err));
	assert_float_equal(self_of(set, 0, "S.lambda$main$* (3 functions)"), 300, 0);
	assert_float_equal(self_of(set, 1, "S.lambda$main$* (3 functions)"), 600, 0);
	assert_float_equal(self_of(set, 0, "other`m"), 300, 0);
	assert_int_equal(set->items[2].row_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_with_other_keys_are_matched),
		cmocka_unit_test(functions_that_nothing_tells_apart_are_one),
		cmocka_unit_test(a_function_is_one_by_its_key_and_as_the_latest_profile_has_it),
		cmocka_unit_test(rows_are_found_by_function_and_each_is_there_once),
		cmocka_unit_test(a_summary_without_rows_has_none),
		cmocka_unit_test(binaries_are_in_the_order_of_their_modules),
		cmocka_unit_test(a_label_is_found_by_its_key),
		cmocka_unit_test(the_last_summary_can_be_dropped),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
