/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/lines.h"
#include "render/render.h"

#include "tests/unit/diff/lined_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <jansson.h>
#include <string.h>

/* ---- Two versions of a function ---- */

enum { RUNS = 5 };

static const char base_text[] = "int parse(int n)\n{\n\tstart(n);\n\twhile (n--)\n\t\tfast(n);\n\treturn n;\n}\n";
static const char head_text[] = "int parse(int n)\n{\n\tstart(n);\n\twhile (n--)\n\t\tslow(n, 1);\n\treturn n;\n}\n";

static struct profile *version(bool is_head, const char *text)
{
	struct profile *profile = lined_profile();
	struct profile_source_file file = { .proof = is_head ? PROFILE_SOURCE_MAY_DIFFER : PROFILE_SOURCE_SAME_BYTES };
	struct error err;
	uint32_t id;

	for (int run = 0; run < RUNS; run++) {
		if (run > 0)
			lined_run(profile);
		lined_add(profile, "main=1@2;rest=1@2", 10000 + run * 7);
		lined_add(profile, "main=1@3;parse=1@3", 1000 + run);
		lined_add(profile, "main=1@3;parse=1@5", (is_head ? 4000 : 1000) + run);
		lined_add(profile, "main=1@3;parse=1@macros.h:9", 100 + run);
	}
	assert_true(profile_finish(profile, &err));
	assert_true(profile_intern(profile, "parse.c", &file.path, &err));
	assert_true(profile_add_source_file(profile, &file, &id, &err));
	assert_true(profile_add_source_text(profile, id, 1, text, &err));
	return profile;
}

struct pair {
	struct profile *profiles[DIFF_SIDES];
	struct diff *diff;
	struct listing *listing;
	struct render_input input;
};

static void pair_deinit(struct pair *pair)
{
	listing_destroy(pair->listing);
	diff_destroy(pair->diff);
	profile_destroy(pair->profiles[DIFF_BASE]);
	profile_destroy(pair->profiles[DIFF_HEAD]);
}

static void pair_init(struct pair *pair, const char *base, const char *head, const struct listing_options *options)
{
	struct error err;

	*pair = (struct pair){ .profiles = { version(false, base), version(true, head) } };
	if (!diff_create(pair->profiles[DIFF_BASE], pair->profiles[DIFF_HEAD], NULL, &pair->diff, &err) ||
		!listing_create(
			pair->diff, (const struct profile *const *)pair->profiles, options, &pair->listing, &err))
		fail_msg("%s", err.message);
	pair->input = (struct render_input){ .diff = pair->diff,
		.profiles = { pair->profiles[DIFF_BASE], pair->profiles[DIFF_HEAD] },
		.listing = pair->listing };
}

static char *rendered(const struct pair *pair, unsigned int width,
	bool (*render)(const struct render_input *, struct buffer *, struct error *))
{
	const struct render_text_options options = { .width = width };
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)1 << 24);
	if (render ? !render(&pair->input, &out, &err) : !render_text(&pair->input, &options, &out, &err))
		fail_msg("%s", err.message);
	return out.data;
}

static void expect_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in:\n%s", words, text);
}

static const struct listing_options by_name = { .functions = "^parse$" };

/* ---- Text ---- */

static void text_has_both_versions_with_their_times(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL;

	pair_init(&pair, base_text, head_text, &by_name);
	text = rendered(&pair, 100, NULL);
	expect_has(text, "parse: base 17.4 %, head 33.8 %");
	expect_has(text, "proven more");
	expect_has(text, "base: parse.c, lines 1 to 7: kept by the recording, its MD5 is the build's.");
	expect_has(text, "head: parse.c, lines 1 to 7: kept by the recording, may differ from what was built.");
	expect_has(text, "   8.3 %     6.6 %         .      3    3       start(n);\n");
	expect_has(text, "   8.3 %         .         .      5      -         fast(n);\n");
	expect_has(text, "       .    26.5 %    +19.84 ▲         5 +         slow(n, 1);\n");
	expect_has(text, "  in macros.h:\n");
	expect_has(text, "± one line");
}

static void lines_are_as_wide_as_the_terminal(void **state)
{
	static const unsigned int widths[] = { 40, 60, 80, 100, 200 };
	char text[2000] = "int parse(int n)\n{\n\t/* ";

	for (int i = 0; i < 100; i++)
		strcat(text, "€ 漢字 ");
	strcat(text, "*/\n\n\t\tx();\n}\n");
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		CLEANUP(pair_deinit) struct pair pair;
		CLEANUP(cleanup_free) char *out = NULL;
		char *rest, *line;

		pair_init(&pair, text, head_text, &by_name);
		rest = out = rendered(&pair, widths[i], NULL);
		while ((line = strsep(&rest, "\n")))
			/* Figures and numbers of lines need so much, and some text. */
			if (unicode_text_width(line) > (widths[i] < 64 ? 64 : widths[i]))
				fail_msg("%zu columns of %u: %s", unicode_text_width(line), widths[i], line);
	}
}

/* ---- Hostile text ---- */

/* An escape sequence, a direction mark, a bell, ill-formed bytes, backticks, mentions, HTML. */
static const char hostile_text[] =
	"int parse(int n)\n{\n\tx\x1b[31m\x1b]0;title\a\n\t@everyone #1 <script>alert(1)</script> ![x](http://x/)\n"
	"```` ``` `````` \xff\xfe \xe2\x80\xae evil\n\r\v\f\x7f\xc2\x9b\x31m\n}\n";

static bool is_safe(const char *text)
{
	while (*text) {
		uint32_t code = unicode_next(&text);

		if (code != '\n' && unicode_clean(code) != code)
			return false;
	}
	return true;
}

