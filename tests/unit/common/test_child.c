/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a child begins, what its parent takes of it, and how it ends. */

enum { MOST_BYTES = 100 };

static bool is_unwanted(void)
{
	return true;
}

static void say_and_end(int end)
{
	(void)!write(end, "answer", 6);
}

static void say_much(int end)
{
	char bytes[MOST_BYTES + 1] = "";

	(void)!write(end, bytes, sizeof(bytes));
	pause();
}

static void sleep_for_ever(int end)
{
	pause();
}

static void work_for_ever(int end)
{
	volatile uint64_t turns = 0;

	while (turns < UINT64_MAX)
		turns++;
}

static enum child_ending listen_to(void (*work)(int end), const struct child_patience *patience, struct buffer *answer)
{
	enum child_ending ending;
	int end;
	pid_t pid = child_fork_linked(CHILD_IS_QUIET, CHILD_PIPE, &end);

	assert_true(pid >= 0);
	if (pid == 0) {
		work(end);
		_exit(0);
	}
	ending = child_listen(pid, end, patience, answer);
	child_end(pid);
	close(end);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return ending;
}

static struct child_patience within_s(int64_t seconds)
{
	return (struct child_patience){ .deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + seconds * 1000000000,
		.most_bytes = MOST_BYTES };
}

static void an_answer_ends_with_the_child(void **state)
{
	CLEANUP(buffer_deinit) struct buffer answer = BUFFER_INIT(MOST_BYTES);
	struct child_patience patience = within_s(60);

	assert_int_equal(listen_to(say_and_end, &patience, &answer), CHILD_ANSWERED);
	assert_int_equal(answer.size, 6);
	assert_memory_equal(answer.data, "answer", 6);
}

static void an_answer_has_bounds(void **state)
{
	CLEANUP(buffer_deinit) struct buffer answer = BUFFER_INIT(MOST_BYTES);
	struct child_patience patience = within_s(60);

	assert_int_equal(listen_to(say_much, &patience, &answer), CHILD_TOO_LONG);
	assert_int_equal(answer.size, MOST_BYTES);
	patience.is_stopped = is_unwanted;
	assert_int_equal(listen_to(sleep_for_ever, &patience, &answer), CHILD_STOPPED);
	patience = within_s(0);
	assert_int_equal(listen_to(work_for_ever, &patience, &answer), CHILD_LATE);
	patience = within_s(60);
	patience.most_still_ticks = 3;
	assert_int_equal(listen_to(sleep_for_ever, &patience, &answer), CHILD_STUCK);
	patience.waits_for_disks = true;
	assert_int_equal(listen_to(sleep_for_ever, &patience, &answer), CHILD_STUCK);
}

/* Neither who works nor who waits in the kernel where it must not be disturbed is stuck. */
static void one_that_works_is_not_stuck(void **state)
{
	CLEANUP(buffer_deinit) struct buffer answer = BUFFER_INIT(MOST_BYTES);
	struct child_patience patience = within_s(1);

	patience.most_still_ticks = 50;
	assert_int_equal(listen_to(work_for_ever, &patience, &answer), CHILD_LATE);
}

static void both_ends_of_a_channel_are_used(void **state)
{
	char byte = 0;
	int end;
	pid_t pid = child_fork_linked(CHILD_ENDS_WITH_PARENT, CHILD_STREAM, &end);

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(read(end, &byte, 1) == 1 && write(end, &byte, 1) == 1 ? 5 : 1);
	assert_int_equal(write(end, "x", 1), 1);
	assert_int_equal(read(end, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(WEXITSTATUS(child_reap(pid)), 5);
	close(end);
}

/* One signal reaches what a leader has started. */
static void a_group_ends_together(void **state)
{
	char byte;
	int end;
	pid_t pid = child_fork_linked(CHILD_ENDS_WITH_PARENT | CHILD_LEADS_GROUP, CHILD_PIPE, &end);

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)!child_fork(0);
		pause();
		_exit(0);
	}
	assert_int_equal(kill(-pid, SIGKILL), 0);
	assert_true(WIFSIGNALED(child_reap(pid)));
	/* Both held the other end. */
	assert_int_equal(read(end, &byte, 1), 0);
	close(end);
}

static void limits_are_only_lowered(void **state)
{
	const struct child_limit low = { RLIMIT_NOFILE, 20, false }, high = { RLIMIT_NOFILE, 1 << 20, false };
	struct rlimit limit;
	pid_t pid = child_fork(CHILD_IS_QUIET);

	assert_true(pid >= 0);
	if (pid == 0) {
		child_limit(&low, 1);
		child_limit(&high, 1);
		_exit(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 20 && limit.rlim_max == 20 ? 0 : 1);
	}
	assert_int_equal(child_reap(pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_ends_with_the_child),
		cmocka_unit_test(an_answer_has_bounds),
		cmocka_unit_test(one_that_works_is_not_stuck),
		cmocka_unit_test(both_ends_of_a_channel_are_used),
		cmocka_unit_test(a_group_ends_together),
		cmocka_unit_test(limits_are_only_lowered),
	};

	return cmocka_run_group_tests_name("common.child", tests, NULL, NULL);
}
