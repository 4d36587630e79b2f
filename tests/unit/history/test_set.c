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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
