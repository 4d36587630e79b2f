/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What git is run as: any program shows what it gets, and what it cannot do. */
#include "diff/repository/child.h"

#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static const char *const environment[] = { "ONLY=this", NULL };

struct outcome {
	bool is_done;
	struct repository_answer answer;
	struct error err;
	char text[512];
};

/* Runs a line of shell; its output is in `text`. */
static void run(struct outcome *outcome, const char *line, size_t max_bytes, unsigned int seconds)
{
	const char *const arguments[] = { "sh", "-c", line, NULL };
	int directory = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct repository_child child = { .program = "/bin/sh",
		.arguments = arguments,
		.environment = environment,
		.directory = directory,
		.max_bytes = max_bytes,
		.seconds = seconds };
	ssize_t got = 0;

	*outcome = (struct outcome){ .err.code = ERROR_NONE };
	outcome->is_done = repository_child_run(&child, &outcome->answer, &outcome->err);
	close(directory);
	if (outcome->is_done)
		got = read(outcome->answer.fd, outcome->text, sizeof(outcome->text) - 1);
	outcome->text[got > 0 ? got : 0] = '\0';
	repository_answer_deinit(&outcome->answer);
}

static void expect(const char *line, int code, const char *text)
{
	struct outcome outcome;

	run(&outcome, line, 4096, 20);
	assert_true(outcome.is_done);
	assert_int_equal(outcome.answer.code, code);
	assert_string_equal(outcome.text, text);
}

static void it_gets_what_it_is_given(void **state)
{
	int open_here = open("/etc/passwd", O_RDONLY);

	expect("echo $ONLY; pwd; exit 3", 3, "this\n/tmp\n");
	expect("read line; echo \"$? $line\"", 0, "1 \n");
	/* The last is by what the shell lists them. */
	expect("for fd in /proc/$$/fd/*; do printf '%s ' ${fd##*/}; done", 0, "0 1 2 3 ");
	expect("exec 2>/dev/null; test -n \"$HOME$USER$LOGNAME\" && echo more", 1, "");
	close(open_here);
}

static void it_starts_nothing(void **state)
{
	struct outcome outcome;

	run(&outcome, "/bin/echo started; echo goes on", 4096, 20);
	assert_true(outcome.is_done);
	if (strstr(outcome.text, "started"))
		skip(); /* no seccomp */
	assert_true(outcome.answer.code != 0);
	assert_non_null(strstr(outcome.answer.complaint, "fork"));
}

static void its_output_is_capped(void **state)
{
	struct outcome outcome;

	run(&outcome, "printf 12345678", 8, 20);
	assert_true(outcome.is_done);
	assert_string_equal(outcome.text, "12345678");
	signal(SIGXFSZ, SIG_IGN);
	run(&outcome, "printf 12345678; printf 9", 8, 20);
	signal(SIGXFSZ, SIG_DFL);
	assert_false(outcome.is_done);
	assert_int_equal(outcome.err.code, ERROR_LIMIT);
}

static void its_time_is_over(void **state)
{
	struct outcome outcome;

	run(&outcome, "while :; do echo waits >&2; done", 4096, 1);
	assert_false(outcome.is_done);
	assert_int_equal(outcome.err.code, ERROR_SYSTEM);
	assert_non_null(strstr(outcome.err.message, "longer than 1 second"));
	assert_int_equal(strlen(outcome.answer.complaint), REPOSITORY_COMPLAINT_BYTES - 1);
}

static void its_crash_is_told(void **state)
{
	struct outcome outcome;

	run(&outcome, "kill -SEGV $$", 4096, 20);
	assert_false(outcome.is_done);
	assert_int_equal(outcome.err.code, ERROR_SYSTEM);
	assert_non_null(strstr(outcome.err.message, "crashed"));
}

static void complaints_are_one_clean_line(void **state)
{
	char line[16];

	repository_complaint_line("fatal: no\x1b[31m \xc3\xbc\nmore", line, sizeof(line));
	assert_string_equal(line, "no?[31m ??");
	repository_complaint_line("a line that is too long", line, sizeof(line));
	assert_string_equal(line, "a line that is ");
	repository_complaint_line("", line, sizeof(line));
	assert_string_equal(line, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_gets_what_it_is_given),
		cmocka_unit_test(it_starts_nothing),
		cmocka_unit_test(its_output_is_capped),
		cmocka_unit_test(its_time_is_over),
		cmocka_unit_test(its_crash_is_told),
		cmocka_unit_test(complaints_are_one_clean_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
