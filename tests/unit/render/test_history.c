/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_fixture.h"
#include "page_blocks.h"
#include "render/history_words.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS = HISTORY_LARGE + 1, MARKDOWN_BYTES = 65536 };

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		count++;
	return count;
}

/* ---- Text ---- */

static void text_fits_every_width(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct history_fixture fixture;

		history_fixture_create(&fixture, (enum history_fixture_kind)kind);
		/* A name in a sentence is one word. */
		for (unsigned int width = kind == HISTORY_LARGE ? 80 : 40; width <= 160;
			width += kind == HISTORY_LARGE ? 40 : 3) {
			CLEANUP(cleanup_free) char *text = history_fixture_text(&fixture, width, false);

			assert_null(strchr(text, '\033'));
			assert_null(strstr(text, "nan"));
			for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
				/* The names of a command's files are one word. */
				if (unicode_text_width(line) > width && !strstr(line, ".pb.gz") &&
					!strstr(line, "script>"))
					fail_msg("wider than %u: %s", width, line);
		}
		history_fixture_destroy(&fixture);
	}
}

static void the_answer_comes_first_and_notices_last(void **state)
{
	struct history_fixture fixture;
	const char *table, *went, *notices;
	CLEANUP(cleanup_free) char *text = NULL;

	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	text = history_fixture_text(&fixture, 200, false);
	assert_ptr_equal(strstr(text, "checkout on api-1: 5 changes are open: 4 cost more, 1 costs less; 1 came and "
				      "went. The largest: `std::vector<Item>::reserve` 90.1 → 41.0 µs per request "
				      "since 25 Oct 14:02 (version 39 → 40)."),
		text);
	table = strstr(text, "\nOpen changes\n");
	went = strstr(text, "\nCame and went\n");
	notices = strstr(text, "\nProfiles that are in no series\n");
	assert_true(table && went > table && notices > went);
	assert_non_null(strstr(table, "\nsince 18 Nov 14:02, version 41 → 42\n"));
	/* Cost that moved is no change. */
	assert_null(strstr(table, "log_line"));
	history_fixture_destroy(&fixture);
}

/* The marks of deploys stand below the first bar of their version. */
static void deploys_stand_below_their_bars(void **state)
{
	struct history_fixture fixture;
	const char *bars, *deploys;
	size_t column;
	CLEANUP(cleanup_free) char *text = NULL, *before = NULL;

	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	text = history_fixture_text(&fixture, 160, false);
	bars = strstr(strstr(text, "\nOver time"), "  parse_header");
	deploys = strstr(bars, "  deploys");
	before = strndup(bars, (size_t)(strstr(bars, "▁") - bars));
	assert_non_null(before);
	column = unicode_text_width(before);
	for (size_t i = 0, marks = 0; deploys[i] != '\n'; i++) {
		static const size_t at[] = { 13, 20, 37 };

		if (deploys[i] == '^')
			assert_int_equal(i, column + at[marks++]);
		assert_true(deploys[i + 1] != '\n' || marks == 3);
	}
	history_fixture_destroy(&fixture);
}

static void a_file_gets_every_change_and_a_terminal_some(void **state)
{
	struct history_fixture fixture;
	CLEANUP(cleanup_free) char *some = NULL, *all = NULL;

	history_fixture_create(&fixture, HISTORY_LARGE);
	some = history_fixture_text(&fixture, 100, false);
	all = history_fixture_text(&fixture, 0, false);
	assert_non_null(strstr(some, "\n  and 380 more\n"));
	assert_true(count_of(some, "\n") < 60);
	assert_null(strstr(all, " more\n"));
	assert_int_equal(count_of(all, "kelvin diff "), 20);
	history_fixture_destroy(&fixture);
}

/* ---- Words ---- */

static void times_tell_profiles_apart(void **state)
{
	struct history_fixture fixture;
	struct history_words words;

	history_fixture_create(&fixture, HISTORY_QUIET);
	words = history_words_of(&fixture.history, &fixture.series[0]);
	assert_string_equal(history_words_time(&words, 0).text, "12 Oct 14:02");
	fixture.set.items[1].start_unix_ns = fixture.set.items[0].start_unix_ns + 1500000000;
	words = history_words_of(&fixture.history, &fixture.series[0]);
	assert_string_equal(history_words_time(&words, 1).text, "12 Oct 14:02:01");
	fixture.set.items[11].start_unix_ns += 365LL * 86400 * 1000000000;
	words = history_words_of(&fixture.history, &fixture.series[0]);
	assert_string_equal(history_words_time(&words, 11).text, "23 Oct 2027 14:02:00");
	fixture.set.items[0].start_unix_ns = 0;
	assert_string_equal(history_words_time(&words, 0).text, "profile 1");
	assert_string_equal(history_words_stamp(1791813720123456789).text, "2026-10-12T14:02:00.123Z");
	assert_string_equal(history_words_stamp(-1).text, "1969-12-31T23:59:59.999Z");
	assert_string_equal(history_words_stamp(0).text, "");
	history_fixture_destroy(&fixture);
}

