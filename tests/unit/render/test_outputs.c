/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { KINDS = FIXTURE_EQUAL + 1 };

/* ---- Text ---- */

static void check_lines_fit(char *text, unsigned int width)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (unicode_text_width(line) > width)
			fail_msg("wider than %u: %s", width, line);
		assert_int_not_equal(line[strlen(line) - 1], ' ');
	}
}

static void text_fits_every_width(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct fixture fixture = fixture_create((enum fixture_kind)kind);

		for (unsigned int width = 40; width <= 200; width++) {
			CLEANUP(cleanup_free) char *text = fixture_text(&fixture, width, false);

			assert_null(strchr(text, '\033'));
			assert_null(strstr(text, "nan"));
			check_lines_fit(text, width);
		}
		fixture_destroy(&fixture);
	}
}

static void colour_only_when_asked(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	CLEANUP(cleanup_free) char *text = fixture_text(&fixture, 100, true);

	assert_non_null(strstr(text, "\033[31m"));
	assert_non_null(strstr(text, "\033[0m"));
	fixture_destroy(&fixture);
}

/* Runs that decide nothing exclude changes of some size: the next step is to ask for that size. */
static void undecided_runs_say_what_they_exclude(void **state)
{
	static const struct {
		double low, high; /* parts of base */
		const char *next; /* NULL: they exclude too little */
	} cases[] = { { -0.092, 0.133, "--fail-on 'total>14%'" }, { -0.21, 0.04, "--fail-on 'total>21%'" },
		{ -0.3, 0.8, NULL }, { NAN, NAN, NULL } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = fixture_create(FIXTURE_SHOP);
		struct diff_estimate *total = &fixture.diff->total;
		CLEANUP(cleanup_free) char *text = NULL;

		fixture.diff->verdict = DIFF_INCONCLUSIVE;
		total->ci_low = cases[i].low * total->base;
		total->ci_high = cases[i].high * total->base;
		text = fixture_text(&fixture, 200, false);
		if (cases[i].next)
			assert_non_null(strstr(text, cases[i].next));
		else
			assert_null(strstr(text, "Next:"));
		fixture_destroy(&fixture);
	}
}

static void text_says_percentages_of_base_and_points(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	CLEANUP(cleanup_free) char *text = fixture_text(&fixture, 140, false);
	char *row = strstr(text, "  shop::normalize_query");

	assert_ptr_equal(strstr(text, "Regressed: `shop::Worker::run()` → "), text);
	assert_non_null(row);
	*strchr(row, '\n') = '\0';
	assert_non_null(strstr(row, "410 ms"));
	assert_non_null(strstr(row, "1.63 s"));
	assert_non_null(strstr(row, "+1.22 s"));
	assert_non_null(strstr(row, "3.98×"));
	assert_non_null(strstr(row, "+20.90"));
	assert_non_null(strstr(row, "19.6 to 22.2"));
	assert_non_null(strstr(row, "more"));
	fixture_destroy(&fixture);
}

/* ---- JSON ---- */

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		fail_msg("line %d: %s", error.line, error.text);
	return json;
}

static void json_is_valid_whatever_the_names(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct fixture fixture = fixture_create((enum fixture_kind)kind);
		CLEANUP(cleanup_free) char *text = fixture_json(&fixture);
		json_t *json = parse(text);

		assert_string_equal(json_string_value(json_object_get(json, "schema")),
			kind == FIXTURE_SINGLE ? "kelvin.report/1" : "kelvin.diff/1");
		assert_int_equal(json_array_size(json_object_get(json, "functions")), fixture.diff->function_count);
		json_decref(json);
		fixture_destroy(&fixture);
	}
}

static void check_kind(json_t *object, const char *member, json_type type)
{
	json_t *value = json_object_get(object, member);

	if (!value || json_typeof(value) != type)
		fail_msg("%s is missing or of another type", member);
}

/* Values of a metric that is no time have names without "_ns". */
static void json_names_values_by_what_they_are(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_EXACT);
	CLEANUP(cleanup_free) char *text = fixture_json(&fixture);
	json_t *json = parse(text), *totals = json_object_get(json, "totals");
	json_t *function = json_array_get(json_object_get(json, "functions"), 0);

	check_kind(totals, "base", JSON_INTEGER);
	check_kind(json_array_get(json_object_get(json, "origins"), 0), "head", JSON_INTEGER);
	check_kind(function, "base_self", JSON_INTEGER);
	check_kind(function, "delta_total", JSON_REAL);
	assert_null(json_object_get(totals, "base_ns"));
	assert_null(json_object_get(function, "base_self_ns"));
	json_decref(json);
	fixture_destroy(&fixture);
}

