/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { MOST = 64 };

/* A series in letters: each is a build id and, but for '.', which tells nothing, a version. */
static bool find(const char *series, struct watch_deploy *deploy)
{
	struct watch_build builds[MOST] = { 0 };
	size_t count = strlen(series);

	for (size_t i = 0; i < count; i++)
		if (series[i] != '.')
			builds[i].build_id[0] = series[i];
	return watch_last_deploy(builds, count, deploy);
}

static void the_last_deploy_is_found(void **state)
{
	static const struct {
		const char *series;
		size_t before, at, end;
	} cases[] = {
		{ "aaaab", 0, 4, 5 },
		{ "aabbbccc", 2, 5, 8 },
		{ "aabab", 3, 4, 5 },
		{ "aaaaaaaaaaaaaaab", 5, 15, 16 },
		{ "abbbbbbbbbbbbbbb", 0, 1, 11 },
		/* What a profile does not tell differs from nothing. */
		{ "aa.ab", 0, 4, 5 },
		{ "aaab.b.", 0, 3, 7 },
		{ "a..b", 0, 3, 4 },
		{ "..ab", 0, 3, 4 },
	};
	struct watch_deploy deploy;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(find(cases[i].series, &deploy));
		assert_int_equal(deploy.before, cases[i].before);
		assert_int_equal(deploy.at, cases[i].at);
		assert_int_equal(deploy.end, cases[i].end);
	}
	assert_false(find("", &deploy));
	assert_false(find("a", &deploy));
	assert_false(find("aaaa", &deploy));
	assert_false(find("a.a.", &deploy));
	assert_false(find("....", &deploy));
}

/* A version that is told late is no second deploy. */
static void what_is_told_late_belongs_to_the_build(void **state)
{
	const struct watch_build builds[] = { { "a", "41", "" }, { "a", "41", "" }, { "b", "", "" }, { "b", "42", "" },
		{ "b", "42", "" } };
	struct watch_deploy deploy;

	assert_true(watch_last_deploy(builds, 5, &deploy));
	assert_int_equal(deploy.at, 2);
	assert_string_equal(deploy.from.version, "41");
	assert_string_equal(deploy.to.version, "42");
}

static void reports_are_made_twice(void **state)
{
	struct watch_deploy deploy = { .before = 0, .at = 4 };
	size_t reported = 0, reports = 0;

	for (deploy.end = 5; deploy.end <= 14; deploy.end++)
		if (watch_deploy_is_due(&deploy, reported)) {
			reported = deploy.end - deploy.at;
			reports++;
			assert_true(reported == WATCH_BURST + 1 || reported == WATCH_PAIR_PROFILES);
		}
	assert_int_equal(reports, 2);
	/* A watch that begins again when there are more. */
	deploy.end = 9;
	assert_true(watch_deploy_is_due(&deploy, 0));
	assert_false(watch_deploy_is_due(&deploy, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_deploy_is_found),
		cmocka_unit_test(what_is_told_late_belongs_to_the_build),
		cmocka_unit_test(reports_are_made_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