static void nothing_in_a_text_acts_on_a_terminal(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL;

	pair_init(&pair, base_text, hostile_text, &by_name);
	text = rendered(&pair, 100, NULL);
	assert_true(is_safe(text));
	expect_has(text, "@everyone");
}

/* A fence ends only with as many backticks as it began with, at the beginning of a line. */
static void nothing_in_a_text_leaves_its_fence(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL;
	const char *fence, *end;
	char mark[64];
	size_t ticks;

	pair_init(&pair, base_text, hostile_text, &(struct listing_options){ .proven = 3 });
	text = rendered(&pair, 0, render_markdown);
	assert_true(is_safe(text));
	fence = strstr(text, "```");
	assert_non_null(fence);
	ticks = strspn(fence, "`");
	assert_true(ticks > strlen("``````"));
	assert_memory_equal(fence + ticks, "diff\n", 5);
	snprintf(mark, sizeof(mark), "\n%.*s\n", (int)ticks, fence);
	end = strstr(fence, mark);
	assert_non_null(end);
	expect_has(fence, "@everyone");
	assert_true(strstr(fence, "@everyone") < end);
	assert_null(strstr(end, "@everyone"));
	assert_true(strlen(text) < 65536);
}

/* ---- Markdown ---- */

static void a_comment_has_the_lines_that_changed(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL;

	pair_init(&pair, base_text, head_text, &(struct listing_options){ .proven = 3 });
	text = rendered(&pair, 0, render_markdown);
	expect_has(text, "```diff\n");
	expect_has(text, "\n-  8.3 %       .           fast(n);\n");
	expect_has(text, "\n+      .  26.5 % ▲         slow(n, 1);\n");
	assert_null(strstr(text, "start(n)"));
	expect_has(text, "(parse.c:1; base: kept by the recording");
}

static void long_functions_fit_into_a_comment(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL;
	char *long_text = malloc(1 << 20);
	size_t size = 0;

	size += (size_t)sprintf(long_text + size, "int parse(int n)\n{\n\tstart(n);\n\twhile (n--)\n");
	for (int i = 0; i < 500; i++) {
		memset(long_text + size, 'x', 1500);
		long_text[size + 1499] = '\n';
		long_text[size] = '\t';
		size += 1500;
	}
	strcpy(long_text + size, "}\n");
	pair_init(&pair, base_text, long_text, &(struct listing_options){ .proven = 3 });
	text = rendered(&pair, 0, render_markdown);
	assert_true(strlen(text) < 30000);
	expect_has(text, " …\n");
	free(long_text);
}

/* ---- JSON ---- */

static void json_has_all_that_is_known_of_each_line(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL;
	json_t *root, *lines, *row;
	json_error_t why;

	pair_init(&pair, base_text, head_text, &by_name);
	text = rendered(&pair, 0, render_json);
	root = json_loads(text, 0, &why);
	if (!root)
		fail_msg("%s", why.text);
	lines = json_array_get(json_object_get(root, "lines"), 0);
	assert_string_equal(json_string_value(json_object_get(lines, "function")), "parse");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(json_object_get(lines, "texts"), "base"), "proof")),
		"same-bytes");
	row = json_array_get(json_object_get(lines, "rows"), 4);
	assert_int_equal(json_integer_value(json_object_get(row, "base_line")), 5);
	assert_int_equal(json_integer_value(json_object_get(row, "head_line")), 5);
	assert_string_equal(json_string_value(json_object_get(row, "base_text")), "\t\tfast(n);");
	assert_string_equal(json_string_value(json_object_get(row, "head_text")), "\t\tslow(n, 1);");
	assert_int_equal(json_integer_value(json_object_get(row, "base_self_ns")),
		(RUNS * 1000 + 10) * (int64_t)LINED_SAMPLE_NS);
	assert_int_equal(json_integer_value(json_object_get(row, "head_total_ns")),
		(RUNS * 4000 + 10) * (int64_t)LINED_SAMPLE_NS);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "more");
	assert_true(json_number_value(json_object_get(row, "q")) < 0.05);
	assert_int_equal(json_array_size(json_object_get(row, "ci")), 2);
	assert_true(json_is_true(json_object_get(row, "changed")));
	row = json_array_get(json_object_get(lines, "rows"), 0);
	assert_true(json_is_null(json_object_get(row, "q")));
	assert_int_equal(json_integer_value(json_object_get(root, "lines_left_out")), 0);
	json_decref(root);
}

static void nobody_gets_lines_who_did_not_ask(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	CLEANUP(cleanup_free) char *text = NULL, *json = NULL;

	pair_init(&pair, base_text, head_text, &(struct listing_options){ .proven = 3, .largest = 3 });
	text = rendered(&pair, 100, NULL);
	json = rendered(&pair, 0, render_json);
	assert_null(strstr(text, "slow(n, 1)"));
	assert_null(strstr(json, "\"lines\""));
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(pair_deinit) struct pair pair;
	struct buffer out;
	struct error err;

	pair_init(&pair, base_text, head_text, &by_name);
	buffer_init(&out, (size_t)1 << 24);
	while (failing_malloc_in_child()) {
		lines_json(&pair.input, &out);
		failing_malloc_end(buffer_ok(&out, &err), &err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_both_versions_with_their_times),
		cmocka_unit_test(lines_are_as_wide_as_the_terminal),
		cmocka_unit_test(nothing_in_a_text_acts_on_a_terminal),
		cmocka_unit_test(nothing_in_a_text_leaves_its_fence),
		cmocka_unit_test(a_comment_has_the_lines_that_changed),
		cmocka_unit_test(long_functions_fit_into_a_comment),
		cmocka_unit_test(json_has_all_that_is_known_of_each_line),
		cmocka_unit_test(nobody_gets_lines_who_did_not_ask),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