static void json_has_the_promised_members(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	CLEANUP(cleanup_free) char *text = fixture_json(&fixture);
	json_t *json = parse(text), *f = json_array_get(json_object_get(json, "functions"), 3);
	json_t *origin;
	double deltas = 0;
	size_t i;

	assert_string_equal(json_string_value(json_object_get(json, "verdict")), "regressed");
	check_kind(json_object_get(json, "scale"), "factor", JSON_REAL);
	check_kind(json_object_get(json, "totals"), "base_ns", JSON_INTEGER);
	check_kind(json_object_get(json, "evidence"), "runs_head", JSON_INTEGER);
	assert_int_equal(json_integer_value(json_object_get(f, "base_self_ns")), 410000000);
	assert_int_equal(json_integer_value(json_object_get(f, "head_total_ns")), 1630000000);
	check_kind(f, "delta_self_pct_points", JSON_REAL);
	check_kind(f, "ci_total", JSON_ARRAY);
	check_kind(f, "q_total", JSON_REAL);
	assert_string_equal(json_string_value(json_object_get(f, "state")), "more");
	/* What was not tested is null, not zero. */
	check_kind(json_array_get(json_object_get(json, "functions"), 0), "q_self", JSON_NULL);
	json_array_foreach(json_object_get(json, "origins"), i, origin) deltas +=
		json_real_value(json_object_get(origin, "delta_ns"));
	assert_true(fabs(deltas - json_real_value(json_object_get(json_object_get(json, "totals"), "delta_ns"))) < 1);
	json_decref(json);
	fixture_destroy(&fixture);
}

/* ---- What was not measured is not said ---- */

static void take_quality(struct fixture *fixture, struct profile_quality quality, const char *call_graph)
{
	struct error err;

	for (size_t side = 0; side < DIFF_SIDES; side++) {
		struct profile *profile = fixture->profiles[side];

		if (!profile)
			continue;
		profile->quality = quality;
		assert_true(profile_intern(profile, call_graph, &profile->facts.call_graph, &err));
	}
}

/* Takes the text. */
static void check_words(char *text, const char *there, bool lost, bool whole)
{
	if (!strstr(text, there))
		fail_msg("no \"%s\" in: %s", there, text);
	assert_true((strstr(text, ", 0 lost") != NULL) == lost);
	assert_true((strstr(text, "whole") != NULL) == whole);
	free(text);
}

static void check_json_quality(const struct fixture *fixture, json_type lost, json_type whole)
{
	CLEANUP(cleanup_free) char *text = fixture_json(fixture);
	json_t *json = parse(text), *recording = json_object_get(json, "recording");

	assert_int_equal(json_integer_value(json_object_get(recording, "samples")), 26);
	check_kind(recording, "lost", lost);
	check_kind(recording, "throttled", lost);
	check_kind(recording, "whole_stacks_pct", whole);
	json_decref(json);
}

static void quality_is_said_where_it_was_recorded(void **state)
{
	const struct profile_quality
		foreign = { .samples = 26 },
		chains = { .samples = 26, .stops = { [PROFILE_STOP_CHAIN_END] = 26 } },
		frameless = { .samples = 26,
			.stops = { [PROFILE_STOP_CHAIN_END] = 13, [PROFILE_STOP_FRAMELESS] = 13 } },
		unwound = { .samples = 26, .stops = { [PROFILE_STOP_ROOT] = 26 } };
	struct fixture single = fixture_create(FIXTURE_SINGLE), shop = fixture_create(FIXTURE_SHOP);

	take_quality(&single, foreign, "");
	take_quality(&shop, foreign, "");
	check_words(fixture_text(&single, 200, false), "26 samples in 10.0 s.", false, false);
	check_words(fixture_markdown(&shop), "26 samples in 10.0 s\n", false, false);
	check_json_quality(&single, JSON_NULL, JSON_NULL);
	take_quality(&single, chains, "fp");
	take_quality(&shop, chains, "fp");
	check_words(fixture_text(&single, 200, false), ", 0 lost, stacks from frame pointers.", true, false);
	check_words(fixture_markdown(&shop), ", 0 lost, stacks from frame pointers\n", true, false);
	check_json_quality(&single, JSON_INTEGER, JSON_NULL);
	take_quality(&single, frameless, "fp");
	check_words(fixture_text(&single, 200, false), ", stacks from frame pointers, 50.0 % without a caller.", true,
		false);
	take_quality(&single, unwound, "dwarf,16384");
	check_words(fixture_text(&single, 200, false), ", 0 lost, 100.0 % whole stacks.", true, true);
	check_json_quality(&single, JSON_INTEGER, JSON_REAL);
	fixture_destroy(&single);
	fixture_destroy(&shop);
}

