/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "mapping_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing is mapped there: /proc/PID/map_files has no such entry, as for somebody who may not read it. */
enum { NOWHERE = 0x10000, NOWHERE_END = 0x20000 };

static uint64_t inode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

static void stop(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* An inode number is given away again once its file is gone. */
static void a_deleted_file_is_not_looked_for_under_its_name(void **state)
{
	const char *folder = folder_create();
	char path[256], marked[300];
	struct elf_mapping mapping = { .pid = getpid(), .start = NOWHERE, .end = NOWHERE_END, .path = marked };
	struct elf_image *image = NULL;
	struct error err = { 0 };

	snprintf(path, sizeof(path), "%s", binary_copy("liboriginal.so", folder, "lib.so"));
	snprintf(marked, sizeof(marked), "%s (deleted)", path);
	mapping.inode = inode_of(path);
	assert_false(open_mapping(&mapping, &image, &err));
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "deleted"));
	mapping.pid = 0;
	assert_false(open_mapping(&mapping, &image, &err));
	mapping.path = path;
	assert_true(open_mapping(&mapping, &image, &err));
	elf_image_unref(image);
	folder_remove(folder);
}

/* Runs a copy of sleep(1) and waits until it is that. */
static pid_t run_copy(const char *path)
{
	pid_t child = fork();
	char link[64], target[PATH_MAX];

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, "60", NULL);
		_exit(127);
	}
	assert_true(child > 0);
	snprintf(link, sizeof(link), "/proc/%d/exe", child);
	for (int i = 0; i < 1000; i++) {
		ssize_t size = readlink(link, target, sizeof(target));

		if (size > 0 && (size_t)size == strlen(path) && memcmp(target, path, (size_t)size) == 0)
			return child;
		usleep(5000);
	}
	stop(child);
	fail_msg("%s did not start", path);
	return -1;
}

static void copy_program(const char *from, const char *to)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;

	buffer_init(&bytes, 1 << 26);
	if (!file_read(from, &bytes, &err) || !file_write(to, bytes.data, bytes.size, 0700, &err))
		fail_msg("%s", err.message);
}

/* What an ordinary user can still open after a deploy. */
static void a_deleted_program_is_opened_through_its_process(void **state)
{
	const char *folder = folder_create();
	char path[256], marked[300];
	struct elf_mapping mapping = { .start = NOWHERE, .end = NOWHERE_END, .path = marked };
	struct elf_image *image = NULL, *expected;
	struct error err = { 0 };

	snprintf(path, sizeof(path), "%s/program", folder);
	snprintf(marked, sizeof(marked), "%s (deleted)", path);
	copy_program("/bin/sleep", path);
	mapping.inode = inode_of(path);
	mapping.pid = run_copy(path);
	assert_int_equal(unlink(path), 0);
	copy_program("/bin/ls", path);
	if (!open_mapping(&mapping, &image, &err)) {
		stop(mapping.pid);
		fail_msg("%s", err.message);
	}
	assert_true(elf_image_open_path("/bin/sleep", &expected, &err));
	assert_memory_equal(elf_image_build_id(image), elf_image_build_id(expected), sizeof(struct elf_build_id));
	assert_string_equal(elf_image_path(image), path);
	assert_true(elf_image_is_deleted(image));
	elf_image_unref(image);
	elf_image_unref(expected);
	mapping.inode++;
	assert_false(open_mapping(&mapping, &image, &err));
	stop(mapping.pid);
	folder_remove(folder);
}

static bool is_waiting(pid_t child)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, ") S ") != NULL;
}

/* A writer waits in open() for somebody to read: we must not be that one. */
static void a_fifo_is_not_touched(void **state)
{
	const char *folder = folder_create();
	struct elf_image *image = NULL;
	struct error err = { 0 };
	char path[256];
	pid_t child;

	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(open(path, O_WRONLY | O_CLOEXEC) >= 0 ? 0 : 1);
	}
	assert_true(child > 0);
	for (int i = 0; i < 1000 && !is_waiting(child); i++)
		usleep(5000);
	assert_false(elf_image_open_path(path, &image, &err));
	assert_non_null(strstr(err.message, "not a regular file"));
	usleep(100000);
	assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	stop(child);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deleted_file_is_not_looked_for_under_its_name),
		cmocka_unit_test(a_deleted_program_is_opened_through_its_process),
		cmocka_unit_test(a_fifo_is_not_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
