/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/groups.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <string.h>

struct place {
	const char *function, *file;
	uint32_t line;
	int64_t samples;
	const char *included; /* the file of the line; NULL: the function's */
};

/* Samples of functions that nobody calls, up to one without a name. */
static struct profile *profile_of(const struct place *places)
{
	struct synthetic s = synthetic_create();
	struct error err;

	synthetic_run(&s, false, 1000);
	for (const struct place *place = places; place->function; place++) {
		struct profile_function function = { .name = profile_id(s.profile, place->function),
			.file = profile_id(s.profile, place->file),
			.module = profile_id(s.profile, "prog"),
			.origin = PROFILE_ORIGIN_USER,
			.name_source = PROFILE_NAME_DWARF };
		struct profile_line line = { .line = place->line,
			.file = place->included ? profile_id(s.profile, place->included) : 0 };
		uint32_t location, stack;

		must(profile_add_function(s.profile, &function, &line.function, &err), &err);
		must(profile_add_location_of_lines(s.profile, PROFILE_NONE, &line, 1, &location, &err), &err);
		must(profile_add_stack(s.profile, 0, location, &stack, &err), &err);
		synthetic_add(&s, stack, place->samples, -1);
	}
	return synthetic_finish(&s);
}

static const struct place of_base[] = { { "parse", "/v1/parse.c", 7, 300 }, { "read", "/v1/io.c", 3, 90 },
	{ "write", "/v1/out.c", 5, 10 }, { "copy", "/usr/copy.h", 2, 40 }, { "old", "/v1/old.c", 2, 40 },
	{ "moved", "/v1/parse.c", 90, 20 }, { "parse", "/v1/parse.c", 4, 80, "/v1/gen/table.inc" },
	{ "parse", "/v1/parse.c", 4, 8, "/v1/a/twice.inc" }, { "parse", "/v1/parse.c", 4, 8, "/v1/b/twice.inc" },
	{ "read", "/v1/io.c", 4, 8, "/v1/only.inc" }, { NULL, NULL, 0, 0, NULL } };
static const struct place of_head[] = { { "parse", "/v2/parse.c", 7, 400 }, { "read", "/v2/io.c", 3, 90 },
	{ "write", "/v2/io.c", 9, 10 }, { "copy", "/usr/copy.h", 2, 40 }, { "added", "/v2/added.c", 2, 40 },
	{ "moved", "/usr/copy.h", 30, 20 }, { "parse", "/v2/parse.c", 4, 70, "/v2/out/table.inc" },
	{ "parse", "/v2/parse.c", 4, 8, "/v2/twice.inc" }, { "write", "/v2/io.c", 4, 8, "/v2/only.inc" },
	{ NULL, NULL, 0, 0, NULL } };

struct comparison {
	struct profile *sides[DIFF_SIDES];
	struct diff *diff;
	struct diff_file_pairs *pairs;
};

static struct comparison compared(void)
{
	struct comparison c = { { profile_of(of_base), profile_of(of_head) }, NULL, NULL };

	c.diff = synthetic_diff(c.sides[DIFF_BASE], c.sides[DIFF_HEAD], NULL);
	diff_file_pairs_create(c.diff, (const struct profile *[]){ c.sides[DIFF_BASE], c.sides[DIFF_HEAD] }, &c.pairs);
	return c;
}

static void comparison_deinit(struct comparison *c)
{
	diff_file_pairs_destroy(c->pairs);
	diff_destroy(c->diff);
	profile_destroy(c->sides[DIFF_BASE]);
	profile_destroy(c->sides[DIFF_HEAD]);
}

static const char *other_path(void *pairs, const char *path, size_t bytes)
{
	return diff_file_partner(pairs, path, bytes);
}

static void files_of_matched_functions_are_one(void **state)
{
	static const char *const partners[][2] = {
		{ "/v1/parse.c", "/v2/parse.c" },
		{ "/v2/parse.c", "/v1/parse.c" },
		/* Of two files that became one, that with more time in it. */
		{ "/v1/io.c", "/v2/io.c" },
		{ "/v2/io.c", "/v1/io.c" },
		{ "/v1/out.c", NULL },
		/* Both sides have it, whatever moved there. */
		{ "/usr/copy.h", NULL },
		/* Lines of one function come from them. */
		{ "/v1/gen/table.inc", "/v2/out/table.inc" },
		{ "/v1/a/twice.inc", NULL },
		{ "/v2/twice.inc", NULL },
		{ "/v1/only.inc", NULL },
		{ "/v1/old.c", NULL },
		{ "/v2/added.c", NULL },
		{ "/elsewhere.c", NULL },
		{ "", NULL },
	};
	CLEANUP(comparison_deinit) struct comparison c = compared();

	for (size_t i = 0; i < sizeof(partners) / sizeof(partners[0]); i++) {
		const char *found = diff_file_partner(c.pairs, partners[i][0], strlen(partners[i][0]));

		if (partners[i][1] ? !found || strcmp(found, partners[i][1]) != 0 : found != NULL)
			fail_msg("%s is %s", partners[i][0], found ? found : "alone");
	}
}