static void of_page_faults(struct diff *diff)
{
	struct error err;

	assert_true(string_table_add(diff->strings, "page-faults", 11, &diff->metric, &err));
	diff->metric_words = diff->metric;
	diff->is_counted = true;
	diff->is_duration = false;
	assert_true(string_table_add(diff->strings, "count", 5, &diff->unit, &err));
}

static void what_is_counted_reads_as_counted(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SINGLE);
	CLEANUP(cleanup_free) char *text = NULL;

	of_page_faults(fixture.diff);
	fixture.diff->total.head = 235;
	text = fixture_text(&fixture, 100, false);
	assert_non_null(strstr(text, "\n235 page faults.\n"));
	fixture_destroy(&fixture);
}

static void headings_say_what_was_counted(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	char *text;

	of_page_faults(fixture.diff);
	text = fixture_text(&fixture, 100, false);
	assert_non_null(strstr(text, "\nMore page faults in the function itself\n"));
	assert_non_null(strstr(text, "\nMore or fewer page faults in the function and all it calls\n"));
	free(text);
	text = fixture_markdown(&fixture);
	assert_non_null(strstr(text, "\n**Fewer page faults in the function itself**\n\n"));
	free(text);
	fixture_destroy(&fixture);
}

static void an_interval_without_0_says_why_nothing_is_proven(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	char *text, *markdown;

	text = fixture_text(&fixture, 200, false);
	assert_null(strstr(text, "unproven*"));
	assert_null(strstr(text, "the test over all functions"));
	free(text);
	for (size_t i = 0; i < fixture.diff->function_count; i++) {
		struct diff_estimate *self = &fixture.diff->functions[i].self;

		if (self->state != DIFF_STATE_MORE)
			continue;
		self->state = DIFF_STATE_UNPROVEN;
		assert_true(self->ci_low > 0);
	}
	text = fixture_text(&fixture, 200, false);
	markdown = fixture_markdown(&fixture);
	assert_non_null(strstr(text, "unproven*"));
	assert_non_null(strstr(
		text, "\n* not proven: its own 95 % interval excludes 0, but among so many functions chance alone"));
	assert_non_null(strstr(markdown, " unproven\\* |"));
	assert_non_null(strstr(markdown, "\n\\* not proven: its own 95 % interval excludes 0"));
	free(text);
	free(markdown);
	fixture_destroy(&fixture);
}

/* ---- Markdown ---- */

/* In the details, which figure, and no more lines than figures. */
/* ---- Python ---- */

static uint32_t string_of(struct diff *diff, const char *text)
{
	struct error err;
	uint32_t id;

	assert_true(string_table_add(diff->strings, text, strlen(text), &id, &err));
	return id;
}

/* Makes normalize_query a function of Python, and deflate one of its interpreter. */
static void interpret(struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (strstr(diff_string(diff, f->name), "normalize_query")) {
			f->name = string_of(diff, "py::Query.normalize:/srv/app/query.py");
			f->shown = string_of(diff, "Query.normalize");
			f->shown_in = string_of(diff, "query.py:12");
			f->language = PROFILE_LANGUAGE_PYTHON;
		} else if (strcmp(diff_string(diff, f->name), "deflate") == 0) {
			f->interprets = PROFILE_LANGUAGE_PYTHON;
		}
	}
}

static void check_reads_as_python(char *text)
{
	assert_non_null(strstr(text, "Query.normalize"));
	assert_non_null(strstr(text, "query.py:12"));
	assert_null(strstr(text, "py::"));
	assert_non_null(strstr(text, "The time of a Python function itself includes"));
	free(text);
}

