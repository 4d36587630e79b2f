/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_fixture.h"
#include "report_fixture.h"
#include "suite_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Whole outputs against tests/golden/render/. `UPDATE_GOLDEN=1 ctest -L golden` writes them anew; the difference is
 * then read. */

static void compare(const char *name, char *actual)
{
	CLEANUP(buffer_deinit) struct buffer expected = { 0 };
	struct error err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIRECTORY, name);
	if (getenv("UPDATE_GOLDEN")) {
		if (!file_write(path, actual, strlen(actual), 0644, &err))
			fail_msg("%s", err.message);
		free(actual);
		return;
	}
	buffer_init(&expected, (size_t)16 << 20);
	if (!file_read(path, &expected, &err))
		fail_msg("%s", err.message);
	assert_string_equal(actual, expected.data);
	free(actual);
}

static void two_sides(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);

	compare("shop-60.txt", fixture_text(&fixture, 60, false));
	compare("shop-100.txt", fixture_text(&fixture, 100, false));
	compare("shop-160.txt", fixture_text(&fixture, 160, false));
	compare("shop-whole.txt", fixture_text(&fixture, 0, false));
	compare("shop-colour.txt", fixture_text(&fixture, 100, true));
	compare("shop.json.txt", fixture_json(&fixture));
	compare("shop.markdown.txt", fixture_markdown(&fixture));
	compare("shop.svg.txt", fixture_svg(&fixture, 0));
	fixture_destroy(&fixture);
}

static void one_side(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_SINGLE);

	compare("single-100.txt", fixture_text(&fixture, 100, false));
	compare("single.json.txt", fixture_json(&fixture));
	compare("single.svg.txt", fixture_svg(&fixture, 0));
	fixture_destroy(&fixture);
}

static void hostile_names(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_HOSTILE);

	compare("hostile-100.txt", fixture_text(&fixture, 100, false));
	compare("hostile-whole.txt", fixture_text(&fixture, 0, false));
	compare("hostile.markdown.txt", fixture_markdown(&fixture));
	compare("hostile.svg.txt", fixture_svg(&fixture, 0));
	fixture_destroy(&fixture);
}

static void nothing_to_say(void **state)
{
	struct fixture empty = fixture_create(FIXTURE_EMPTY), equal = fixture_create(FIXTURE_EQUAL);

	compare("empty-100.txt", fixture_text(&empty, 100, false));
	compare("equal-100.txt", fixture_text(&equal, 100, false));
	fixture_destroy(&empty);
	fixture_destroy(&equal);
}

static void exact_counts(void **state)
{
	struct fixture fixture = fixture_create(FIXTURE_EXACT);

	compare("exact-160.txt", fixture_text(&fixture, 160, false));
	compare("exact.markdown.txt", fixture_markdown(&fixture));
	fixture_destroy(&fixture);
}

static void suites(void **state)
{
	struct suite_fixture fixture;

	suite_fixture_create(&fixture, SUITE_PARSER);
	compare("suite-60.txt", suite_fixture_text(&fixture, 60, false));
	compare("suite-100.txt", suite_fixture_text(&fixture, 100, false));
	compare("suite-whole.txt", suite_fixture_text(&fixture, 0, false));
	compare("suite.json.txt", suite_fixture_json(&fixture));
	compare("suite.markdown.txt", suite_fixture_markdown(&fixture));
	suite_fixture_destroy(&fixture);
	suite_fixture_create(&fixture, SUITE_SINGLE);
	compare("suite-single-100.txt", suite_fixture_text(&fixture, 100, false));
	suite_fixture_destroy(&fixture);
	suite_fixture_create(&fixture, SUITE_HOSTILE);
	compare("suite-hostile-100.txt", suite_fixture_text(&fixture, 100, false));
	compare("suite-hostile.markdown.txt", suite_fixture_markdown(&fixture));
	suite_fixture_destroy(&fixture);
}

static void histories(void **state)
{
	static const struct {
		enum history_fixture_kind kind;
		const char *name;
	} kinds[] = { { HISTORY_CHECKOUT, "history" }, { HISTORY_SHARES, "history-shares" },
		{ HISTORY_QUIET, "history-quiet" }, { HISTORY_HOSTILE, "history-hostile" } };
	struct history_fixture fixture;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char name[64];

		history_fixture_create(&fixture, kinds[i].kind);
		snprintf(name, sizeof(name), "%s-100.txt", kinds[i].name);
		compare(name, history_fixture_text(&fixture, 100, false));
		snprintf(name, sizeof(name), "%s.json.txt", kinds[i].name);
		compare(name, history_fixture_json(&fixture));
		snprintf(name, sizeof(name), "%s.markdown.txt", kinds[i].name);
		compare(name, history_fixture_markdown(&fixture));
		history_fixture_destroy(&fixture);
	}
	history_fixture_create(&fixture, HISTORY_CHECKOUT);
	compare("history-60.txt", history_fixture_text(&fixture, 60, false));
	compare("history-whole.txt", history_fixture_text(&fixture, 0, false));
	compare("history-colour.txt", history_fixture_text(&fixture, 100, true));
	history_fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sides),
		cmocka_unit_test(one_side),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(nothing_to_say),
		cmocka_unit_test(exact_counts),
		cmocka_unit_test(suites),
		cmocka_unit_test(histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