/* A command can be pasted into a shell, whatever the files are called. */
static void a_command_is_quoted(void **state)
{
	struct history_fixture fixture;
	struct history_words words;
	CLEANUP(buffer_deinit) struct buffer command = { 0 };

	history_fixture_create(&fixture, HISTORY_HOSTILE);
	words = history_words_of(&fixture.history, &fixture.series[0]);
	buffer_init(&command, 4096);
	history_words_command(&words, &fixture.input, 6, &command);
	assert_string_equal(command.data,
		"kelvin diff 'a'\\''b; rm -rf \"$HOME\"' '</script><img src=x onerror=window.hacked=1>|@all|' "
		"-o 1970-01-08-000000.html");
	history_fixture_destroy(&fixture);
}

static const char *side_words(void *context, const struct history_pair *pair, enum diff_side side)
{
	return side ? "'dir/p018…p023'" : context;
}

static void whoever_knows_better_names_the_sides(void **state)
{
	char base[] = "dir/v41";
	struct history_fixture fixture;
	struct history_words words;
	CLEANUP(buffer_deinit) struct buffer command = { 0 };

	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	fixture.input.side_words = side_words;
	fixture.input.context = base;
	words = history_words_of(&fixture.history, &fixture.series[0]);
	buffer_init(&command, 4096);
	history_words_command(&words, &fixture.input, 5, &command);
	assert_string_equal(command.data, "kelvin diff dir/v41 'dir/p018…p023' -o 2026-11-18-1402.html");
	history_fixture_destroy(&fixture);
}

static void a_change_that_doubles_is_a_factor(void **state)
{
	struct history_change change = {
		.function = HISTORY_WHOLE, .before = 100, .after = 250, .delta = 150, .ci_low = 140, .ci_high = 160
	};

	assert_string_equal(history_words_delta(&change).text, "2.50×");
	assert_string_equal(history_words_interval(&change).text, "2.40 to 2.60×");
	change.after = 110;
	change.ci_low = 5;
	change.ci_high = 15;
	assert_string_equal(history_words_delta(&change).text, "+10.0 %");
	assert_string_equal(history_words_interval(&change).text, "5.0 to 15.0 %");
	change.before = 0;
	assert_string_equal(history_words_interval(&change).text, "");
}

/* ---- JSON ---- */

static json_t *json_of(const struct history_fixture *fixture)
{
	CLEANUP(cleanup_free) char *text = history_fixture_json(fixture);
	json_error_t error;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		fail_msg("line %d: %s", error.line, error.text);
	return json;
}

static void json_has_the_promised_members(void **state)
{
	struct history_fixture fixture;
	const json_t *change, *gone, *at;
	json_t *json;

	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	json = json_of(&fixture);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "kelvin.history/1");
	assert_int_equal(json_array_size(json_object_get(json, "profiles")), 48);
	assert_int_equal(json_array_size(json_object_get(json, "changes")), 6);
	assert_int_equal(json_array_size(json_object_get(json, "moved")), 2);
	change = json_array_get(json_object_get(json, "changes"), 1);
	assert_string_equal(json_string_value(json_object_get(change, "function")), "parse_header");
	assert_string_equal(json_string_value(json_object_get(change, "module")), "checkout");
	assert_string_equal(json_string_value(json_object_get(change, "state")), "open");
	assert_string_equal(json_string_value(json_object_get(change, "code")), "changed");
	assert_float_equal(json_number_value(json_object_get(change, "before")), 22036.78, 0.01);
	at = json_object_get(change, "at");
	assert_int_equal(json_integer_value(json_object_get(at, "index")), 37);
	assert_string_equal(json_string_value(json_object_get(at, "name")), "checkout-038.pb.gz");
	assert_string_equal(json_string_value(json_object_get(at, "time")), "2026-11-18T14:02:00.000Z");
	gone = json_array_get(json_object_get(json, "changes"), 5);
	assert_string_equal(json_string_value(json_object_get(gone, "state")), "went");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(gone, "went_at"), "index")), 31);
	json_decref(json);
	history_fixture_destroy(&fixture);
}

static void assert_is_place(const json_t *profiles, const json_t *place)
{
	const json_t *profile = json_array_get(profiles, (size_t)json_integer_value(json_object_get(place, "index")));

	assert_true(json_equal(json_object_get(profile, "name"), json_object_get(place, "name")));
	assert_true(json_equal(json_object_get(profile, "time"), json_object_get(place, "time")));
}

