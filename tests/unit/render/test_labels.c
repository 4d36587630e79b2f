/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <jansson.h>
#include <string.h>

static void set_label(struct fixture *fixture, enum diff_side side, const char *key, const char *value)
{
	struct error err;

	if (!profile_set_label(fixture->profiles[side], key, value, &err))
		fail_msg("%s", err.message);
}

/* A service that was deployed, from one commit to the other. */
static struct fixture deployed(void)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);

	set_label(&fixture, DIFF_BASE, "service", "check*out");
	set_label(&fixture, DIFF_BASE, "version", "4.2.1");
	set_label(&fixture, DIFF_BASE, "commit", "4f3c2a1");
	set_label(&fixture, DIFF_HEAD, "service", "check*out");
	set_label(&fixture, DIFF_HEAD, "version", "4.3.0<b>");
	return fixture;
}

static void expect_in(char *output, const char *words)
{
	if (!strstr(output, words))
		fail_msg("'%s' is not in:\n%s", words, output);
}

static void text_begins_with_the_versions(void **state)
{
	struct fixture fixture = deployed();
	CLEANUP(cleanup_free) char *text = fixture_text(&fixture, 0, false);

	assert_memory_equal(text, "check*out 4.2.1 → 4.3.0<b>\n", strlen("check*out 4.2.1 → 4.3.0<b>\n"));
	expect_in(text, ". Labels: commit 4f3c2a1, service check*out, version 4.2.1.");
	expect_in(text, ". Labels: service check*out, version 4.3.0<b>.");
	fixture_destroy(&fixture);
}

static void a_title_that_is_given_holds(void **state)
{
	struct fixture fixture = deployed();
	CLEANUP(cleanup_free) char *text = NULL;

	fixture.input.title = "mine";
	text = fixture_text(&fixture, 0, false);
	assert_memory_equal(text, "mine\n", strlen("mine\n"));
	fixture_destroy(&fixture);
}

static void without_a_version_there_is_no_title(void **state)
{
	struct fixture fixture = deployed();
	CLEANUP(cleanup_free) char *text = NULL;

	profile_remove_label(fixture.profiles[DIFF_BASE], "version");
	text = fixture_text(&fixture, 0, false);
	assert_memory_equal(text, "Regressed", strlen("Regressed"));
	expect_in(text, ". Labels: commit 4f3c2a1, service check*out.");
	fixture_destroy(&fixture);
}

static void one_profile_has_its_own(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SINGLE);
	CLEANUP(cleanup_free) char *text = NULL, *svg = NULL;

	set_label(&fixture, DIFF_HEAD, "service", "checkout");
	set_label(&fixture, DIFF_HEAD, "version", "4.2.1");
	text = fixture_text(&fixture, 0, false);
	svg = fixture_svg(&fixture, 0);
	assert_memory_equal(text, "checkout 4.2.1\n", strlen("checkout 4.2.1\n"));
	expect_in(svg, "font-weight=\"bold\">checkout 4.2.1</text>");
	fixture_destroy(&fixture);
}

static void markdown_names_and_escapes_them(void **state)
{
	struct fixture fixture = deployed();
	CLEANUP(cleanup_free) char *markdown = fixture_markdown(&fixture);

	expect_in(markdown, "\n\n**check&#42;out 4.2.1 → 4.3.0&#60;b&#62;**\n\n");
	expect_in(markdown, "Labels: commit 4f3c2a1, service check&#42;out, version 4.2.1\n");
	fixture_destroy(&fixture);
}

static void json_has_them_by_side(void **state)
{
	struct fixture fixture = deployed();
	CLEANUP(cleanup_free) char *text = fixture_json(&fixture);
	json_t *root = json_loads(text, 0, NULL), *recordings = json_object_get(root, "recordings");
	const json_t *base = json_object_get(json_object_get(recordings, "base"), "labels");
	const json_t *head = json_object_get(json_object_get(recordings, "head"), "labels");

	assert_int_equal(json_object_size(base), 3);
	assert_string_equal(json_string_value(json_object_get(base, "commit")), "4f3c2a1");
	assert_int_equal(json_object_size(head), 2);
	assert_string_equal(json_string_value(json_object_get(head, "version")), "4.3.0<b>");
	json_decref(root);
	fixture_destroy(&fixture);
}

static void the_page_has_them_as_its_title(void **state)
{
	struct fixture fixture = deployed();
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	assert_true(render_html(&fixture.input, &out, &err));
	buffer_append_byte(&out, 0);
	expect_in(out.data, "<title>check*out 4.2.1 → 4.3.0&lt;b&gt; – Kelvin diff</title>");
	fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_begins_with_the_versions),
		cmocka_unit_test(a_title_that_is_given_holds),
		cmocka_unit_test(without_a_version_there_is_no_title),
		cmocka_unit_test(one_profile_has_its_own),
		cmocka_unit_test(markdown_names_and_escapes_them),
		cmocka_unit_test(json_has_them_by_side),
		cmocka_unit_test(the_page_has_them_as_its_title),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
