/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/jit_map.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHER_USER = 65534 };

struct fixture {
	char directory[64], path[128], other[128];
	struct buffer notices;
	struct file_opened file;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	strcpy(fixture->directory, "/tmp/test_jit_map.XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->path, sizeof(fixture->path), "%s/perf-1.map", fixture->directory);
	snprintf(fixture->other, sizeof(fixture->other), "%s/other", fixture->directory);
	buffer_init(&fixture->notices, 1 << 16);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	unlink(fixture->other);
	rmdir(fixture->directory);
	buffer_deinit(&fixture->notices);
	file_opened_deinit(&fixture->file);
	free(fixture);
	return 0;
}

static void make_file(struct fixture *fixture, const char *path, uid_t owner)
{
	assert_true(file_write(path, "1000 10 name\n", 13, 0600, &fixture->err));
	assert_int_equal(chown(path, owner, (gid_t)-1), 0);
}

/* Whether the file is opened for a process of the user. */
static bool opens_for(struct fixture *fixture, uid_t user)
{
	const struct jit_place place = { .path = fixture->path, .pid = INT32_MAX, .user = user };

	file_opened_deinit(&fixture->file);
	buffer_deinit(&fixture->notices);
	buffer_init(&fixture->notices, 1 << 16);
	assert_true(jit_map_open(&place, &fixture->file, &fixture->notices, &fixture->err));
	return fixture->file.name != NULL;
}

static void assert_refused(struct fixture *fixture, uid_t user, const char *reason)
{
	assert_false(opens_for(fixture, user));
	assert_non_null(fixture->notices.data);
	assert_non_null(strstr(fixture->notices.data, reason));
}

static void test_the_user_s_own_file_is_opened_once(void **state)
{
	struct fixture *fixture = *state;
	struct buffer bytes;

	make_file(fixture, fixture->path, geteuid());
	assert_true(opens_for(fixture, geteuid()));
	assert_string_equal(fixture->file.name, fixture->path);
	/* What lies under the name later does not matter. */
	assert_int_equal(unlink(fixture->path), 0);
	buffer_init(&bytes, 100);
	assert_true(file_read_opened(&fixture->file, &bytes, &fixture->err));
	assert_string_equal(bytes.data, "1000 10 name\n");
	buffer_deinit(&bytes);
	assert_false(opens_for(fixture, geteuid()));
	assert_int_equal(fixture->notices.size, 0);
}

static void test_only_regular_files_with_one_name_are_believed(void **state)
{
	struct fixture *fixture = *state;

	make_file(fixture, fixture->other, geteuid());
	assert_int_equal(symlink(fixture->other, fixture->path), 0);
	assert_refused(fixture, geteuid(), "it is a link or no regular file");
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(link(fixture->other, fixture->path), 0);
	assert_refused(fixture, geteuid(), "it is a link");
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	assert_refused(fixture, geteuid(), "no regular file");
}

static void test_only_files_of_the_process_s_user_or_root_are_believed(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid() != 0)
		skip();
	make_file(fixture, fixture->path, 0);
	assert_true(opens_for(fixture, OTHER_USER));
	assert_true(opens_for(fixture, JIT_NO_USER));
	make_file(fixture, fixture->path, OTHER_USER);
	assert_true(opens_for(fixture, OTHER_USER));
	assert_refused(fixture, 0, "it belongs to neither the process's user nor root");
	assert_refused(fixture, 1234, "it belongs to neither");
	assert_refused(fixture, JIT_NO_USER, "it belongs to neither");
}

/* One pid may be several programs', one after the other: each has the file that was written in its time. */
static void test_a_file_is_of_the_program_in_whose_time_it_was_written(void **state)
{
	static const int64_t second_ns = 1000000000;
	struct fixture *fixture = *state;
	struct jit_place place = { .path = fixture->path, .pid = INT32_MAX, .user = geteuid() };
	const struct timespec times[2] = { { 100, 500 }, { 100, 500 } };
	const struct {
		int64_t begun_ns, ended_ns;
		const char *why;
	} cases[] = {
		{ 0, 0, NULL },
		{ 99 * second_ns, 101 * second_ns, NULL },
		{ 100 * second_ns + 1000000, 0, NULL },
		{ 101 * second_ns, 0, "older than the process" },
		{ 0, 99 * second_ns, "a later program with the same pid" },
	};

	make_file(fixture, fixture->path, geteuid());
	assert_int_equal(utimensat(AT_FDCWD, fixture->path, times, 0), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		place.begun_ns = cases[i].begun_ns;
		place.ended_ns = cases[i].ended_ns;
		fixture->notices.size = 0;
		assert_true(jit_map_open(&place, &fixture->file, &fixture->notices, &fixture->err));
		assert_int_equal(fixture->file.name == NULL, cases[i].why != NULL);
		if (cases[i].why)
			assert_non_null(strstr(fixture->notices.data, cases[i].why));
		file_opened_deinit(&fixture->file);
	}
}