static void people_read_names_and_programs_the_full_ones(void **state)
{
	static const enum fixture_kind kinds[] = { FIXTURE_SHOP, FIXTURE_SINGLE };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct fixture fixture = fixture_create(kinds[i]);
		char *json, *svg;

		interpret(fixture.diff);
		json = fixture_json(&fixture);
		svg = fixture_svg(&fixture, 1200);
		assert_non_null(strstr(json, "\"name\":\"py::Query.normalize:/srv/app/query.py\""));
		assert_non_null(strstr(json, "\"language\":\"python\""));
		assert_null(strstr(svg, "py::"));
		free(json);
		free(svg);
		check_reads_as_python(fixture_text(&fixture, 160, false));
		if (kinds[i] == FIXTURE_SHOP)
			check_reads_as_python(fixture_markdown(&fixture));
		fixture_destroy(&fixture);
	}
}

static void markdown_names_outliers_by_figure(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	struct diff_runs *runs = &fixture.diff->runs;
	CLEANUP(cleanup_free) char *text = NULL;

	runs->outlier_count = 14;
	runs->outliers = calloc(runs->outlier_count, sizeof(*runs->outliers));
	assert_non_null(runs->outliers);
	for (size_t i = 0; i < 12; i++)
		runs->outliers[i] = (struct diff_outlier){ DIFF_BASE, DIFF_RUN_WALL, i + 2, 750e6, 500e6 };
	runs->outliers[12] = (struct diff_outlier){ DIFF_HEAD, DIFF_RUN_WALL, 0, 900e6, 500e6 };
	runs->outliers[13] = (struct diff_outlier){ DIFF_HEAD, DIFF_RUN_MEMORY, 0, 9e6, 5e6 };
	text = fixture_markdown(&fixture);
	assert_non_null(strstr(text,
		"\n- outliers, which are included: wall-clock time of base, median 500 ms: run 3 750 ms, run 4 750 ms,"));
	assert_non_null(strstr(text,
		", run 12 750 ms and 2 more\n- outliers, which are included: wall-clock time of head, median 500 ms: run 1 900 ms\n"));
	assert_non_null(
		strstr(text, "\n- outliers, which are included: peak memory of head, median 5.00 MB: run 1 9.00 MB\n"));
	assert_true(strstr(text, "outliers") > strstr(text, "<details>"));
	fixture_destroy(&fixture);
}

static void markdown_escapes_names(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_HOSTILE);
	CLEANUP(cleanup_free) char *text = fixture_markdown(&fixture);

	assert_ptr_equal(strstr(text, "<!-- kelvin-diff -->\n"), text);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<b>"));
	assert_null(strchr(text, '`'));
	assert_null(strchr(text, '@'));
	assert_null(strstr(text, "https://"));
	assert_null(strchr(text, '\033'));
	/* Every row of the wide tables has its nine cells: no pipe of a name got through. */
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t pipes = 0;

		if (strncmp(line, "| <code>", 8) != 0)
			continue;
		for (char *at = line; *at; at++)
			pipes += *at == '|';
		assert_int_equal(pipes, 10);
	}
	fixture_destroy(&fixture);
}

static void markdown_stays_within_the_limit(void **state)
{
	struct fixture fixture = fixture_create_large(5000);
	CLEANUP(cleanup_free) char *text = NULL;

	fixture.diff->warnings = calloc(2000, sizeof(*fixture.diff->warnings));
	assert_non_null(fixture.diff->warnings);
	fixture.diff->warning_count = 2000;
	for (size_t i = 0; i < 2000; i++)
		fixture.diff->warnings[i].text = fixture.diff->functions[0].name;
	text = fixture_markdown(&fixture);
	assert_true(strlen(text) <= 65536);
	assert_non_null(strstr(text, "The rest does not fit into a comment"));
	fixture_destroy(&fixture);
}

/* ---- SVG ---- */

/* Tags nest, and nothing but tags and references holds < or &. */
static void check_nesting(const char *text)
{
	size_t depth = 0, text_size = strlen(text);

	for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
		const char *end = strchr(at, '>');

		assert_non_null(end);
		if (at[1] == '?')
			continue;
		if (at[1] == '/') {
			assert_true(depth > 0);
			depth--;
		} else if (end[-1] != '/') {
			depth++;
		}
	}
	assert_int_equal(depth, 0);
	for (size_t i = 0; i < text_size; i++)
		assert_true((uint8_t)text[i] >= 0x20 || text[i] == '\n');
}

