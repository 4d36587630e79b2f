/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/in_root.h"

#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Paths in a directory tree lead where the kernel's own RESOLVE_IN_ROOT leads, and nowhere else. */

struct tree {
	char directory[64];
	int root;
};

static void make(const struct tree *tree, const char *name, const char *target)
{
	int fd;

	if (target && strcmp(target, "directory") == 0) {
		assert_int_equal(mkdirat(tree->root, name, 0700), 0);
	} else if (target) {
		assert_int_equal(symlinkat(target, tree->root, name), 0);
	} else {
		fd = openat(tree->root, name, O_WRONLY | O_CREAT, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
}

static int set_up(void **state)
{
	static struct tree tree;

	strcpy(tree.directory, "/tmp/kelvin-in-root-XXXXXX");
	if (!mkdtemp(tree.directory) || (tree.root = open(tree.directory, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	make(&tree, "a", "directory");
	make(&tree, "a/b", "directory");
	make(&tree, "a/b/file", NULL);
	make(&tree, "etc", "directory");
	make(&tree, "etc/passwd", NULL);
	make(&tree, "up", "../../../../etc/passwd");
	make(&tree, "absolute", "/etc/passwd");
	make(&tree, "a/directory", "/a/b");
	make(&tree, "a/b/back", "../../etc");
	make(&tree, "loop", "loop2");
	make(&tree, "loop2", "/loop");
	make(&tree, "dangling", "nothing");
	make(&tree, "proc", "/proc/self/root/etc/passwd");
	make(&tree, "slash", "a/b/");
	make(&tree, "root", "/");
	*state = &tree;
	return 0;
}

static int tear_down(void **state)
{
	struct tree *tree = *state;
	char command[128];

	close(tree->root);
	snprintf(command, sizeof(command), "rm -r %s", tree->directory);
	return system(command);
}

/* The kernel says EAGAIN of a path with ".." where anything was renamed or mounted meanwhile, see openat2(2). */
static int ask_kernel(const struct tree *tree, const char *path, bool follows_last)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | (follows_last ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd;

	do {
		fd = (int)syscall(SYS_openat2, tree->root, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN);
	return fd;
}

static void expect_same(const struct tree *tree, const char *path, bool follows_last)
{
	int theirs = ask_kernel(tree, path, follows_last), their_reason = errno;
	int ours = in_root_open(tree->root, path, follows_last), our_reason = errno;
	struct stat there, here;

	if (theirs < 0 && their_reason == ENOSYS)
		skip();
	if ((theirs < 0) != (ours < 0) || (theirs < 0 && their_reason != our_reason))
		fail_msg("%s: %s, and the kernel says %s", path, ours < 0 ? strerror(our_reason) : "found",
			theirs < 0 ? strerror(their_reason) : "found");
	if (ours < 0)
		return;
	assert_int_equal(fstat(theirs, &there), 0);
	assert_int_equal(fstat(ours, &here), 0);
	if (here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		fail_msg("%s is another file than the kernel's", path);
	close(ours);
	close(theirs);
}

static void paths_are_as_the_kernel_has_them(void **state)
{
	static const char *const paths[] = { "/", ".", "..", "a", "/a/b/file", "a/b/file/", "a/b/file/x", "a//b/./file",
		"../../../etc/passwd", "/../etc/passwd", "up", "absolute", "a/directory/file",
		"a/directory/back/passwd", "a/b/back/../a/b/file", "loop", "loop/x", "dangling", "dangling/x", "proc",
		"slash", "slash/", "slash/file", "root", "root/etc/passwd", "root/../up", "nothing", "etc/passwd/..",
		"absolute/" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		expect_same(*state, paths[i], true);
		expect_same(*state, paths[i], false);
	}
}

/* Paths of the same names in any order. */
static void any_path_is(void **state)
{
	static const char *const names[] = { "a", "b", "..", ".", "up", "absolute", "directory", "back", "etc",
		"passwd", "file", "root", "slash", "loop", "proc" };
	uint32_t seed = 1;

	for (int i = 0; i < 3000; i++) {
		char path[256] = "";
		int count = 1 + i % 7;

		for (int j = 0; j < count; j++) {
			seed = seed * 1664525 + 1013904223;
			strcat(path, j > 0 || seed >> 31 ? "/" : "");
			strcat(path, names[(seed >> 16) % (sizeof(names) / sizeof(names[0]))]);
		}
		expect_same(*state, path, i % 2);
	}
}

static void what_is_too_long_is_refused(void **state)
{
	const struct tree *tree = *state;
	char path[8192];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(in_root_open(tree->root, path, true), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	path[1000] = '\0';
	assert_int_equal(in_root_open(tree->root, path, true), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

/* Who reads as root may read what others put a link to. */
static void roots_reader_follows_roots_links_only(void **state)
{
	const struct tree *tree = *state;
	int fd;

	if (geteuid() != 0)
		skip();
	fd = in_root_open_by_root(tree->root, "a/directory/back/passwd");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fchownat(tree->root, "a/b/back", 12345, 12345, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(in_root_open_by_root(tree->root, "a/directory/back/passwd"), -1);
	assert_int_equal(errno, EACCES);
	fd = in_root_open_by_root(tree->root, "a/directory/file");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fchownat(tree->root, "a/b/back", 0, 0, AT_SYMLINK_NOFOLLOW), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_as_the_kernel_has_them),
		cmocka_unit_test(any_path_is),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(roots_reader_follows_roots_links_only),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
