/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what a real git wrote of a small repository, by the options of repository_log(). */
#include "diff/repository/repository.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	char *data;
	size_t size;
};

static struct bytes read_log(void)
{
	FILE *file = fopen(LOG, "re");
	struct bytes bytes = { malloc(1 << 16), 0 };

	assert_non_null(file);
	assert_non_null(bytes.data);
	bytes.size = fread(bytes.data, 1, 1 << 16, file);
	fclose(file);
	return bytes;
}

static const char *string(const struct repository_history *history, uint32_t id)
{
	return string_table_get(history->strings, id);
}

static const struct repository_commit *find(const struct repository_history *history, const char *subject)
{
	for (size_t i = 0; i < history->commit_count; i++)
		if (strncmp(string(history, history->commits[i].subject), subject, strlen(subject)) == 0)
			return &history->commits[i];
	fail();
	return NULL;
}

static void assert_hunk(const struct repository_history *history, const struct repository_commit *commit, size_t number,
	const struct repository_hunk *expected)
{
	const struct repository_hunk *hunk = &history->hunks[commit->first_hunk + number];

	assert_true(number < commit->hunk_count);
	assert_int_equal(hunk->old_line, expected->old_line);
	assert_int_equal(hunk->old_count, expected->old_count);
	assert_int_equal(hunk->new_line, expected->new_line);
	assert_int_equal(hunk->new_count, expected->new_count);
	assert_int_equal(hunk->is_laid_out, expected->is_laid_out);
}

static void test_commits(void **state)
{
	struct bytes bytes = read_log();
	struct repository_history *history = NULL;
	struct error err;
	const struct repository_commit *commit;

	assert_true(repository_parse_log(bytes.data, bytes.size, &history, &err));
	assert_int_equal(history->commit_count, 10);
	assert_string_equal(history->commits[0].id, "82547115555d1a910dc8fd42294cc3d8fa46da20");
	assert_string_equal(string(history, history->commits[9].subject), "one: begins");
	assert_int_equal(find(history, "five")->file_count, 0);
	commit = find(history, "Merge");
	assert_true(commit->is_merge);
	assert_string_equal(commit->merged, "306a312982e9c51e7e23889a09fd4fbce013d75f");
	assert_int_equal(commit->hunk_count, 1);
	assert_hunk(history, commit, 0, &(struct repository_hunk){ 0, 2, 0, 3, 4, 0, 0, false });
	assert_false(find(history, "two")->is_merge);
	commit = find(history, "two");
	assert_hunk(history, commit, 0, &(struct repository_hunk){ 0, 8, 1, 8, 1, 0, 0, true });
	assert_hunk(history, commit, 1, &(struct repository_hunk){ 0, 11, 1, 11, 1, 0, 0, false });
	assert_int_equal(history->texts[history->hunks[commit->first_hunk].old_text], 0);
	assert_int_not_equal(history->texts[history->hunks[commit->first_hunk + 1].old_text], 0);
	commit = find(history, "seven");
	assert_hunk(history, commit, 0, &(struct repository_hunk){ 0, 1, 1, 1, 3, 0, 0, true });
	assert_int_equal(find(history, "ten")->hunk_count, 0);
	repository_history_destroy(history);
	free(bytes.data);
}

static void test_files(void **state)
{
	struct bytes bytes = read_log();
	struct repository_history *history = NULL;
	struct error err;
	const struct repository_commit *commit;
	const struct repository_file *files;

	assert_true(repository_parse_log(bytes.data, bytes.size, &history, &err));
	commit = find(history, "three");
	files = &history->files[commit->first_file];
	assert_int_equal(commit->file_count, 1);
	assert_string_equal(string(history, files[0].old_path), "a.c");
	assert_string_equal(string(history, files[0].new_path), "c d.c");
	/* A file that becomes a link is removed and made. */
	commit = find(history, "nine");
	files = &history->files[commit->first_file];
	assert_int_equal(commit->file_count, 2);
	assert_int_equal(files[0].new_path, 0);
	assert_int_equal(files[1].old_path, 0);
	assert_hunk(history, commit, 0, &(struct repository_hunk){ 0, 1, 6, 0, 0, 0, 0, false });
	assert_hunk(history, commit, 1, &(struct repository_hunk){ 0, 0, 0, 1, 1, 0, 0, false });
	commit = find(history, "one");
	assert_int_equal(commit->file_count, 2);
	assert_int_equal(history->hunks[commit->first_hunk + 1].file, commit->first_file + 1);
	repository_history_destroy(history);
	free(bytes.data);
}

static void test_nothing(void **state)
{
	struct repository_history *history = NULL;
	struct error err;

	assert_true(repository_parse_log(NULL, 0, &history, &err));
	assert_int_equal(history->commit_count, 0);
	repository_history_destroy(history);
}

/* Every truncation is read or refused; no hunk says more lines than there are texts. */
static void test_truncations(void **state)
{
	struct bytes bytes = read_log();

	for (size_t size = 0; size < bytes.size; size++) {
		struct repository_history *history = NULL;
		char *copy = malloc(size + 1);
		struct error err;

		assert_non_null(copy);
		memcpy(copy, bytes.data, size);
		if (repository_parse_log(copy, size, &history, &err)) {
			for (size_t i = 0; i < history->hunk_count; i++)
				assert_true(history->hunks[i].new_text + history->hunks[i].new_count <=
					    history->text_count);
			repository_history_destroy(history);
		} else {
			assert_int_equal(err.code, ERROR_FORMAT);
		}
		free(copy);
	}
	free(bytes.data);
}

static void assert_refused(const char *bytes, size_t size)
{
	struct repository_history *history = NULL;
	struct error err;

	assert_false(repository_parse_log(bytes, size, &history, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

#define ID "82547115555d1a910dc8fd42294cc3d8fa46da20"
#define HEAD "\0" ID "\0" ID "\0subject\0\0\n:100644 100644 1a23e4b 0000000 M\0a.c\0\0diff --git a/a.c b/a.c\n"
#define REFUSED(text) assert_refused(text, sizeof(text) - 1)

static void test_malformed(void **state)
{
	REFUSED("\0not an id\0\0subject\0");
	REFUSED(HEAD "@@ -1,4000000000 +1 @@\n");
	REFUSED(HEAD "@@ -1,3 +1 @@\n-a\n-b\n+c\n");
	REFUSED(HEAD "@@ -9 +9 @@\n-a\n+b\n@@ -3 +3 @@\n-a\n+b\n");
	REFUSED(HEAD "@@ nonsense @@\n");
	REFUSED(HEAD "diff --git a/b.c b/b.c\n");
	REFUSED("\0" ID "\0" ID "\0subject\0\0\n:100644 100644 1a23e4b 0000000 M\0");
}

static void test_no_memory(void **state)
{
	struct bytes bytes = read_log();
	struct repository_history *history = NULL;
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(repository_parse_log(bytes.data, bytes.size, &history, &err), &err);
	free(bytes.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commits),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_truncations),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