static void svg_nests_whatever_the_names(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct fixture fixture = fixture_create((enum fixture_kind)kind);
		CLEANUP(cleanup_free) char *text = fixture_svg(&fixture, 0);

		assert_non_null(strstr(text, "<svg xmlns="));
		assert_null(strstr(text, "<script"));
		assert_null(strstr(text, "nan"));
		check_nesting(text);
		fixture_destroy(&fixture);
	}
}

/* As if a function that is proven to take more itself were one of Python, and the code it calls its interpreter. */
static void svg_edges_are_as_wide_as_own_time_with_that_of_the_interpreter(void **state)
{
	/* The node of `shop::render_page`, with 880 of 5,836 ms of its own, and that of `deflate` below it, with 1,890
	 * ms. */
	enum { FRAME = 7, BELOW = 8 };
	static const char with_interpreter[] = "width=\"559.8\" height=\"3\"", alone[] = "width=\"177.9\" height=\"3\"";
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	struct diff *diff = fixture.diff;
	struct diff_function *function = &diff->functions[diff->nodes[FRAME].function];
	CLEANUP(cleanup_free) char *before = NULL, *after = NULL;

	diff->nodes[FRAME].flags |= DIFF_NODE_PLACE;
	function->self.state = DIFF_STATE_MORE;
	before = fixture_svg(&fixture, 1200);
	function->language = PROFILE_LANGUAGE_PYTHON;
	diff->functions[diff->nodes[BELOW].function].interprets = PROFILE_LANGUAGE_PYTHON;
	after = fixture_svg(&fixture, 1200);
	assert_non_null(strstr(before, alone));
	assert_null(strstr(before, with_interpreter));
	assert_non_null(strstr(after, with_interpreter));
	fixture_destroy(&fixture);
}

static void svg_of_many_nodes_stays_small(void **state)
{
	struct fixture fixture = fixture_create_large(100000);
	CLEANUP(cleanup_free) char *text = fixture_svg(&fixture, 1200);

	assert_true(strlen(text) < 2000000);
	assert_non_null(strstr(text, "narrow frames"));
	fixture_destroy(&fixture);
}

/* ---- HTML ---- */

/* The title is text: of the command, whatever it is called. */
static void html_shows_the_command_cleaned(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SINGLE);
	struct profile *profile = fixture.profiles[DIFF_HEAD];
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct error err;

	assert_true(profile_intern(profile, "</title>\xff\033[1m\"&", &profile->facts.command, &err));
	buffer_init(&out, (size_t)64 << 20);
	assert_true(render_html(&fixture.input, &out, &err));
	buffer_append_byte(&out, 0);
	assert_non_null(strstr(out.data, "<title>&lt;/title&gt;\xef\xbf\xbd\xef\xbf\xbd[1m&quot;&amp; "));
	fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_fits_every_width),
		cmocka_unit_test(colour_only_when_asked),
		cmocka_unit_test(undecided_runs_say_what_they_exclude),
		cmocka_unit_test(text_says_percentages_of_base_and_points),
		cmocka_unit_test(json_is_valid_whatever_the_names),
		cmocka_unit_test(json_has_the_promised_members),
		cmocka_unit_test(json_names_values_by_what_they_are),
		cmocka_unit_test(quality_is_said_where_it_was_recorded),
		cmocka_unit_test(what_is_counted_reads_as_counted),
		cmocka_unit_test(headings_say_what_was_counted),
		cmocka_unit_test(an_interval_without_0_says_why_nothing_is_proven),
		cmocka_unit_test(people_read_names_and_programs_the_full_ones),
		cmocka_unit_test(markdown_names_outliers_by_figure),
		cmocka_unit_test(markdown_escapes_names),
		cmocka_unit_test(markdown_stays_within_the_limit),
		cmocka_unit_test(svg_nests_whatever_the_names),
		cmocka_unit_test(svg_edges_are_as_wide_as_own_time_with_that_of_the_interpreter),
		cmocka_unit_test(svg_of_many_nodes_stays_small),
		cmocka_unit_test(html_shows_the_command_cleaned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