/* The samples of both sides that a condition chooses. */
static void select_both(const struct comparison *c, const struct profile_where *where, int64_t counts[DIFF_SIDES])
{
	const struct profile_other_side other = { .other_path = other_path, .context = c->pairs };
	const struct profile_selection selection = { .where = where, .where_count = 1, .other_side = &other };
	struct error err;

	for (int side = 0; side < DIFF_SIDES; side++) {
		CLEANUP(profile_cleanup) struct profile *selected = NULL;

		must(profile_select(c->sides[side], &selection, &selected, &err), &err);
		counts[side] = 0;
		for (size_t i = 0; i < selected->sample_count; i++)
			counts[side] += selected->values[i * selected->value_type_count];
	}
}

static void a_row_has_the_samples_that_a_condition_chooses(void **state)
{
	static const struct {
		enum profile_selection_key key;
		const char *value, *asked[4];
		int base, head;
	} cases[] = {
		{ PROFILE_SELECT_FILE, "/v2/parse.c", { "/v2/parse.c", "/v1/parse.c", "parse.c", "v1/parse.c" }, 320,
			400 },
		{ PROFILE_SELECT_FILE, "/v2/out/table.inc", { "table.inc", "gen/table.inc", "out/table.inc" }, 80, 70 },
		{ PROFILE_SELECT_LINE, "/v2/out/table.inc:4", { "table.inc:4", "gen/table.inc:4" }, 80, 70 },
		{ PROFILE_SELECT_FILE, "/v2/io.c", { "io.c", "/v2/io.c", "/v1/io.c" }, 90, 100 },
		{ PROFILE_SELECT_FILE, "/v1/out.c", { "out.c" }, 10, 0 },
		{ PROFILE_SELECT_FILE, "/usr/copy.h", { "copy.h" }, 40, 60 },
		{ PROFILE_SELECT_FILE, "/v2/added.c", { "added.c" }, 0, 40 },
		{ PROFILE_SELECT_LINE, "/v2/parse.c:7",
			{ "/v2/parse.c:7", "/v1/parse.c:7", "parse.c:7", "v1/parse.c:7" }, 300, 400 },
		{ PROFILE_SELECT_LINE, "/v2/parse.c:90", { "/v1/parse.c:90", "v2/parse.c:90" }, 20, 0 },
	};
	CLEANUP(comparison_deinit) struct comparison c = compared();
	const struct profile *profiles[DIFF_SIDES] = { c.sides[DIFF_BASE], c.sides[DIFF_HEAD] };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_where where = { .key = cases[i].key };
		CLEANUP(diff_groups_cleanup) struct diff_groups *groups = NULL;
		const struct diff_group *row = NULL;
		struct error err;

		must(diff_groups_create(c.diff, profiles, &where, c.pairs, &groups, &err), &err);
		for (size_t k = 0; k < groups->count; k++)
			if (strcmp(diff_group_value(groups, &groups->items[k]), cases[i].value) == 0)
				row = &groups->items[k];
		assert_non_null(row);
		assert_true(row->samples[DIFF_BASE] == cases[i].base && row->samples[DIFF_HEAD] == cases[i].head);
		for (size_t k = 0; k < 4 && cases[i].asked[k]; k++) {
			int64_t counts[DIFF_SIDES];

			where.value = cases[i].asked[k];
			select_both(&c, &where, counts);
			assert_int_equal(counts[DIFF_BASE], cases[i].base);
			assert_int_equal(counts[DIFF_HEAD], cases[i].head);
		}
	}
}

static void ends_of_paths_are_of_whole_names(void **state)
{
	static const char *const asked[] = { "arse.c", "se.c:7", "/parse.c", "v1/", "", ":7", "parse.c:70" };
	CLEANUP(comparison_deinit) struct comparison c = compared();

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		int64_t counts[DIFF_SIDES];

		select_both(&c, &(struct profile_where){ PROFILE_SELECT_FILE, NULL, asked[i] }, counts);
		assert_int_equal(counts[DIFF_BASE] + counts[DIFF_HEAD], 0);
		select_both(&c, &(struct profile_where){ PROFILE_SELECT_LINE, NULL, asked[i] }, counts);
		assert_int_equal(counts[DIFF_BASE] + counts[DIFF_HEAD], 0);
	}
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(comparison_deinit) struct comparison c = compared();
	const struct profile *profiles[DIFF_SIDES] = { c.sides[DIFF_BASE], c.sides[DIFF_HEAD] };
	const struct profile_where by_line = { .key = PROFILE_SELECT_LINE };
	struct diff_file_pairs *pairs;
	struct diff_groups *groups;
	struct error err;

	while (failing_malloc_in_child()) {
		diff_file_pairs_create(c.diff, profiles, &pairs);
		failing_malloc_end(diff_groups_create(c.diff, profiles, &by_line, pairs, &groups, &err), &err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_matched_functions_are_one),
		cmocka_unit_test(a_row_has_the_samples_that_a_condition_chooses),
		cmocka_unit_test(ends_of_paths_are_of_whole_names),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
