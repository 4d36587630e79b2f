/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/pace.h"
#include "tests/unit/support/unit_test.h"

static const uint64_t ms = 1000000, second = 1000000000;

/* Looks at it once a second, so many times. */
static void heed(struct pace *pace, int seconds, uint64_t samples, uint64_t deferred, uint64_t threads)
{
	const struct pace_counts since = {
		.elapsed_ns = second, .samples = samples, .deferred = deferred, .threads = threads
	};

	while (seconds-- > 0)
		(void)pace_fit(pace, &since);
}

static void the_first_interval_leaves_room_for_each_thread(void **state)
{
	assert_int_equal(pace_init(10 * ms, 0).interval_ns, 10 * ms);
	assert_int_equal(pace_init(10 * ms, 20).interval_ns, 10 * ms);
	assert_int_equal(pace_init(10 * ms, 2000).interval_ns, second);
	assert_int_equal(pace_init(10 * ms, 1000000).interval_ns, 10 * second);
	assert_int_equal(pace_init(60 * second, SIZE_MAX).interval_ns, 60 * second);
}

static void what_is_put_off_doubles_it(void **state)
{
	struct pace pace = pace_init(10 * ms, 10);

	heed(&pace, 1, 100, 1, 10);
	assert_int_equal(pace.interval_ns, 20 * ms);
	heed(&pace, 30, 2000, 100, 10);
	assert_int_equal(pace.interval_ns, 5120 * ms);
	assert_int_equal(pace.longest_ns, 5120 * ms);
}

static void calm_seconds_halve_it_down_to_the_first(void **state)
{
	struct pace pace = pace_init(10 * ms, 10);

	heed(&pace, 2, 2000, 1, 10);
	assert_int_equal(pace.interval_ns, 40 * ms);
	heed(&pace, 2, 499, 0, 10);
	assert_int_equal(pace.interval_ns, 40 * ms);
	heed(&pace, 1, 499, 0, 10);
	assert_int_equal(pace.interval_ns, 20 * ms);
	/* One that is not calm begins the count anew. */
	heed(&pace, 2, 499, 0, 10);
	heed(&pace, 1, 500, 0, 10);
	heed(&pace, 2, 499, 0, 10);
	assert_int_equal(pace.interval_ns, 20 * ms);
	heed(&pace, 100, 0, 0, 10);
	assert_int_equal(pace.interval_ns, 10 * ms);
	assert_int_equal(pace.longest_ns, 40 * ms);
	/* How long it was since the last look counts. */
	heed(&pace, 1, 0, 1, 10);
	for (int i = 0; i < 3; i++)
		(void)pace_fit(&pace, &(struct pace_counts){ .elapsed_ns = 2 * second, .samples = 999, .threads = 10 });
	assert_int_equal(pace.interval_ns, 10 * ms);
}

/* Threads that sleep now may all wake up: each has to have its place in the budget. */
static void many_threads_keep_it_long(void **state)
{
	struct pace pace = pace_init(10 * ms, 400);

	assert_int_equal(pace.interval_ns, 200 * ms);
	heed(&pace, 20, 10, 0, 400);
	assert_int_equal(pace.interval_ns, 200 * ms);
	heed(&pace, 20, 10, 0, 100);
	assert_int_equal(pace.interval_ns, 50 * ms);
	heed(&pace, 20, 10, 0, 0);
	assert_int_equal(pace.interval_ns, 12500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_interval_leaves_room_for_each_thread),
		cmocka_unit_test(what_is_put_off_doubles_it),
		cmocka_unit_test(calm_seconds_halve_it_down_to_the_first),
		cmocka_unit_test(many_threads_keep_it_long),
	};

	return cmocka_run_group_tests_name("sampler.pace", tests, NULL, NULL);
}
