/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/repository/repository.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static const char list[] =
	"config.h\0main.c\0src/a.c\0lib/src/a.c\0src/http/parse.c\0projects/one/core/x.c\0"
	"projects/two/core/x.c\0projects/two/deep/y.c\0src/\xff\n.c\0tests/main_test.c\0mypkg/core.py";

static void expect(const struct repository_files *files, const char *path, const char *want)
{
	const char *found = repository_files_match(files, path);

	if (!want ? found != NULL : !found || strcmp(found, want) != 0)
		fail_msg("%s is %s, not %s", path, found ? found : "none", want ? want : "none");
}

static void paths_of_builds_are_found(void **state)
{
	static const char *const pairs[][2] = {
		{ "/home/u/repo/src/a.c", "src/a.c" },
		{ "/home/u/lib/src/a.c", "lib/src/a.c" },
		{ "/build/x-1.2/build/../src/http/parse.c", "src/http/parse.c" },
		{ "/build/x-1.2/./main.c", "main.c" },
		{ "main.c", "main.c" },
		{ "./main.c", "main.c" },
		{ "../src/a.c", "src/a.c" },
		{ "../../parse.c", "src/http/parse.c" },
		{ "src//a.c", "src/a.c" },
		{ "github.com/x/y/src/http/parse.c", "src/http/parse.c" },
		{ "/b/\xff\n.c", NULL },
		{ "/b/src/\xff\n.c", "src/\xff\n.c" },
		/* A part of the repository was copied: the longest end that is only one's. */
		{ "/copy/two/core/x.c", "projects/two/core/x.c" },
		{ "/copy/core/x.c", NULL },
		{ "/copy/deep/y.c", "projects/two/deep/y.c" },
		{ "/copy/y.c", NULL },
		{ "y.c", "projects/two/deep/y.c" },
		{ "x.c", NULL },
		/* Names are whole. */
		{ "/b/test.c", NULL },
		{ "/b/xmain.c", NULL },
		{ "/b/ain.c", NULL },
		{ "ain.c", NULL },
		/* Files of the system. */
		{ "/usr/include/config.h", NULL },
		{ "/usr/lib/python3/dist-packages/mypkg/core.py", "mypkg/core.py" },
		{ "/usr/src/app/config.h", "config.h" },
		{ "", NULL },
		{ "/", NULL },
		{ "..", NULL },
		{ "src/", NULL },
	};
	struct repository_files *files = NULL;
	struct error err;

	assert_true(repository_files_create(list, sizeof(list), &files, &err));
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		expect(files, pairs[i][0], pairs[i][1]);
	repository_files_destroy(files);
}

static void long_paths_mean_none(void **state)
{
	struct repository_files *files = NULL;
	char path[6000];
	struct error err;

	memset(path, 'a', sizeof(path));
	memcpy(path + sizeof(path) - 8, "/main.c", 8);
	assert_true(repository_files_create(list, sizeof(list), &files, &err));
	expect(files, path, NULL);
	expect(files, path + sizeof(path) - 4000, "main.c");
	repository_files_destroy(files);
}

static void bytes_are_foreign(void **state)
{
	struct repository_files *files = NULL;
	struct error err;

	assert_false(repository_files_create(list, sizeof(list) - 1, &files, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_true(repository_files_create("", 0, &files, &err));
	expect(files, "main.c", NULL);
	repository_files_destroy(files);
	assert_true(repository_files_create("\0\0/\0a//b\0", 9, &files, &err));
	expect(files, "x/b", NULL);
	repository_files_destroy(files);
}

static void memory_may_be_short(void **state)
{
	struct repository_files *files;
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(repository_files_create(list, sizeof(list), &files, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_builds_are_found),
		cmocka_unit_test(long_paths_mean_none),
		cmocka_unit_test(bytes_are_foreign),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
