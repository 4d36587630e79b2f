/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/interrupt.h"
#include "tests/unit/support/unit_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What signals mean, each in a process of its own, since the handlers are the process'. */

/* Longer than two signals count as one wish. */
static void wait_a_moment(void)
{
	const struct timespec moment = { .tv_nsec = 350000000 };

	nanosleep(&moment, NULL);
}

static int status_of(void (*act)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		interrupt_watch();
		act();
		_exit(interrupt_stops_naming() ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void end_recording(void)
{
	raise(SIGTERM);
	interrupt_begin_naming();
}

static void end_recording_and_naming(void)
{
	raise(SIGTERM);
	interrupt_begin_naming();
	wait_a_moment();
	raise(SIGTERM);
}

static void end_naming(void)
{
	interrupt_begin_naming();
	raise(SIGINT);
	if (interrupt_signal() != SIGINT)
		_exit(2);
}

static void insist(void)
{
	end_naming();
	wait_a_moment();
	raise(SIGTERM);
}

static void end_twice_while_writing(void)
{
	raise(SIGTERM);
	interrupt_begin_naming();
	interrupt_end_naming();
	wait_a_moment();
	raise(SIGTERM);
}

static void a_signal_stops_what_is_done_now(void **state)
{
	assert_int_equal(status_of(end_recording), 0);
	assert_int_equal(WEXITSTATUS(status_of(end_recording_and_naming)), 1);
	assert_int_equal(WEXITSTATUS(status_of(end_naming)), 1);
}

static void who_insists_ends_the_process(void **state)
{
	int status = status_of(insist);

	assert_true(WIFSIGNALED(status));
	status = status_of(end_twice_while_writing);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_stops_what_is_done_now),
		cmocka_unit_test(who_insists_ends_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
