/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;

	buffer_init(&bytes, 1 << 16);
	if (!file_read(path, &bytes, &err))
		fail_msg("%s", err.message);
	assert_string_equal(bytes.data ? bytes.data : "", expected);
}

static void a_file_is_written_whole(void **state)
{
	struct stat status;
	struct error err;

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

	assert_false(file_write("no/such/file", "x", 1, 0600, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "no/such"));
	assert_false(file_check_writable("no/such/file", &err));
	assert_true(file_check_writable("file", &err));
	assert_int_equal(count_files(), 0);
}

static void a_folder_cannot_be_written_or_read(void **state)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err = { 0 };

	assert_int_equal(mkdir("folder", 0700), 0);
	assert_false(file_write("folder", "x", 1, 0600, &err));
	assert_non_null(strstr(err.message, "folder"));
	buffer_init(&bytes, 100);
	assert_false(file_read("folder", &bytes, &err));
	assert_non_null(strstr(err.message, "folder"));
}

/* A limit on file sizes stands for a full disk: the write fails in its middle. */
static void a_failed_write_leaves_the_former_file(void **state)
{
	static const char zeros[100000];
	struct rlimit before, small;
	struct error err = { 0 };
	bool ok;

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

	assert_true(file_write("/dev/null", "x", 1, 0600, &err));
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

static void a_path_behind_links_is_found(void **state)
{
	struct error err;
	char end[64];

	assert_int_equal(mkdir("below", 0700), 0);
	assert_int_equal(symlink("below/other", "link"), 0);
	assert_int_equal(symlink("../target", "below/other"), 0);
	assert_true(file_end_of_links("link", end, sizeof(end), &err));
	assert_string_equal(end, "./below/../target");
	assert_true(file_end_of_links("target", end, sizeof(end), &err));
	assert_string_equal(end, "target");
	assert_true(file_end_of_links("/no-such-file", end, sizeof(end), &err));
	assert_string_equal(end, "/no-such-file");
	assert_true(file_end_of_links("/dev/null", end, sizeof(end), &err));
	assert_string_equal(end, "");
	assert_int_equal(unlink("below/other"), 0);
}

/* ---- Where other users may write too ---- */

enum { OTHER_USER = 65534 };

static void give_away(const char *path)
{
	assert_int_equal(lchown(path, OTHER_USER, OTHER_USER), 0);
}

static void expect_refused(const char *path, const char *reason)
{
	struct error err = { 0 };

	assert_false(file_write(path, "secret", 6, 0, &err));
	assert_int_equal(err.code, ERROR_PERMISSION);
	assert_non_null(strstr(err.message, reason));
	assert_false(file_check_writable(path, &err));
	assert_false(file_end_of_links(path, (char[64]){ 0 }, 64, &err));
}

static void a_link_of_another_user_is_not_followed(void **state)
{
	struct error err;

	if (geteuid() != 0)
		skip();
	assert_true(file_write("victim", "precious", 8, 0600, &err));
	assert_int_equal(chmod(".", 01777), 0);
	assert_int_equal(symlink("victim", "existing"), 0);
	assert_int_equal(symlink("made", "nothing"), 0);
	assert_int_equal(symlink("existing", "own"), 0);
	give_away("existing");
	give_away("nothing");
	expect_refused("existing", "./existing is a link that user 65534 made");
	expect_refused("nothing", "remove it or name another file");
	/* A link of one's own that leads to another user's. */
	expect_refused("own", "./existing is a link");
	assert_int_equal(chmod(".", 0700), 0);
	expect_refused("existing", "a link");
	expect_content("victim", "precious");
	assert_int_not_equal(access("made", F_OK), 0);
}

static void a_link_of_the_folders_owner_is_followed(void **state)
{
	struct error err;

	if (geteuid() != 0)
		skip();
	assert_int_equal(symlink("target", "link"), 0);
	give_away("link");
	give_away(".");
	assert_true(file_write("link", "new", 3, 0, &err));
	expect_content("target", "new");
}

static void a_pipe_of_another_user_is_not_written(void **state)
{
	struct error err;
	char got[8] = "";
	int fd;

	assert_int_equal(mkfifo("fifo", 0666), 0);
	fd = open("fifo", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(file_write("fifo", "own", 3, 0, &err));
	assert_int_equal(read(fd, got, sizeof(got)), 3);
	if (geteuid() == 0) {
		give_away("fifo");
		expect_refused("fifo", "a pipe");
		assert_int_equal(read(fd, got, sizeof(got)), -1);
	}
	close(fd);
}

static void a_file_of_another_user_is_replaced(void **state)
{
	struct stat status;
	struct error err;

	umask(022);
	assert_true(file_write("first", "old", 3, 0666, &err));
	assert_int_equal(link("first", "second"), 0);
	if (geteuid() == 0)
		give_away("first");
	assert_true(file_write("first", "new", 3, 0, &err));
	expect_content("second", "old");
	assert_int_equal(stat("first", &status), 0);
	assert_int_equal(status.st_uid, geteuid());
	assert_int_equal(status.st_mode & 0777, geteuid() == 0 ? 0600 : 0666);
}

static void an_open_file_is_written_by_its_descriptor(void **state)
{
	char path[32], got[8] = "";
	struct error err;
	int fd = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0600), ends[2];

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_true(file_write(path, "new", 3, 0, &err));
	assert_int_equal(read(fd, got, sizeof(got)), 3);
	close(fd);
	/* As a shell's process substitution hands over a pipe. */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	assert_true(file_check_writable(path, &err));
	assert_true(file_write(path, "piped", 5, 0, &err));
	assert_int_equal(read(ends[0], got, sizeof(got)), 5);
	close(ends[0]);
	close(ends[1]);
}

static void expect_mode(mode_t asked, mode_t expected)
{
	struct stat status;
	struct error err;

	assert_true(file_write("file", "x", 1, asked, &err));
	assert_int_equal(stat("file", &status), 0);
	assert_int_equal(status.st_mode & 07777, expected);
}

static void a_file_has_the_mode_that_is_asked_for(void **state)
{
	umask(077);
	expect_mode(0, 0600);
	expect_mode(0664, 0664);
	/* The user's own file keeps its mode. */
	expect_mode(0, 0664);
	expect_mode(0640, 0640);
	umask(022);
}

static void pieces_are_a_file_when_all_are_there(void **state)
{
	struct file_writing *writing;
	struct error err;

	assert_true(file_write("out", "former", 6, 0600, &err));
	assert_true(file_begin("out", 0640, &writing, &err));
	assert_true(file_is_beside(writing));
	assert_true(file_append(writing, "new ", 4, &err));
	expect_content("out", "former");
	file_abandon(writing);
	expect_content("out", "former");
	assert_int_equal(count_files(), 1);

	assert_true(file_begin("out", 0640, &writing, &err));
	assert_true(file_append(writing, "new ", 4, &err) && file_append(writing, "text", 4, &err));
	assert_true(file_commit(writing, &err));
	expect_content("out", "new text");
	assert_int_equal(count_files(), 1);

	assert_false(file_begin("missing/out", 0, &writing, &err));
	assert_true(file_begin("/dev/null", 0, &writing, &err));
	assert_false(file_is_beside(writing));
	file_abandon(writing);
	file_abandon(NULL);
}

static void expect_path(const char *path, bool is_absolute, const char *expected)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", path);
	assert_int_equal(file_normalize_path(text), is_absolute);
	assert_string_equal(text, expected);
}