/* Indexes are of the list of all profiles, whichever series a change is of. */
static void json_is_valid_and_its_indexes_are_of_profiles(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct history_fixture fixture;
		const json_t *profiles, *change, *series;
		size_t i, number;
		json_t *json;

		history_fixture_create(&fixture, (enum history_fixture_kind)kind);
		/* The changes become those of the second series. */
		if (kind == HISTORY_SHARES) {
			struct history_series first = fixture.series[0];

			fixture.series[0] = fixture.series[1];
			fixture.series[1] = first;
			fixture.input.part_count = 0;
		}
		json = json_of(&fixture);
		profiles = json_object_get(json, "profiles");
		json_array_foreach(json_object_get(json, "changes"), i, change)
		{
			assert_is_place(profiles, json_object_get(change, "at"));
			if (!json_is_null(json_object_get(change, "went_at")))
				assert_is_place(profiles, json_object_get(change, "went_at"));
		}
		json_array_foreach(profiles, i, change)
		{
			number = (size_t)json_integer_value(json_object_get(change, "series"));
			series = json_array_get(json_object_get(json, "series"), number);
			assert_true((json_int_t)i >= json_integer_value(json_object_get(series, "first")));
		}
		json_decref(json);
		if (kind == HISTORY_SHARES)
			fixture.input.part_count = 3;
		history_fixture_destroy(&fixture);
	}
}

/* ---- Markdown ---- */

static void a_comment_fits_and_says_what_is_left_out(void **state)
{
	struct history_fixture fixture;
	CLEANUP(cleanup_free) char *text = NULL;

	history_fixture_create(&fixture, HISTORY_LARGE);
	text = history_fixture_markdown(&fixture);
	assert_true(strlen(text) <= MARKDOWN_BYTES);
	assert_ptr_equal(strstr(text, "<!-- kelvin-history -->\n### shop: 400 changes are open"), text);
	assert_non_null(strstr(text, "does not fit into a comment"));
	history_fixture_destroy(&fixture);
}

static void names_cannot_write_markdown(void **state)
{
	struct history_fixture fixture;
	CLEANUP(cleanup_free) char *text = NULL;

	history_fixture_create(&fixture, HISTORY_HOSTILE);
	text = history_fixture_markdown(&fixture);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<img"));
	assert_null(strstr(text, "@all"));
	assert_null(strchr(text, '\033'));
	assert_int_equal(count_of(text, "<!--"), 1);
	assert_int_equal(count_of(text, "<code>"), count_of(text, "</code>"));
	history_fixture_destroy(&fixture);
}

/* ---- The page ---- */

static const json_t *point_of(const json_t *page, size_t point)
{
	const json_t *series = json_array_get(json_object_get(page, "series"), 0);

	return json_array_get(json_object_get(series, "points"), point);
}

static void the_history_comes_first_and_every_part_behind_the_script(void **state)
{
	struct history_fixture fixture;
	const char *script;
	json_t *json;
	CLEANUP(cleanup_free) char *page = NULL;

	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	page = history_fixture_html(&fixture);
	script = strstr(page, "<script>");
	assert_non_null(strstr(page, "<title>History: checkout on api-1 – Kelvin</title>"));
	assert_true(page_block_find(page, "history") < script && page_block_find(page, "values") < script);
	assert_true(page_block_find(page, "0-meta") > script && page_block_find(page, "2-tree") > script);
	json = page_block_json(page, "history");
	assert_int_equal(json_integer_value(json_object_get(point_of(json, 0), "part")), 0);
	assert_true(json_is_null(json_object_get(point_of(json, 1), "part")));
	assert_int_equal(json_integer_value(json_object_get(point_of(json, 5), "part")), 2);
	json_decref(json);
	history_fixture_destroy(&fixture);
}

static void a_page_leaves_out_what_has_no_room(void **state)
{
	struct history_fixture fixture;
	json_t *json;
	CLEANUP(cleanup_free) char *page = NULL;

	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	fixture.input.max_page_bytes = 1;
	page = history_fixture_html(&fixture);
	assert_null(page_block_find(page, "0-meta"));
	json = page_block_json(page, "history");
	assert_int_equal(json_integer_value(json_object_get(json, "leftOut")), 3);
	assert_true(json_is_null(json_object_get(point_of(json, 5), "part")));
	json_decref(json);
	history_fixture_destroy(&fixture);
}

static void names_cannot_write_the_page(void **state)
{
	struct history_fixture fixture;
	CLEANUP(cleanup_free) char *page = NULL;

	history_fixture_create(&fixture, HISTORY_HOSTILE);
	page = history_fixture_html(&fixture);
	assert_null(strstr(page, "<img"));
	assert_int_equal(count_of(page, "</noscript>"), 1);
	history_fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_fits_every_width),
		cmocka_unit_test(the_answer_comes_first_and_notices_last),
		cmocka_unit_test(deploys_stand_below_their_bars),
		cmocka_unit_test(a_file_gets_every_change_and_a_terminal_some),
		cmocka_unit_test(times_tell_profiles_apart),
		cmocka_unit_test(a_command_is_quoted),
		cmocka_unit_test(whoever_knows_better_names_the_sides),
		cmocka_unit_test(a_change_that_doubles_is_a_factor),
		cmocka_unit_test(json_has_the_promised_members),
		cmocka_unit_test(json_is_valid_and_its_indexes_are_of_profiles),
		cmocka_unit_test(a_comment_fits_and_says_what_is_left_out),
		cmocka_unit_test(names_cannot_write_markdown),
		cmocka_unit_test(the_history_comes_first_and_every_part_behind_the_script),
		cmocka_unit_test(a_page_leaves_out_what_has_no_room),
		cmocka_unit_test(names_cannot_write_the_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