/* Runs until it is killed, in a root directory of its own, where /tmp is a link to the directory. */
static pid_t start_in_container(const char *root, const char *directory)
{
	char link[160];
	pid_t pid;

	snprintf(link, sizeof(link), "%s/tmp", root);
	assert_int_equal(symlink(directory, link), 0);
	pid = fork();
	if (pid == 0) {
		if (chroot(root) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static bool is_in_container(pid_t pid)
{
	struct stat ours, theirs;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	return stat("/", &ours) == 0 && stat(path, &theirs) == 0 && ours.st_ino != theirs.st_ino;
}

/* The place of the process's map, and whether the map is opened. */
static bool finds_map_of(struct fixture *fixture, pid_t pid)
{
	const struct elf_mapping mapped = { .pid = pid, .path = "//anon" };
	struct process_image image = { 0 };
	char path[64];

	assert_true(jit_map_expect(&mapped, &image, &fixture->err));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	assert_string_equal(image.jit_map.path, path);
	file_opened_deinit(&fixture->file);
	assert_true(jit_map_open(&image.jit_map, &fixture->file, &fixture->notices, &fixture->err));
	jit_place_deinit(&image.jit_map);
	jit_place_deinit(&image.inherited_map);
	return fixture->file.name != NULL;
}

static void test_a_link_does_not_lead_out_of_a_container(void **state)
{
	struct fixture *fixture = *state;
	char root[] = "/tmp/test_jit_map_root.XXXXXX", link[64], inside[128];
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(root));
	pid = start_in_container(root, fixture->directory);
	while (!is_in_container(pid))
		usleep(1000);
	snprintf(fixture->path, sizeof(fixture->path), "%s/perf-%d.map", fixture->directory, (int)pid);
	make_file(fixture, fixture->path, 0);
	assert_false(finds_map_of(fixture, pid));
	/* A directory of its own is where it names it. */
	snprintf(link, sizeof(link), "%s/tmp", root);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(mkdir(link, 0700), 0);
	snprintf(inside, sizeof(inside), "%s/perf-%d.map", link, (int)pid);
	make_file(fixture, inside, 0);
	assert_true(finds_map_of(fixture, pid));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(unlink(inside), 0);
	assert_int_equal(rmdir(link), 0);
	assert_int_equal(rmdir(root), 0);
}

/* A server that root starts changes its user when its code's memory is known already. */
static void test_a_process_may_change_its_user(void **state)
{
	struct fixture *fixture = *state;
	const struct elf_mapping mapped = { .path = "//anon" };
	struct elf_mapping of_child = mapped;
	struct process_image image = { 0 };
	int go[2], done[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &byte, 1) != 1 || setuid(OTHER_USER) != 0 || write(done[1], "d", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	of_child.pid = pid;
	assert_true(jit_map_expect(&of_child, &image, &fixture->err));
	assert_int_equal(image.jit_map.user, 0);
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	make_file(fixture, image.jit_map.path, OTHER_USER);
	assert_true(jit_map_open(&image.jit_map, &fixture->file, &fixture->notices, &fixture->err));
	assert_non_null(fixture->file.name);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(unlink(image.jit_map.path), 0);
	for (size_t i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
	jit_place_deinit(&image.jit_map);
	jit_place_deinit(&image.inherited_map);
}

/* By the names that V8, .NET and others give a dump, and JavaScriptCore. */
static void test_dumps_are_known_by_their_names(void **state)
{
	static const char *const dumps[] = { "/srv/jit-12.dump", "jit-12.dump", "/srv/jit-13-12.dump",
		"/tmp/jit-31747-31734-Qnj7gU" };
	static const char *const others[] = { "/srv/libjit-12.dump", "/srv/jit-.dump", "/srv/jit-a.dump",
		"/srv/jit-12.dumps", "/srv/jit-12", "/srv/jit-12-13", "/srv/jit-12-abcdef", "/srv/jit-12-13-abcdefg",
		"/srv/jit-12.dump/x" };

	for (size_t i = 0; i < sizeof(dumps) / sizeof(*dumps); i++)
		assert_true(jit_map_is_dump(&(struct elf_mapping){ .path = dumps[i] }));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(jit_map_is_dump(&(struct elf_mapping){ .path = others[i] }));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_the_user_s_own_file_is_opened_once),
		TEST(test_only_regular_files_with_one_name_are_believed),
		TEST(test_only_files_of_the_process_s_user_or_root_are_believed),
		TEST(test_a_file_is_of_the_program_in_whose_time_it_was_written),
		TEST(test_a_link_does_not_lead_out_of_a_container),
		TEST(test_a_process_may_change_its_user),
		TEST(test_dumps_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
