/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { SECONDS = 10, MS = 1000000 };

static const int64_t second_ns = 1000000000;

/* ---- Programs ---- */

static struct profile *begin(void)
{
	struct profile *profile = NULL;
	uint32_t run;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_wait_values(profile, &err));
	assert_true(profile_add_run(profile, &(struct profile_run){ .duration_ns = SECONDS * second_ns }, &run, &err));
	return profile;
}

static uint32_t add_thread(struct profile *profile, int32_t pid, int32_t tid)
{
	uint32_t thread;
	struct error err;

	assert_true(profile_add_thread(profile, &(struct profile_thread){ 0, pid, tid, 0, 0 }, &thread, &err));
	return thread;
}

/* A location of its own each time: an address says nothing. A name with '@' is the C library's. */
static uint32_t add_location(struct profile *profile, const char *name)
{
	bool is_libc = name[0] == '@';
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_FILE };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	uint32_t location, id;
	struct error err;

	assert_true(profile_intern(profile, is_libc ? "/lib/libc.so.6" : "/srv/app", &mapping.path, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	function.module = profile->mappings[id].module;
	assert_true(profile_intern(profile, name + is_libc, &function.name, &err));
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	assert_true(profile_add_location_of_lines(profile, id, &line, 1, &location, &err));
	return location;
}

static uint32_t add_stack(struct profile *profile, const char *frames)
{
	char copy[256], *rest = NULL;
	uint32_t stack = 0;
	struct error err;

	snprintf(copy, sizeof(copy), "%s", frames);
	for (char *name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest))
		assert_true(profile_add_stack(profile, stack, add_location(profile, name), &stack, &err));
	return stack;
}

/* So many milliseconds of a thread in a stack: a wait, or work (PROFILE_WAIT_NONE). */
static void spend(
	struct profile *profile, uint32_t thread, const char *frames, enum profile_wait_class wait_class, int64_t ms)
{
	uint32_t stack = add_stack(profile, frames);
	int64_t values[] = { 1, ms * MS, 0, 0, ms * MS };
	struct error err;

	if (wait_class != PROFILE_WAIT_NONE) {
		assert_true(profile_add_wait_stack(profile, stack, wait_class, &stack, &err));
		profile_wait_fill(profile, wait_class, ms * MS, values);
	}
	assert_true(profile_add_sample(profile, stack, thread, values, 0, &err));
	if (wait_class != PROFILE_WAIT_NONE)
		assert_true(profile_weigh_event(profile, ms * MS, &err));
}

static const char take[] = "start;worker;take;@pthread_cond_wait", job[] = "start;worker;job;compute";

/* A pool of four, whose threads have a part of their time, in percent, in jobs; and the thread that started it. */
static struct profile *pool(int busy_percent)
{
	struct profile *profile = begin();

	spend(profile, add_thread(profile, 1, 1), "main;serve", PROFILE_WAIT_NONE, 100);
	for (int32_t i = 0; i < 4; i++) {
		uint32_t thread = add_thread(profile, 1, 2 + i);

		spend(profile, thread, job, PROFILE_WAIT_NONE, 100 * busy_percent);
		spend(profile, thread, take, PROFILE_WAIT_CONDITION, 100 * (100 - busy_percent));
	}
	return profile;
}

static void finish(struct profile *profile)
{
	struct error err;

	assert_true(profile_finish(profile, &err));
	assert_true(profile_validate(profile, &err));
}

static int64_t sum_ms(const struct profile *profile, enum profile_wait_class wait_class)
{
	struct profile_wait_values types = profile_wait_values(profile);
	int64_t sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile_wait_class_of_stack(profile, profile->samples[i].stack) == wait_class)
			sum += profile->values[i * profile->value_type_count + types.off_cpu] +
			       profile->values[i * profile->value_type_count + types.idle];
	return sum / MS;
}

