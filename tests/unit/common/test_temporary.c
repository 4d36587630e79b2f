/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/temporary.h"

#include "common/own_directory.h"
#include "common/remove.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STRANGER = 12345 };

static char work[64];

static int set_up(void **state)
{
	snprintf(work, sizeof(work), "/tmp/test-temporary-XXXXXX");
	return mkdtemp(work) && setenv("TMPDIR", work, 1) == 0 && unsetenv("XDG_RUNTIME_DIR") == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	struct error err;
	int parent = open("/tmp", O_PATH | O_CLOEXEC);
	bool ok = remove_tree(parent, strrchr(work, '/') + 1, &err);

	close(parent);
	return ok ? 0 : -1;
}

static const char *below(const char *name)
{
	static char paths[4][PATH_MAX];
	static int at;

	at = (at + 1) % 4;
	snprintf(paths[at], sizeof(paths[at]), "%s/%s", work, name);
	return paths[at];
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_own(const char *path, const char *words)
{
	struct error err;
	int fd = own_directory_open(path, (uid_t)-1, &err);

	if (fd >= 0)
		close(fd);
	else if (!words || !strstr(err.message, words))
		fail_msg("%s: %s", path, err.message);
	return fd >= 0;
}

static void test_who_can_lead_a_directory_elsewhere(void **state)
{
	assert_true(is_own(work, NULL));
	assert_true(is_own("/tmp", NULL));
	assert_false(is_own("relative", "not an absolute path"));
	assert_false(is_own(below("none"), "No such file"));
	assert_int_equal(mkdir(below("open"), 0700) | mkdir(below("open/below"), 0700), 0);
	assert_int_equal(symlink("open/below/..", below("link")), 0);
	assert_true(is_own(below("link"), NULL));
	assert_int_equal(chmod(below("open"), 0777), 0);
	assert_false(is_own(below("open/below"), "others may write to 'open'"));
	assert_false(is_own(below("link"), "others may write"));
	assert_int_equal(chmod(below("open"), 01777), 0);
	assert_true(is_own(below("open/below"), NULL));
	assert_int_equal(symlink("round", below("round")), 0);
	assert_false(is_own(below("round"), "symbolic links"));
	assert_true(own_directory_is_ours(below("open/none/at/all")));
	assert_false(own_directory_is_ours("/dev/null/none"));
	if (geteuid() != 0)
		return;
	assert_int_equal(mkdir(below("theirs"), 0755) | mkdir(below("theirs/ours"), 0700), 0);
	assert_int_equal(chown(below("theirs"), STRANGER, STRANGER), 0);
	assert_false(is_own(below("theirs/ours"), "belongs to user 12345"));
	assert_false(own_directory_is_ours(below("theirs/none")));
	assert_int_equal(lchown(below("link"), STRANGER, STRANGER), 0);
	assert_false(is_own(below("link"), "belongs to user 12345"));
}

static void create(struct temporary *temporary)
{
	struct error err;

	if (!temporary_create(temporary, TEMPORARY_LARGE, NULL, &err))
		fail_msg("%s", err.message);
}

static size_t entries(void)
{
	char command[PATH_MAX], line[16];
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A %s/kelvin-%u | wc -l", work, (unsigned int)geteuid());
	pipe = popen(command, "r");
	assert_non_null(fgets(line, sizeof(line), pipe));
	pclose(pipe);
	return strtoul(line, NULL, 10);
}

static void test_it_lies_below_one_that_stays(void **state)
{
	struct temporary temporary;
	struct stat info;
	char base[PATH_MAX];

	create(&temporary);
	snprintf(base, sizeof(base), "%.*s", (int)(strrchr(temporary.path, '/') - temporary.path), temporary.path);
	assert_int_equal(strncmp(base, work, strlen(work)), 0);
	assert_int_equal(stat(base, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(entries(), 1);
	temporary_remove(&temporary, NULL);
	temporary_remove(&temporary, NULL);
	assert_int_equal(entries(), 0);
	assert_int_equal(stat(base, &info), 0);
	/* Whoever opened it has nothing of it. */
	assert_int_equal(chmod(base, 0777), 0);
	create(&temporary);
	assert_int_equal(stat(base, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	temporary_remove(&temporary, NULL);
}

static void test_the_place_of_a_stranger_is_not_used(void **state)
{
	struct temporary temporary;
	char name[32];

	if (geteuid() != 0)
		skip();
	snprintf(name, sizeof(name), "kelvin-%u", (unsigned int)geteuid());
	assert_int_equal(mkdir(below(name), 0777), 0);
	assert_int_equal(chown(below(name), STRANGER, STRANGER), 0);
	create(&temporary);
	assert_int_not_equal(strncmp(temporary.path, work, strlen(work)), 0);
	temporary_remove(&temporary, NULL);
	assert_int_equal(rmdir(below(name)), 0);
	assert_int_equal(symlink("/etc", below(name)), 0);
	assert_int_equal(lchown(below(name), STRANGER, STRANGER), 0);
	create(&temporary);
	assert_int_not_equal(strncmp(temporary.path, work, strlen(work)), 0);
	temporary_remove(&temporary, NULL);
	assert_int_equal(chown(work, STRANGER, STRANGER), 0);
	create(&temporary);
	assert_int_not_equal(strncmp(temporary.path, work, strlen(work)), 0);
	temporary_remove(&temporary, NULL);
}

/* An owner and its child are both killed; one that lives keeps its own. */
static void test_what_the_killed_leave_is_cleared_by_the_next(void **state)
{
	struct temporary living, next;
	int report[2], status;
	pid_t pids[2];

	create(&living);
	assert_int_equal(pipe(report), 0);
	pids[0] = fork();
	if (pids[0] == 0) {
		struct temporary lost;
		struct error err;
		pid_t self[2] = { getpid() };

		/* It would keep the lock of the other one. */
		close(living.directory);
		if (!temporary_create(&lost, TEMPORARY_LARGE, NULL, &err))
			_exit(1);
		self[1] = lost.remover;
		(void)!write(report[1], self, sizeof(self));
		pause();
	}
	assert_int_equal(read(report[0], pids, sizeof(pids)), sizeof(pids));
	close(report[0]);
	close(report[1]);
	assert_int_equal(entries(), 2);
	kill(pids[1], SIGKILL);
	kill(pids[0], SIGKILL);
	waitpid(pids[0], &status, 0);
	/* Its child is not ours to wait for: the lock is free when the kernel has ended it. */
	for (int tries = 0; tries < 1000; tries++) {
		create(&next);
		if (entries() == 2)
			break;
		temporary_remove(&next, NULL);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	assert_int_equal(entries(), 2);
	assert_int_equal(access(living.path, F_OK), 0);
	temporary_remove(&next, NULL);
	temporary_remove(&living, NULL);
	assert_int_equal(entries(), 0);
}

/* Its owner is killed alone: the child removes it. */
static void test_the_child_removes_it(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct temporary lost;
		struct error err;

		if (!temporary_create(&lost, TEMPORARY_LARGE, NULL, &err))
			_exit(1);
		raise(SIGKILL);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	for (int tries = 0; tries < 1000 && entries() > 0; tries++)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	assert_int_equal(entries(), 0);
}

/* Deeper than descriptors and paths reach, without rights, and with links out of it. */
static void test_any_tree_is_removed_and_nothing_else(void **state)
{
	enum { DEPTH = 80, DESCRIPTORS = 32 };
	static const char name[] = "a-name-of-which-eighty-make-a-path-that-is-longer-than-any-may-be";
	struct error err;
	struct rlimit before, few = { DESCRIPTORS, DESCRIPTORS };
	int parent = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC), at, next;

	assert_int_equal(mkdir(below("precious"), 0700), 0);
	make_file(below("precious/file"));
	assert_int_equal(mkdir(below("tree"), 0700), 0);
	at = open(below("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(at, name, 0700), 0);
		assert_int_equal(symlinkat(below("precious"), at, "link"), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(mkdir(below("tree/shut"), 0700), 0);
	make_file(below("tree/shut/file"));
	assert_int_equal(chmod(below("tree/shut"), 0), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	if (!remove_tree(parent, "tree", &err))
		fail_msg("%s", err.message);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(access(below("tree"), F_OK), -1);
	assert_int_equal(access(below("precious/file"), F_OK), 0);
	/* What is a link itself is no tree of ours. */
	assert_int_equal(symlink("precious", below("tree")), 0);
	assert_false(remove_tree(parent, "tree", &err));
	assert_int_equal(access(below("precious/file"), F_OK), 0);
	if (!remove_tree(parent, "none", &err))
		fail_msg("%s", err.message);
	close(parent);
}

/* A process exchanges directories for links all the while. */
static void test_exchange_while_removing(void **state)
{
	struct error err;
	int parent = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t attacker;

	assert_int_equal(mkdir(below("precious"), 0700), 0);
	make_file(below("precious/file"));
	attacker = fork();
	if (attacker == 0)
		for (;;) {
			(void)!mkdir(below("tree"), 0700);
			(void)!mkdir(below("tree/d"), 0700);
			(void)!rename(below("tree/d"), below("tree/e"));
			(void)!symlink(below("precious"), below("tree/d"));
			(void)!unlink(below("tree/d"));
		}
	for (int i = 0; i < 300; i++)
		(void)!remove_tree(parent, "tree", &err);
	kill(attacker, SIGKILL);
	waitpid(attacker, NULL, 0);
	assert_int_equal(access(below("precious/file"), F_OK), 0);
	close(parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_who_can_lead_a_directory_elsewhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_it_lies_below_one_that_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_place_of_a_stranger_is_not_used, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_the_killed_leave_is_cleared_by_the_next, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_child_removes_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_any_tree_is_removed_and_nothing_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exchange_while_removing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
