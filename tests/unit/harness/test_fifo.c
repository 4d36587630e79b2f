/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/fifo.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* A directory of our own takes the place of /tmp. */
struct place {
	char directory[32], commands[64], answers[64];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	snprintf(place->directory, sizeof(place->directory), "/tmp/test-fifo-XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	snprintf(place->commands, sizeof(place->commands), "%s/ctl", place->directory);
	snprintf(place->answers, sizeof(place->answers), "%s/ack", place->directory);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	unlink(place->commands);
	unlink(place->answers);
	rmdir(place->directory);
	free(place);
	return 0;
}

static bool take(const struct place *place, struct fifo_pair *pair, struct error *err)
{
	return fifo_pair_open(pair, place->commands, place->answers, err);
}

static void must_take(const struct place *place, struct fifo_pair *pair)
{
	struct error err;

	if (!take(place, pair, &err))
		fail_msg("%s", err.message);
}

static void test_made_and_removed(void **state)
{
	const struct place *place = *state;
	struct fifo_pair pair;
	struct stat info;

	must_take(place, &pair);
	assert_int_equal(stat(place->commands, &info), 0);
	assert_true(S_ISFIFO(info.st_mode));
	assert_int_equal(info.st_mode & 0777, 0700);
	assert_int_equal(stat(place->answers, &info), 0);
	fifo_pair_close(&pair, place->commands, place->answers);
	assert_int_equal(access(place->commands, F_OK), -1);
	assert_int_equal(access(place->answers, F_OK), -1);
	/* Once more does nothing. */
	fifo_pair_close(&pair, place->commands, place->answers);
}

static void test_stale_ones_are_used_again(void **state)
{
	const struct place *place = *state;
	struct fifo_pair pair;
	char byte;
	int old;

	assert_int_equal(mkfifo(place->commands, 0777), 0);
	assert_int_equal(mkfifo(place->answers, 0600), 0);
	/* An answer that a runner has left to a harness that still has it open. */
	old = open(place->answers, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(write(old, "x", 1), 1);
	must_take(place, &pair);
	assert_int_equal(read(pair.answers, &byte, 1), -1);
	close(old);
	fifo_pair_close(&pair, place->commands, place->answers);
	assert_int_equal(access(place->commands, F_OK), -1);
}

static void test_foreign_files_are_left_alone(void **state)
{
	const struct place *place = *state;
	struct fifo_pair pair;
	struct error err;

	assert_int_equal(symlink("/etc/passwd", place->commands), 0);
	assert_false(take(place, &pair, &err));
	assert_int_equal(err.code, ERROR_PERMISSION);
	assert_non_null(strstr(err.message, "a link"));
	assert_non_null(strstr(err.message, "sudo rm"));
	unlink(place->commands);
	close(open(place->commands, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_false(take(place, &pair, &err));
	assert_int_equal(err.code, ERROR_PERMISSION);
	assert_int_equal(access(place->commands, F_OK), 0);
	unlink(place->commands);
	assert_int_equal(mkdir(place->answers, 0700), 0);
	assert_false(take(place, &pair, &err));
	assert_int_equal(err.code, ERROR_PERMISSION);
	rmdir(place->answers);
	if (geteuid() != 0)
		return;
	assert_int_equal(mkfifo(place->answers, 0666), 0);
	assert_int_equal(chown(place->answers, 12345, 12345), 0);
	assert_false(take(place, &pair, &err));
	assert_non_null(strstr(err.message, "a FIFO of user 12345"));
}

/* In another process, since a lock does not hold against its own. */
static void expect_busy(const struct place *place, const char *words)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct fifo_pair pair;
		struct error err;

		_exit(!take(place, &pair, &err) && err.code == ERROR_UNSUPPORTED && strstr(err.message, words) ? 0 : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

/* Likewise: those of another runner are not removed, even if our own has just ended. */
static void expect_left_alone(const struct place *place)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		fifo_remove_stale(place->commands, place->answers, getpid());
		_exit(access(place->commands, F_OK) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

/* One that is about to end has them open for a moment. */
static void test_the_end_of_a_runner_is_waited_for(void **state)
{
	const struct place *place = *state;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		const struct timespec moment = { .tv_nsec = 100000000 };
		struct fifo_pair pair;
		struct error err;

		if (!take(place, &pair, &err))
			_exit(1);
		nanosleep(&moment, NULL);
		_exit(0);
	}
	while (access(place->answers, F_OK) != 0)
		sched_yield();
	fifo_remove_stale(place->commands, place->answers, child);
	assert_int_equal(access(place->commands, F_OK), -1);
	assert_int_equal(access(place->answers, F_OK), -1);
	waitpid(child, NULL, 0);
}

static void test_two_runners(void **state)
{
	const struct place *place = *state;
	struct fifo_pair pair;
	char words[64];
	int other;

	must_take(place, &pair);
	snprintf(words, sizeof(words), "another kelvin (pid %d)", (int)getpid());
	expect_busy(place, words);
	expect_left_alone(place);
	fifo_pair_close(&pair, place->commands, place->answers);
	/* One that knows nothing of locks. */
	assert_int_equal(mkfifo(place->commands, 0700), 0);
	other = open(place->commands, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	expect_busy(place, "another benchmark runner has");
	close(other);
	fifo_remove_stale(place->commands, place->answers, 0);
	assert_int_equal(access(place->commands, F_OK), -1);
}

/* Who has removed the name in between has made another file of it. */
static void test_only_its_own_are_removed(void **state)
{
	const struct place *place = *state;
	struct fifo_pair pair;

	must_take(place, &pair);
	assert_int_equal(unlink(place->commands), 0);
	assert_int_equal(mkfifo(place->commands, 0700), 0);
	fifo_pair_close(&pair, place->commands, place->answers);
	assert_int_equal(access(place->commands, F_OK), 0);
	assert_int_equal(access(place->answers, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_made_and_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stale_ones_are_used_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_foreign_files_are_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_runners, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_end_of_a_runner_is_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_only_its_own_are_removed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
