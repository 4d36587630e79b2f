/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Work in a child process: what it wrote is kept, whatever ended it. */

static const struct isolated_limits roomy = { .seconds = 60, .memory_bytes = (size_t)1 << 30 };

static void expect_ended(struct isolated *isolated)
{
	assert_true(isolated_has_ended(isolated));
	assert_int_equal(isolated->pid, 0);
	/* It is no zombie of ours either. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void count_letters(void *context, void *result)
{
	*(size_t *)result = strlen(context);
}

static void what_it_writes_is_kept(void **state)
{
	struct isolated isolated = { 0 };
	char text[] = "five!";
	struct error err;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		text[i] = 'x';
		assert_true(isolated_start(&isolated, &roomy, sizeof(size_t), count_letters, text, &err));
		isolated_wait(&isolated);
		assert_int_equal(*(size_t *)isolated.result, 5);
		expect_ended(&isolated);
	}
	isolated_deinit(&isolated);
	assert_null(isolated.result);
}

static void write_and_die(void *context, void *result)
{
	*(int *)result = 7;
	*(int *)context = 8;
	kill(getpid(), SIGKILL);
}

static void a_crash_ends_the_child_alone(void **state)
{
	struct isolated isolated = { 0 };
	struct error err;
	int here = 1;

	(void)state;
	assert_true(isolated_start(&isolated, &roomy, sizeof(int), write_and_die, &here, &err));
	isolated_wait(&isolated);
	assert_int_equal(*(int *)isolated.result, 7);
	assert_int_equal(here, 1);
	expect_ended(&isolated);
	isolated_deinit(&isolated);
}

static void sleep_for_ever(void *context, void *result)
{
	(void)context;
	*(int *)result = 1;
	for (;;)
		pause();
}

static void its_time_is_limited(void **state)
{
	static const struct isolated_limits brief = { .seconds = 1, .memory_bytes = (size_t)1 << 30 };
	struct isolated isolated = { 0 };
	struct error err;

	(void)state;
	assert_true(isolated_start(&isolated, &brief, sizeof(int), sleep_for_ever, NULL, &err));
	isolated_wait(&isolated);
	expect_ended(&isolated);
	isolated_deinit(&isolated);
}

static void map_much(void *context, void *result)
{
	void *memory = mmap(NULL, *(size_t *)context, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*(int *)result = memory == MAP_FAILED ? 1 : 2;
}

static void its_memory_is_limited(void **state)
{
	static const struct isolated_limits small = { .seconds = 60, .memory_bytes = (size_t)64 << 20 };
	size_t fits = (size_t)16 << 20, too_much = (size_t)256 << 20;
	struct isolated isolated = { 0 };
	struct error err;

	(void)state;
	assert_true(isolated_start(&isolated, &small, sizeof(int), map_much, &fits, &err));
	isolated_wait(&isolated);
	assert_int_equal(*(int *)isolated.result, 2);
	assert_true(isolated_start(&isolated, &small, sizeof(int), map_much, &too_much, &err));
	isolated_wait(&isolated);
	assert_int_equal(*(int *)isolated.result, 1);
	isolated_deinit(&isolated);
}

static void giving_it_up_ends_it(void **state)
{
	struct isolated isolated = { 0 };
	struct error err;

	(void)state;
	assert_true(isolated_start(&isolated, &roomy, sizeof(int), sleep_for_ever, NULL, &err));
	assert_false(isolated_has_ended(&isolated));
	isolated_deinit(&isolated);
	expect_ended(&isolated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_writes_is_kept),
		cmocka_unit_test(a_crash_ends_the_child_alone),
		cmocka_unit_test(its_time_is_limited),
		cmocka_unit_test(its_memory_is_limited),
		cmocka_unit_test(giving_it_up_ends_it),
	};

	return cmocka_run_group_tests_name("common.isolated", tests, NULL, NULL);
}
