/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "render/render.h"
#include "tests/unit/support/unit_test.h"
#include "written_fixture.h"

#include <string.h>

static struct profile *renamings_read(const char *text)
{
	struct profile *profile = NULL;
	struct error err;

	if (!foreign_read(text, strlen(text), "text", &profile, &err))
		fail_msg("%s", err.message);
	return profile;
}

/* Returns the comparison of two texts of folded stacks, as text or as JSON, which the caller frees. */
static char *compare_texts(const char *base, const char *head, bool as_json)
{
	CLEANUP(profile_cleanup) struct profile *first = renamings_read(base);
	CLEANUP(profile_cleanup) struct profile *other = renamings_read(head);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 20);
	assert_true(diff_create(first, other, &(struct diff_options){ 0 }, &diff, &err));
	struct render_input input = {
		.diff = diff, .profiles = { first, other }, .names = { "base", "head" }, .tool = "kelvin test"
	};
	return written(&out, as_json ? render_json(&input, &out, &err) : render_text(&input, NULL, &out, &err), &err);
}

static void expect_words(const char *base, const char *head, const char *words)
{
	CLEANUP(cleanup_free) char *text = compare_texts(base, head, false);

	if (!strstr(text, words))
		fail_msg("no \"%s\" in:\n%s", words, text);
}

static const char old_class[] =
	"main;Cart.read;a 400\nmain;Cart.read;b 300\nmain;Cart.store;c 400\nmain;Cart.store;d 300\n"
	"main;other 900\n",
		  new_class[] = "main;Basket.read;a 400\nmain;Basket.read;b 300\nmain;Basket.store;c 400\n"
				"main;Basket.store;d 300\nmain;other 900\n";

static void a_renamed_class_is_one_line(void **state)
{
	CLEANUP(cleanup_free) char *text = compare_texts(old_class, new_class, false);
	CLEANUP(cleanup_free) char *json = compare_texts(old_class, new_class, true);

	(void)state;
	assert_non_null(strstr(text, "\nUnder other names in head\n- Cart.* → Basket.*: 2 functions\n"));
	assert_null(strstr(text, "Cart.read"));
	assert_non_null(strstr(json, "\"base\": \"Cart.*\",\n   \"head\": \"Basket.*\",\n   \"functions\": 2"));
}

static void other_numbers_are_told_once(void **state)
{
	(void)state;
	expect_words("main;run.func1;f 400\nmain;run.func2;g 300\nmain;run.func2;h 300\n",
		"main;run.func4;f 400\nmain;run.func7;g 300\nmain;run.func7;h 300\n",
		"\n- run.func* and others: 2 functions are numbered anew\n");
	expect_words("main;run.func1;f 400\nmain;g 300\n", "main;run.func4;f 400\nmain;g 300\n",
		"\n- run.func*: it is numbered anew\n");
}

static void the_cpu_chooses_a_variant(void **state)
{
	(void)state;
	expect_words("main;__strlen_avx2 400\nmain;g 300\n", "main;__strlen_sse2 400\nmain;g 300\n",
		"\n- __strlen_avx2 → __strlen_sse2: the CPU's choice, not the program's\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_renamed_class_is_one_line),
		cmocka_unit_test(other_numbers_are_told_once),
		cmocka_unit_test(the_cpu_chooses_a_variant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