/* The profile is finished, judged alone, and destroyed: how much of a class is idle now. */
static int64_t idle_ms(struct profile *profile)
{
	int64_t idle;
	struct error err;

	finish(profile);
	assert_true(profile_find_idle_lives(&profile, NULL, 1, &err));
	assert_true(profile_validate(profile, &err));
	idle = sum_ms(profile, PROFILE_WAIT_IDLE);
	profile_destroy(profile);
	return idle;
}

/* ---- One profile ---- */

static void workers_without_tasks_are_idle_and_those_that_work_are_not(void **state)
{
	assert_int_equal(idle_ms(pool(0)), 40000);
	assert_int_equal(idle_ms(pool(5)), 38000);
	assert_int_equal(idle_ms(pool(11)), 0);
	assert_int_equal(idle_ms(pool(60)), 0);
}

/* It waits at the same call as the workers without tasks, but within a task. */
static void what_holds_up_a_thread_that_works_stays(void **state)
{
	struct profile *profile = pool(0);
	uint32_t thread = add_thread(profile, 1, 9);

	spend(profile, thread, "start;pipeline;stage;compute", PROFILE_WAIT_NONE, 1500);
	spend(profile, thread, "start;pipeline;take;@pthread_cond_wait", PROFILE_WAIT_CONDITION, 8500);
	assert_int_equal(idle_ms(profile), 40000);
}

/* One busy thread in a pool of idle ones: places are judged as a whole. */
static void a_pool_is_of_one_class(void **state)
{
	struct profile *profile = pool(0);
	uint32_t thread = add_thread(profile, 1, 9);

	spend(profile, thread, job, PROFILE_WAIT_NONE, 9000);
	spend(profile, thread, take, PROFILE_WAIT_CONDITION, 1000);
	assert_int_equal(idle_ms(profile), 0);
}

/* The C library waits with one function or another, and other programs want the CPUs. */
static void neither_the_c_library_nor_other_programs_matter(void **state)
{
	struct profile *profile = pool(0);
	uint32_t thread = add_thread(profile, 1, 9);

	spend(profile, thread, "start;tick;@pthread_cond_wait", PROFILE_WAIT_CONDITION, 1000);
	spend(profile, thread, "start;tick;@pthread_cond_timedwait;@futex", PROFILE_WAIT_CONDITION, 6000);
	spend(profile, thread, "start;tick;@pthread_cond_wait", PROFILE_WAIT_RUN_QUEUE, 3000);
	assert_int_equal(idle_ms(profile), 47000);
}

