/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/priority.h"
#include "tests/unit/support/unit_test.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

static const int64_t hurry_ns = 100000000;

static int64_t used_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int nice_before; /* 0 as a rule; with another one nothing is to happen */

static bool is_as_before(void)
{
	return sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == nice_before;
}

/* Also where none of it is permitted. */
static void test_as_before_afterwards(void **state)
{
	struct priority priority = { 0 };

	priority_raise(&priority, true);
	priority_restore(&priority);
	assert_true(is_as_before());
	priority_raise(&priority, true);
	priority_hurry(&priority);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	priority_restore(&priority);
	assert_true(is_as_before());
	priority_restore(&priority);
	assert_true(is_as_before());
}

static pthread_barrier_t both_there;

/* Until its priority is the usual one, or its time has long been up. */
static void *work(void *least)
{
	int64_t began = used_ns();

	*(int *)least = getpriority(PRIO_PROCESS, 0);
	pthread_barrier_wait(&both_there);
	while (used_ns() - began < 20 * hurry_ns && getpriority(PRIO_PROCESS, 0) != nice_before)
		;
	return is_as_before() ? least : NULL;
}

static void test_hurry_ends_for_every_thread(void **state)
{
	struct priority priority = { 0 };
	int first = 0, second = 0;
	int64_t began = used_ns();
	pthread_t helper;
	void *was_slowed;

	priority_raise(&priority, true);
	priority_hurry(&priority);
	if (getpriority(PRIO_PROCESS, 0) == nice_before) {
		assert_true(is_as_before()); /* it is not permitted */
		return;
	}
	assert_int_equal(pthread_barrier_init(&both_there, NULL, 2), 0);
	assert_int_equal(pthread_create(&helper, NULL, work, &second), 0);
	assert_ptr_equal(work(&first), &first);
	assert_int_equal(pthread_join(helper, &was_slowed), 0);
	pthread_barrier_destroy(&both_there);
	assert_ptr_equal(was_slowed, &second);
	assert_true(first < 0);
	assert_int_equal(second, first);
	assert_true(used_ns() - began >= hurry_ns);
	priority_restore(&priority);
	assert_true(is_as_before());
}

/* Half of a CPU is free, two seconds more are saved up; what was not used does not add to them. */
static void test_it_is_given_back_when_it_is_used(void **state)
{
	const int64_t second_ns = 1000000000;
	struct priority priority = { 0 };
	int64_t now_ns = 7 * second_ns, cpu_ns = 3 * second_ns;

	priority_raise(&priority, true);
	if (is_as_before())
		return; /* it is not permitted */
	assert_false(priority_is_spent(&priority, now_ns, cpu_ns));
	for (int i = 0; i < 100; i++)
		assert_false(priority_is_spent(&priority, now_ns += second_ns, cpu_ns += second_ns / 2));
	assert_false(priority_is_spent(&priority, now_ns += 1000 * second_ns, cpu_ns));
	for (int i = 0; i < 3; i++)
		assert_false(priority_is_spent(&priority, now_ns += second_ns, cpu_ns += second_ns));
	assert_false(is_as_before());
	assert_true(priority_is_spent(&priority, now_ns += second_ns, cpu_ns += second_ns));
	assert_true(is_as_before());
	assert_false(priority_is_spent(&priority, now_ns + second_ns, cpu_ns + second_ns));
}

static void test_real_time_only_where_wanted(void **state)
{
	struct priority priority = { 0 };

	priority_raise(&priority, false);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	priority_restore(&priority);
	assert_true(is_as_before());
}

static void test_another_priority_stays(void **state)
{
	struct priority priority = { 0 };
	int other = nice_before < 19 ? nice_before + 1 : nice_before;

	assert_int_equal(setpriority(PRIO_PROCESS, 0, other), 0);
	priority_raise(&priority, true);
	priority_hurry(&priority);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), other);
	priority_restore(&priority);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_before_afterwards),
		cmocka_unit_test(test_hurry_ends_for_every_thread),
		cmocka_unit_test(test_it_is_given_back_when_it_is_used),
		cmocka_unit_test(test_real_time_only_where_wanted),
		/* The last: who may not raise a priority may not take this back. */
		cmocka_unit_test(test_another_priority_stays),
	};

	nice_before = getpriority(PRIO_PROCESS, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
