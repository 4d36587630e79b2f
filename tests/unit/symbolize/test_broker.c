/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Which files the broker opens for a binary of another user, where root runs it. */

enum { USER = 54321, OTHER = 54322 };

static char folder[] = "/tmp/kelvin-test-broker-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][PATH_MAX];
	static size_t next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	return path;
}

static void make_file(const char *name, uid_t owner, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, owner, owner), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void make_folder(const char *name, uid_t owner)
{
	assert_int_equal(mkdir(at(name), 0755), 0);
	assert_int_equal(chown(at(name), owner, owner), 0);
}

/* A binary of the user in bin/, and files around it. */
static int make_all(void **state)
{
	struct error err;
	struct buffer bytes;

	(void)state;
	if (!mkdtemp(folder) || chmod(folder, 0755) != 0)
		return -1;
	make_folder("bin", geteuid() == 0 ? USER : geteuid());
	buffer_init(&bytes, 1 << 24);
	assert_true(file_read(PROGRAMS "/c-gcc-5", &bytes, &err));
	assert_true(file_write(at("bin/program"), bytes.data, bytes.size, 0755, &err));
	buffer_deinit(&bytes);
	if (geteuid() != 0)
		return 0;
	assert_int_equal(chown(at("bin/program"), USER, USER), 0);
	make_folder("bin/.debug", USER);
	make_folder("else", OTHER);
	make_folder("debug", 0);
	make_file("bin/own.debug", USER, 0600);
	make_file("bin/.debug/own.debug", USER, 0600);
	make_file("bin/others.debug", OTHER, 0644);
	make_file("bin/secret.debug", 0, 0600);
	make_file("else/readable", OTHER, 0644);
	make_file("else/built.dwo", USER, 0600);
	make_file("debug/installed.debug", 0, 0644);
	make_file("debug/secret.debug", 0, 0600);
	assert_int_equal(symlink("../else/readable", at("bin/out.debug")), 0);
	assert_int_equal(symlink("own.debug", at("bin/in.debug")), 0);
	assert_int_equal(mkfifo(at("bin/fifo.debug"), 0666), 0);
	return 0;
}

static int remove_all(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void expect(enum elf_file_use use, const char *name, bool is_opened)
{
	const char *directories[] = { at("debug") };
	const struct symbolize_options options = { .debug = { .directories = directories, .directory_count = 1 },
		.cache_directory = folder };
	const struct broker broker = { .options = &options };
	struct elf_image *image;
	struct error err;
	int fd;

	assert_true(elf_image_open_path(at("bin/program"), &image, &err));
	fd = broker_open(&broker, image, use, at(name));
	if ((fd >= 0) != is_opened)
		fail_msg("%s: %s", name, fd >= 0 ? "opened" : strerror(errno));
	if (fd >= 0)
		close(fd);
	elf_image_unref(image);
}

static void files_of_the_user_beside_the_binary_are_opened(void **state)
{
	(void)state;
	expect(ELF_FILE_LINK, "bin/own.debug", true);
	expect(ELF_FILE_LINK, "bin/.debug/own.debug", true);
	expect(ELF_FILE_LINK, "bin/others.debug", true);
	expect(ELF_FILE_LINK, "bin/in.debug", true);
	expect(ELF_FILE_SPLIT, "bin/own.debug", true);
}

static void what_the_user_may_not_read_is_not_opened(void **state)
{
	(void)state;
	expect(ELF_FILE_LINK, "bin/secret.debug", false);
	expect(ELF_FILE_LINK, "debug/secret.debug", false);
	expect(ELF_FILE_BUILD_ID, "debug/secret.debug", false);
}

static void nothing_leads_out_of_the_directory(void **state)
{
	(void)state;
	expect(ELF_FILE_LINK, "bin/../else/readable", false);
	expect(ELF_FILE_LINK, "else/readable", false);
	expect(ELF_FILE_LINK, "bin/out.debug", false);
	expect(ELF_FILE_LINK, "bin/..", false);
	expect(ELF_FILE_SPLIT, "bin/out.debug", false);
	expect(ELF_FILE_SPLIT, "else/readable", false);
}

static void only_regular_files_are_opened(void **state)
{
	(void)state;
	expect(ELF_FILE_LINK, "bin/fifo.debug", false);
	expect(ELF_FILE_LINK, "bin/.debug", false);
}

static void debug_files_are_where_they_are_kept(void **state)
{
	(void)state;
	expect(ELF_FILE_BUILD_ID, "debug/installed.debug", true);
	expect(ELF_FILE_LINK, "debug/installed.debug", true);
	expect(ELF_FILE_LINK, "bin/../debug/installed.debug", true);
	expect(ELF_FILE_BUILD_ID, "bin/own.debug", false);
}

static void split_files_may_lie_where_the_user_built_them(void **state)
{
	(void)state;
	expect(ELF_FILE_SPLIT, "else/built.dwo", true);
	expect(ELF_FILE_LINK, "else/built.dwo", false);
}

static void frames_are_our_own(void **state)
{
	(void)state;
	make_file("0123456789abcdef", 0, 0600);
	make_file("fedcba9876543210", USER, 0644);
	expect(ELF_FILE_FRAMES, "0123456789abcdef", true);
	expect(ELF_FILE_FRAMES, "fedcba9876543210", false);
	expect(ELF_FILE_FRAMES, "bin/own.debug", false);
	expect(ELF_FILE_FRAMES, "../0123456789abcdef", false);
}

/* A file of root that others may write to may say what they want. */
static void what_others_may_write_is_nobodys(void **state)
{
	(void)state;
	assert_int_equal(chown(at("bin/program"), 0, 0), 0);
	expect(ELF_FILE_LINK, "bin/secret.debug", true);
	assert_int_equal(chmod(at("bin/program"), 0777), 0);
	expect(ELF_FILE_LINK, "bin/secret.debug", false);
	expect(ELF_FILE_LINK, "bin/others.debug", true);
	assert_int_equal(chmod(at("bin/program"), 0755), 0);
	assert_int_equal(chown(at("bin/program"), USER, USER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_user_beside_the_binary_are_opened),
		cmocka_unit_test(what_the_user_may_not_read_is_not_opened),
		cmocka_unit_test(nothing_leads_out_of_the_directory),
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(debug_files_are_where_they_are_kept),
		cmocka_unit_test(split_files_may_lie_where_the_user_built_them),
		cmocka_unit_test(frames_are_our_own),
		cmocka_unit_test(what_others_may_write_is_nobodys),
	};

	if (geteuid() != 0) {
		print_message("the broker has root's rights only where root runs it\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, make_all, remove_all);
}
