/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_fixture.h"
#include "report_fixture.h"
#include "suite_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>

typedef bool render_function(const struct render_input *input, struct buffer *out, struct error *err);

static bool text(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_text(input, &(struct render_text_options){ .colour = true }, out, err);
}

static bool svg(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_svg(input, &(struct render_svg_options){ 0 }, out, err);
}

/* The output is whole, or the process has ended. */
static void fail_each_allocation(const struct render_input *input, render_function *render)
{
	enum { MOST_BYTES = 64 << 20 };
	struct buffer out;
	struct error err;

	buffer_init(&out, MOST_BYTES);
	while (failing_malloc_in_child())
		failing_malloc_end(render(input, &out, &err) && out.size > 0 && !out.failed, &err);
}

static void without_memory_the_process_ends(void **state)
{
	static render_function *const outputs[] = { text, render_json, svg, render_html, render_markdown };
	static const enum fixture_kind kinds[] = { FIXTURE_SHOP, FIXTURE_SINGLE, FIXTURE_EMPTY };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct fixture fixture = fixture_create(kinds[i]);
		/* Markdown is for comparisons alone. */
		size_t count = sizeof(outputs) / sizeof(outputs[0]) - (kinds[i] == FIXTURE_SINGLE);

		for (size_t j = 0; j < count; j++)
			fail_each_allocation(&fixture.input, outputs[j]);
		fixture_destroy(&fixture);
	}
}

static const struct render_suite *suite;

static bool suite_text(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_suite_text(suite, &(struct render_text_options){ .colour = true }, out, err);
}

static bool suite_json(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_suite_json(suite, out, err);
}

static bool suite_markdown(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_suite_markdown(suite, out, err);
}

static bool suite_html(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_suite_html(suite, out, err);
}

static void every_failed_allocation_of_a_suite_is_an_error(void **state)
{
	static render_function *const outputs[] = { suite_text, suite_json, suite_html, suite_markdown };
	static const enum suite_fixture_kind kinds[] = { SUITE_PARSER, SUITE_SINGLE };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t count = sizeof(outputs) / sizeof(outputs[0]) - (kinds[i] == SUITE_SINGLE);
		struct suite_fixture fixture;

		suite_fixture_create(&fixture, kinds[i]);
		suite = &fixture.input;
		for (size_t j = 0; j < count; j++)
			fail_each_allocation(NULL, outputs[j]);
		suite_fixture_destroy(&fixture);
	}
}

static const struct render_history *history;

static bool history_text(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_history_text(history, &(struct render_text_options){ .colour = true }, out, err);
}

static bool history_json(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_history_json(history, out, err);
}

static bool history_markdown(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_history_markdown(history, out, err);
}

static bool history_html(const struct render_input *input, struct buffer *out, struct error *err)
{
	return render_history_html(history, out, err);
}

static void every_failed_allocation_of_a_history_is_an_error(void **state)
{
	static render_function *const outputs[] = { history_text, history_json, history_html, history_markdown };
	static const enum history_fixture_kind kinds[] = { HISTORY_CHECKOUT, HISTORY_QUIET };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct history_fixture fixture;

		history_fixture_create(&fixture, kinds[i]);
		history = &fixture.input;
		for (size_t j = 0; j < sizeof(outputs) / sizeof(outputs[0]); j++)
			fail_each_allocation(NULL, outputs[j]);
		history_fixture_destroy(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_the_process_ends),
		cmocka_unit_test(every_failed_allocation_of_a_suite_is_an_error),
		cmocka_unit_test(every_failed_allocation_of_a_history_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