static void some_classes_are_never_idle(void **state)
{
	static const struct {
		enum profile_wait_class wait_class;
		bool is_idle;
	} cases[] = {
		{ PROFILE_WAIT_CONDITION, true },
		{ PROFILE_WAIT_TIMER, true },
		{ PROFILE_WAIT_IDLE, true },
		{ PROFILE_WAIT_LOCK, false },
		{ PROFILE_WAIT_IO, false },
		{ PROFILE_WAIT_NETWORK, false },
		{ PROFILE_WAIT_OTHER, false },
		{ PROFILE_WAIT_RUN_QUEUE, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *profile = pool(100);

		spend(profile, add_thread(profile, 1, 9), "start;look;@wait", cases[i].wait_class, 10000);
		assert_int_equal(idle_ms(profile), cases[i].is_idle ? 10000 : 0);
	}
}

/* A thread that sleeps between its chores, whatever part of its time these take. */
static void sleeping_between_chores_is_idle_however_long_they_take(void **state)
{
	static const int64_t busy_ms[] = { 100, 900, 1100, 5000, 9900 };

	for (size_t i = 0; i < sizeof(busy_ms) / sizeof(busy_ms[0]); i++) {
		struct profile *profile = pool(100);
		uint32_t thread = add_thread(profile, 1, 9);

		spend(profile, thread, "start;keeper;sweep;compute", PROFILE_WAIT_NONE, busy_ms[i]);
		spend(profile, thread, "start;keeper;sweep;@lock", PROFILE_WAIT_LOCK, 50);
		spend(profile, thread, "start;keeper;@usleep;@nanosleep", PROFILE_WAIT_TIMER, 9950 - busy_ms[i]);
		assert_int_equal(idle_ms(profile), 9950 - busy_ms[i]);
	}
}

/* A thread that waits for a CPU lives, so that a busy machine makes no other class. */
static void who_waits_for_a_cpu_lives(void **state)
{
	struct profile *profile = pool(100);
	uint32_t thread = add_thread(profile, 1, 9);

	spend(profile, thread, "start;keeper;@usleep", PROFILE_WAIT_TIMER, 2000);
	spend(profile, thread, "start;keeper;@usleep", PROFILE_WAIT_RUN_QUEUE, 7900);
	spend(profile, thread, "start;keeper;compute", PROFILE_WAIT_NONE, 100);
	assert_int_equal(idle_ms(profile), 2000);
}

/* It waits for its work elsewhere, so that it sleeps within a task; or sleeps within one of several things it does. */
static void sleeping_within_a_task_is_not_idle(void **state)
{
	static const enum profile_wait_class work[] = { PROFILE_WAIT_IDLE, PROFILE_WAIT_NETWORK };
	struct profile *profile;
	uint32_t thread;

	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++) {
		int64_t were_idle = work[i] == PROFILE_WAIT_IDLE ? 500 : 0;

		profile = pool(100);
		thread = add_thread(profile, 1, 9);
		spend(profile, thread, "start;serve;@recv", work[i], 500);
		spend(profile, thread, "start;serve;@usleep", PROFILE_WAIT_TIMER, 9500);
		assert_int_equal(idle_ms(profile), were_idle);
	}
	profile = pool(100);
	thread = add_thread(profile, 1, 9);
	spend(profile, thread, "start;keeper;ask;compute", PROFILE_WAIT_NONE, 2000);
	spend(profile, thread, "start;keeper;retry;@usleep", PROFILE_WAIT_TIMER, 8000);
	assert_int_equal(idle_ms(profile), 0);
}

/* A thread that reads from a socket has no request yet, unless its process asks others itself. */
static void the_network_is_idle_where_nobody_is_called(void **state)
{
	static const struct {
		enum profile_work_source source;
		uint64_t called_out;
		bool is_idle;
	} cases[] = { { PROFILE_WORK_UNKNOWN, 0, false }, { PROFILE_WORK_SOCKETS, 0, true },
		{ PROFILE_WORK_SOCKETS, 3, false }, { PROFILE_WORK_STATED, 0, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *profile = pool(100);
		struct profile_exchanges exchanges = {
			.pid = 1, .kind = PROFILE_EXCHANGE_CALLED_OUT, .count = cases[i].called_out
		};
		uint32_t id;
		struct error err;

		profile->requests.source = cases[i].source;
		assert_true(cases[i].called_out == 0 || profile_add_exchanges(profile, &exchanges, &id, &err));
		spend(profile, add_thread(profile, 1, 9), "start;connection;@recv", PROFILE_WAIT_NETWORK, 10000);
		assert_int_equal(idle_ms(profile), cases[i].is_idle ? 10000 : 0);
	}
}

static void a_thread_for_one_request_and_a_program_of_one_thread_are_not_idle(void **state)
{
	struct profile *profile = pool(100);

	for (int32_t i = 0; i < 50; i++)
		spend(profile, add_thread(profile, 1, 100 + i), "start;request;@pthread_cond_wait",
			PROFILE_WAIT_CONDITION, 200);
	assert_int_equal(idle_ms(profile), 0);
	profile = pool(100);
	spend(profile, add_thread(profile, 7, 7), "main;ask;@pthread_cond_wait", PROFILE_WAIT_CONDITION, 10000);
	assert_int_equal(idle_ms(profile), 0);
	profile = begin();
	profile->runs[0].duration_ns = 0;
	spend(profile, add_thread(profile, 1, 1), "main;serve", PROFILE_WAIT_NONE, 100);
	spend(profile, add_thread(profile, 1, 2), take, PROFILE_WAIT_CONDITION, 10000);
	assert_int_equal(idle_ms(profile), 0);
}

/* ---- Several ---- */

/* What is idle in base and not in head must not become a change. */
static void a_place_is_idle_on_both_sides_or_on_none(void **state)
{
	static const int busy[][2] = { { 2, 5 }, { 2, 30 }, { 30, 2 }, { 30, 40 } };

	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		struct profile *sides[] = { pool(busy[i][0]), pool(busy[i][1]) };
		enum profile_wait_class expected = i == 0 ? PROFILE_WAIT_IDLE : PROFILE_WAIT_CONDITION;
		struct error err;

		for (int side = 0; side < 2; side++)
			finish(sides[side]);
		assert_true(profile_find_idle_lives(sides, NULL, 2, &err));
		for (int side = 0; side < 2; side++) {
			assert_int_equal(sum_ms(sides[side], expected), 400 * (100 - busy[i][side]));
			profile_destroy(sides[side]);
		}
	}
}

