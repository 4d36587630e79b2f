/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Every test works in a folder of its own. */
static int enter_folder(void **state)
{
	char *folder = strdup("/tmp/kelvin-test-file-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static size_t count_files(void)
{
	DIR *folder = opendir(".");
	size_t count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count - 2; /* "." and ".." */
}

static int leave_folder(void **state)
{
	DIR *folder = opendir(".");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && unlink(entry->d_name) != 0)
			rmdir(entry->d_name);
	if (folder)
		closedir(folder);
	if (chdir("/") != 0 || rmdir(*state) != 0)
		return -1;
	free(*state);
	return 0;
}

static void expect_content(const char *path, const char *expected)
{
	struct buffer bytes;
	struct error err;

	buffer_init(&bytes, 1 << 16);
	if (!file_read(path, &bytes, &err))
		fail_msg("%s", err.message);
	assert_string_equal(bytes.data ? bytes.data : "", expected);
	buffer_deinit(&bytes);
}

static void a_file_is_written_whole(void **state)
{
	struct stat status;
	struct error err;

	(void)state;
	umask(022);
	assert_true(file_write("new", "content", 7, 0600, &err));
	expect_content("new", "content");
	assert_int_equal(stat("new", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_true(file_write("new", "other", 5, 0600, &err));
	expect_content("new", "other");
	assert_true(file_write("empty", "", 0, 0600, &err));
	expect_content("empty", "");
	assert_int_equal(count_files(), 2);
}

static void a_link_is_followed(void **state)
{
	struct stat status;
	struct error err;

	(void)state;
	assert_true(file_write("target", "old", 3, 0600, &err));
	assert_int_equal(symlink("target", "link"), 0);
	assert_true(file_write("link", "new", 3, 0600, &err));
	expect_content("target", "new");
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
}

static void a_link_to_nothing_makes_the_file(void **state)
{
	struct stat status;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(symlink("target", "link"), 0);
	assert_true(file_check_writable("link", &err));
	assert_true(file_write("link", "new", 3, 0600, &err));
	expect_content("target", "new");
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(symlink("no/such", "nowhere"), 0);
	assert_false(file_check_writable("nowhere", &err));
	assert_non_null(strstr(err.message, "directory ./no does not exist"));
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_false(file_check_writable("loop", &err));
}

static void a_missing_folder_is_named(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_false(file_write("no/such/file", "x", 1, 0600, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "no/such"));
	assert_false(file_check_writable("no/such/file", &err));
	assert_true(file_check_writable("file", &err));
	assert_int_equal(count_files(), 0);
}

static void a_folder_cannot_be_written_or_read(void **state)
{
	struct buffer bytes;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_false(file_write("folder", "x", 1, 0600, &err));
	assert_non_null(strstr(err.message, "folder"));
	buffer_init(&bytes, 100);
	assert_false(file_read("folder", &bytes, &err));
	assert_non_null(strstr(err.message, "folder"));
	buffer_deinit(&bytes);
}

/* A limit on file sizes stands for a full disk: the write fails in its middle. */
static void a_failed_write_leaves_the_former_file(void **state)
{
	static const char zeros[100000];
	struct rlimit before, small;
	struct error err = { 0 };
	bool ok;

	(void)state;
	assert_true(file_write("file", "former", 6, 0600, &err));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ 50000, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	ok = file_write("file", zeros, sizeof(zeros), 0600, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_false(ok);
	assert_non_null(strstr(err.message, "file"));
	expect_content("file", "former");
	assert_int_equal(count_files(), 1);
}

static void reading_keeps_to_the_cap(void **state)
{
	struct buffer bytes;
	struct error err = { 0 };

	(void)state;
	assert_true(file_write("file", "0123456789", 10, 0600, &err));
	buffer_init(&bytes, 9);
	assert_false(file_read("file", &bytes, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	buffer_deinit(&bytes);
	buffer_init(&bytes, 10);
	assert_true(file_read("file", &bytes, &err));
	assert_int_equal(bytes.size, 10);
	buffer_deinit(&bytes);
	buffer_init(&bytes, 1000);
	assert_false(file_read("missing", &bytes, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "missing"));
	buffer_deinit(&bytes);
}

static void a_device_is_written_directly(void **state)
{
	struct stat status;
	struct error err;

	(void)state;
	assert_true(file_write("/dev/null", "x", 1, 0600, &err));
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_written_whole, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_link_is_followed, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_link_to_nothing_makes_the_file, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_missing_folder_is_named, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_folder_cannot_be_written_or_read, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_failed_write_leaves_the_former_file, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(reading_keeps_to_the_cap, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_device_is_written_directly, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
