/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/commit_lines.h"
#include "render/document.h"
#include "report_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Three commits, of which two are suspected. Nothing in it is freed. */
struct ranked {
	struct commits commits;
	struct repository_history history;
	struct repository_commit list[3];
	struct commits_suspect suspects[2];
	uint32_t functions[2];
	bool is_executed[3];
};

static uint32_t add(struct string_table *strings, const char *text)
{
	struct error err;
	uint32_t id;

	if (!string_table_add(strings, text, strlen(text), &id, &err))
		fail_msg("%s", err.message);
	return id;
}

static void rank(struct ranked *r, const struct fixture *fixture)
{
	static const char *const subjects[] = { "escape | <b>queries</b>", "use @someone's `regex`\x1b[31m", "docs" };
	struct error err;

	*r = (struct ranked){ .functions = { 0, 1 }, .is_executed = { true, true, false } };
	if (!string_table_create((size_t)1 << 16, &r->commits.strings, &err))
		fail_msg("%s", err.message);
	r->history =
		(struct repository_history){ .strings = r->commits.strings, .commits = r->list, .commit_count = 3 };
	for (size_t i = 0; i < 3; i++) {
		memset(r->list[i].id, 'a' + (int)i, 40);
		r->list[i].subject = add(r->commits.strings, subjects[i]);
		if (i < 2)
			r->suspects[i] = (struct commits_suspect){ i, i == 0 ? 0.75 : 0.25, &r->functions[i], 1 };
	}
	r->commits.verdict_text = add(r->commits.strings, "aaaaaaaaaa is the first suspect");
	r->commits.history = &r->history;
	r->commits.diff = fixture->diff;
	r->commits.suspects = r->suspects;
	r->commits.suspect_count = 2;
	r->commits.is_executed = r->is_executed;
	r->commits.not_executed_count = 1;
}

static void append_line(void *context, struct buffer *line, bool is_suspect)
{
	buffer_printf(context, "%d:", is_suspect);
	buffer_append(context, line->data, line->size);
	buffer_append_byte(context, '\n');
}

static void lines_are_the_sentence_the_suspects_and_the_rest(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	CLEANUP(buffer_deinit) struct buffer lines = { 0 }, expected = { 0 };
	struct ranked ranked;

	rank(&ranked, &fixture);
	buffer_init(&lines, (size_t)1 << 16);
	buffer_init(&expected, (size_t)1 << 16);
	commit_lines(&ranked.commits, append_line, &lines);
	buffer_printf(&expected,
		"0:Commits: aaaaaaaaaa is the first suspect.\n"
		"1:1. 75 %%  aaaaaaaaaa escape | <b>queries</b> — " DOCUMENT_NAME "%s" DOCUMENT_END "\n"
		"1:2. 25 %%  bbbbbbbbbb use @someone's `regex`\x1b[31m — " DOCUMENT_NAME "%s" DOCUMENT_END "\n"
		"0:1 of 3 commits touched no code that was sampled.\n",
		diff_string(fixture.diff, fixture.diff->functions[0].shown),
		diff_string(fixture.diff, fixture.diff->functions[1].shown));
	assert_int_equal(lines.size, expected.size);
	assert_memory_equal(lines.data, expected.data, lines.size);
	string_table_destroy(ranked.commits.strings);
	fixture_destroy(&fixture);
}

/* A subject is anybody's text. */
static void subjects_do_nothing_in_text_and_markdown(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	CLEANUP(cleanup_free) char *text = NULL, *markdown = NULL;
	struct ranked ranked;

	rank(&ranked, &fixture);
	fixture.input.commits = &ranked.commits;
	text = fixture_text(&fixture, 0, false);
	markdown = fixture_markdown(&fixture);
	assert_non_null(strstr(text, "bbbbbbbbbb"));
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(markdown, "bbbbbbbbbb"));
	assert_null(strchr(markdown, '\x1b'));
	assert_null(strstr(markdown, "<b>queries"));
	assert_null(strstr(markdown, "@someone"));
	assert_null(strstr(markdown, "escape | "));
	string_table_destroy(ranked.commits.strings);
	fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_the_sentence_the_suspects_and_the_rest),
		cmocka_unit_test(subjects_do_nothing_in_text_and_markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