/* A new pool without tasks is no change either. */
static void a_place_on_one_side_is_judged_alone(void **state)
{
	struct profile *sides[] = { begin(), pool(0) };
	struct error err;

	spend(sides[0], add_thread(sides[0], 1, 1), "main;serve", PROFILE_WAIT_NONE, 100);
	for (int side = 0; side < 2; side++)
		finish(sides[side]);
	assert_true(profile_find_idle_lives(sides, NULL, 2, &err));
	assert_int_equal(sum_ms(sides[1], PROFILE_WAIT_IDLE), 40000);
	for (int side = 0; side < 2; side++)
		profile_destroy(sides[side]);
}

static void what_a_rule_is_about_stays(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = pool(0);
	CLEANUP(cleanup_free) bool *kept = NULL;
	struct error err;

	finish(profile);
	kept = malloc(profile->stack_count * sizeof(*kept));
	assert_non_null(kept);
	memset(kept, 1, profile->stack_count * sizeof(*kept));
	assert_true(profile_find_idle_lives(&profile, (const bool *const[]){ kept }, 1, &err));
	assert_int_equal(sum_ms(profile, PROFILE_WAIT_CONDITION), 40000);
}

static void recordings_without_waits_pass_through(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	assert_true(profile_find_idle_lives(NULL, NULL, 0, &err));
	assert_true(profile_create(&profile, &err));
	assert_true(profile_find_idle_lives(&profile, NULL, 1, &err));
}

static void every_failed_allocation_is_an_error(void **state)
{
	bool succeeded = false;

	for (size_t n = 0; !succeeded; n++) {
		struct profile *sides[] = { pool(2), pool(3) };
		struct error err = { 0 };

		for (int side = 0; side < 2; side++)
			finish(sides[side]);
		failing_malloc_after(n);
		succeeded = profile_find_idle_lives(sides, NULL, 2, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(succeeded || err.code == ERROR_MEMORY);
		assert_true(!succeeded || n > 10);
		for (int side = 0; side < 2; side++)
			profile_destroy(sides[side]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_without_tasks_are_idle_and_those_that_work_are_not),
		cmocka_unit_test(what_holds_up_a_thread_that_works_stays),
		cmocka_unit_test(a_pool_is_of_one_class),
		cmocka_unit_test(neither_the_c_library_nor_other_programs_matter),
		cmocka_unit_test(some_classes_are_never_idle),
		cmocka_unit_test(sleeping_between_chores_is_idle_however_long_they_take),
		cmocka_unit_test(who_waits_for_a_cpu_lives),
		cmocka_unit_test(sleeping_within_a_task_is_not_idle),
		cmocka_unit_test(the_network_is_idle_where_nobody_is_called),
		cmocka_unit_test(a_thread_for_one_request_and_a_program_of_one_thread_are_not_idle),
		cmocka_unit_test(a_place_is_idle_on_both_sides_or_on_none),
		cmocka_unit_test(a_place_on_one_side_is_judged_alone),
		cmocka_unit_test(what_a_rule_is_about_stays),
		cmocka_unit_test(recordings_without_waits_pass_through),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