static void a_path_is_normalized_by_its_letters(void **state)
{
	expect_path("/build/dev/../../src/./x.c", true, "/src/x.c");
	expect_path("/a//b/", true, "/a/b");
	expect_path("/a/..b/...", true, "/a/..b/...");
	expect_path("/../../a", true, "/a");
	expect_path("/a/..", false, "");
	expect_path("../a", false, "../a");
}

static void a_file_in_memory_can_be_written_sealed_and_not_executed(void **state)
{
	enum { NO_EXECUTION = 0x8, SEAL_OF_EXECUTION = 0x20 }; /* linux/memfd.h, linux/fcntl.h of Linux 6.3 */
	CLEANUP(cleanup_close) int known = memfd_create("known", MFD_CLOEXEC | NO_EXECUTION);
	struct error err;
	CLEANUP(cleanup_close) int fd = file_in_memory("copy", &err);

	assert_true(fd >= 0 && file_write_all(fd, "text", 4));
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GET_SEALS), known >= 0 ? SEAL_OF_EXECUTION : 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_false(file_write_all(fd, "more", 4));
}

enum { IS_MADE, IS_NOT_MADE, IS_NOT_FORBIDDEN, IS_UNKNOWN };

/* The setting is that of the PID namespace, of which this is the first process. */
static int try_where_executable_files_are_forbidden(void)
{
	enum { EXECUTION = 0x10 }; /* MFD_EXEC; kernels before 6.6 also forbid files without a flag */
	int setting = open("/proc/sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC);
	struct error err;

	if (setting < 0 || write(setting, "2", 1) != 1)
		return IS_UNKNOWN;
	if (memfd_create("forbidden", MFD_CLOEXEC | EXECUTION) >= 0)
		return IS_NOT_FORBIDDEN;
	return file_in_memory("allowed", &err) >= 0 ? IS_MADE : IS_NOT_MADE;
}

/* Only root may set it, where the kernel knows it. Elsewhere the test before says what holds. */
static void a_file_in_memory_is_made_where_executable_ones_are_forbidden(void **state)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		pid_t first = unshare(CLONE_NEWPID) == 0 ? fork() : -1;

		if (first == 0)
			_exit(try_where_executable_files_are_forbidden());
		_exit(first < 0 || waitpid(first, &status, 0) != first ? IS_UNKNOWN : WEXITSTATUS(status));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == IS_MADE || WEXITSTATUS(status) == IS_UNKNOWN);
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
		cmocka_unit_test_setup_teardown(a_path_behind_links_is_found, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_link_of_another_user_is_not_followed, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_link_of_the_folders_owner_is_followed, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_pipe_of_another_user_is_not_written, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_file_of_another_user_is_replaced, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(an_open_file_is_written_by_its_descriptor, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(a_file_has_the_mode_that_is_asked_for, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(pieces_are_a_file_when_all_are_there, enter_folder, leave_folder),
		cmocka_unit_test(a_path_is_normalized_by_its_letters),
		cmocka_unit_test(a_file_in_memory_can_be_written_sealed_and_not_executed),
		cmocka_unit_test(a_file_in_memory_is_made_where_executable_ones_are_forbidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
