/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whoever reads the profiles may be taken over by them: what it asks for and tells is believed as far as the user's
 * range goes. */
#include "diff/commits/commits.h"

#include "tests/unit/support/shell.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of questions (commit_range.c). */
enum { SUSPECT = 0x636f6d01 + 7, HEAD_TEXT = 0x636f6d01 + 3 };

static char work[64], top[72];

struct opened {
	struct repository *repository;
	struct commit_range range;
	char before[REPOSITORY_ID_BYTES], beside[REPOSITORY_ID_BYTES], within[REPOSITORY_ID_BYTES];
};

static void resolve(const struct repository *repository, const char *name, char id[REPOSITORY_ID_BYTES])
{
	struct error err;

	if (!repository_resolve(repository, name, id, &err))
		fail_msg("%s: %s", name, err.message);
}

__attribute__((format(printf, 1, 2))) static void say_nothing(const char *format, ...)
{
}

static int set_up(void **state)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	struct error err;

	snprintf(work, sizeof(work), "/tmp/kelvin-range-XXXXXX");
	assert_non_null(mkdtemp(work));
	shell_in(work,
		"export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@n GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@n;"
		"git init -q r; cd r;"
		"for name in before base within head; do echo $name >f; git add f; git commit -q -m $name; git tag $name; done;"
		"git checkout -q -b side base; echo beside >f; git commit -q -a -m beside; git tag beside");
	snprintf(top, sizeof(top), "%s/r", work);
	if (!repository_open(top, NULL, &opened->repository, &err))
		fail_msg("%s", err.message);
	opened->range =
		(struct commit_range){ .text = "base..head", .say = say_nothing, .repository = opened->repository };
	resolve(opened->repository, "base", opened->range.from);
	resolve(opened->repository, "head", opened->range.to);
	resolve(opened->repository, "before", opened->before);
	resolve(opened->repository, "beside", opened->beside);
	resolve(opened->repository, "within", opened->within);
	*state = opened;
	return 0;
}

static int tear_down(void **state)
{
	struct opened *opened = *state;

	repository_close(opened->repository);
	free(opened);
	shell_in(work, "rm -rf r; rmdir \"$PWD\"");
	return 0;
}

static int answer(struct commit_range *range, uint64_t kind, const char *name)
{
	char bytes[512] __attribute__((aligned(8)));

	memcpy(bytes, &kind, sizeof(kind));
	strcpy(bytes + sizeof(kind), name);
	return commit_range_answer(range, bytes, sizeof(kind) + strlen(name) + 1);
}

/* --confirm runs the code of what is told here. */
static void a_suspect_is_a_commit_of_the_range(void **state)
{
	struct opened *opened = *state;
	const char *const others[] = { opened->before, opened->beside, opened->range.from, "head", "--help",
		"0123456789012345678901234567890123456789" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_int_equal(answer(&opened->range, SUSPECT, others[i]), -1);
		assert_string_equal(opened->range.suspect, "");
	}
	assert_int_equal(answer(&opened->range, SUSPECT, opened->within), -1);
	assert_string_equal(opened->range.suspect, opened->within);
}

static void questions_that_are_malformed_have_no_answer(void **state)
{
	struct opened *opened = *state;
	const uint64_t kinds[] = { 0, SUSPECT + 1, UINT64_MAX };
	int fd = answer(&opened->range, HEAD_TEXT, "f");

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(answer(&opened->range, kinds[i], "f"), -1);
	assert_int_equal(commit_range_answer(&opened->range, "", 0), -1);
	assert_int_equal(answer(&opened->range, HEAD_TEXT, "../f"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_suspect_is_a_commit_of_the_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(questions_that_are_malformed_have_no_answer, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
