/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>

#define S INT64_C(1000000000)

static const struct watch_plan plan = { .every_ns = 600 * S, .settle_ns = 30 * S, .jitter_ns = 7 * S };

/* Clocks of a machine that has run for `boot_s`, whose wall clock was set by `offset_s`. */
static struct watch_clocks at(int64_t offset_s, int64_t boot_s)
{
	return (struct watch_clocks){ (1700000000 + offset_s + boot_s) * S, boot_s * S };
}

static enum watch_reason next(struct watch_schedule *schedule, struct watch_clocks now, int64_t *wait_s)
{
	int64_t wait_ns;
	enum watch_reason reason = watch_schedule_next(schedule, &now, &wait_ns);

	*wait_s = wait_ns / S;
	if (reason != WATCH_NOT_NOW)
		watch_schedule_began(schedule, &now, reason);
	return reason;
}

static void slots_are_those_of_the_wall_clock(void **state)
{
	struct watch_clocks now = at(0, 5250);
	struct watch_schedule schedule;
	int64_t wait_s;

	watch_schedule_init(&schedule, &plan, &now, 0);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW); /* nobody is there */
	watch_schedule_target(&schedule, 10 * S, false);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	assert_int_equal((1700000000 + 5250 + wait_s - 7) % 600, 0);
	now = at(0, 5250 + wait_s - 1);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	assert_int_equal(wait_s, 1);
	now.wall_ns += S;
	now.boot_ns += S;
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	assert_int_equal(wait_s, 600);
}

static void a_watch_that_begins_again_goes_on(void **state)
{
	struct watch_clocks now = at(0, 5000);
	struct watch_schedule schedule;
	int64_t wait_s;

	/* Its last profile is of this slot. */
	watch_schedule_init(&schedule, &plan, &now, now.wall_ns - S);
	watch_schedule_target(&schedule, 10 * S, false);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	/* ... of an earlier one; of the future. */
	watch_schedule_init(&schedule, &plan, &now, now.wall_ns - 601 * S);
	watch_schedule_target(&schedule, 10 * S, false);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
	watch_schedule_init(&schedule, &plan, &now, now.wall_ns + 601 * S);
	watch_schedule_target(&schedule, 10 * S, false);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
}

static void a_restart_is_recorded_when_it_has_settled(void **state)
{
	struct watch_clocks now = at(0, 5000);
	struct watch_schedule schedule;
	int64_t wait_s;

	watch_schedule_init(&schedule, &plan, &now, now.wall_ns);
	watch_schedule_target(&schedule, 5000 * S, true);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	assert_int_equal(wait_s, 30);
	now = at(0, 5030);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_RESTART);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	watch_schedule_deploy(&schedule);
	for (int i = 0; i < WATCH_BURST; i++)
		assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_DEPLOY);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
}

static void who_asks_waits_for_the_target_alone(void **state)
{
	struct watch_clocks now = at(0, 5000);
	struct watch_schedule schedule;
	int64_t wait_s;

	watch_schedule_init(&schedule, &plan, &now, now.wall_ns);
	watch_schedule_ask(&schedule);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
	watch_schedule_target(&schedule, 4999 * S, false);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_REQUEST);
	watch_schedule_gone(&schedule);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
}

/* A clock that is set does not stop the recordings, nor make many of them. */
static void clocks_may_jump(void **state)
{
	static const int64_t jumps_s[] = { 1, -1, 299, -299, 3600, -3600, 86400 * 365, -86400 * 365 };

	for (size_t i = 0; i < sizeof(jumps_s) / sizeof(jumps_s[0]); i++) {
		struct watch_clocks now = at(0, 5000);
		struct watch_schedule schedule;
		int64_t wait_s, last_s = 5000;
		int count = 0;

		watch_schedule_init(&schedule, &plan, &now, 0);
		watch_schedule_target(&schedule, 0, false);
		assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
		for (int64_t boot_s = 5000; boot_s < 15000; boot_s++) {
			if (next(&schedule, at(boot_s > 9000 ? jumps_s[i] : 0, boot_s), &wait_s) == WATCH_NOT_NOW) {
				assert_true(wait_s <= 600);
				continue;
			}
			assert_in_range(boot_s - last_s, 300, 900);
			last_s = boot_s;
			count++;
		}
		assert_in_range(count, 15, 18);
	}
}

/* A suspended machine is recorded once when it wakes up. */
static void a_gap_is_made_up_for_once(void **state)
{
	struct watch_clocks now = at(0, 5000);
	struct watch_schedule schedule;
	int64_t wait_s;

	watch_schedule_init(&schedule, &plan, &now, 0);
	watch_schedule_target(&schedule, 0, false);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
	now = at(0, 100000);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_BY_SCHEDULE);
	assert_int_equal(next(&schedule, now, &wait_s), WATCH_NOT_NOW);
}

/* Whatever a target does, it is recorded twice as often as the schedule has it, at most, beside what is saved up. */
static void a_storm_of_restarts_is_bounded(void **state)
{
	srand(1);
	for (int round = 0; round < 20; round++) {
		int64_t period_s = 1 + rand() % 100, length_s = 200000, wait_s;
		struct watch_clocks now = at(0, 1);
		struct watch_schedule schedule;
		int64_t count = 0;

		watch_schedule_init(&schedule, &plan, &now, 0);
		for (int64_t boot_s = 1; boot_s < length_s; boot_s++) {
			if (boot_s % period_s == 0)
				watch_schedule_target(&schedule, boot_s * S, true);
			else if (rand() % 50 == 0)
				watch_schedule_gone(&schedule);
			if (next(&schedule, at(0, boot_s), &wait_s) == WATCH_NOT_NOW)
				continue;
			count++;
			if (rand() % 2)
				watch_schedule_deploy(&schedule);
		}
		/* Slots are as long as every_ns, but for the first of all. */
		assert_true(count <= 2 * (length_s / 600 + 1) + WATCH_MOST_EXTRA);
		/* One that ends before it has settled is never recorded. */
		if (period_s <= 30)
			assert_int_equal(count, 0);
	}
}

/* Whoever lives long enough is recorded in each slot, however many restarts there were before. */
static void after_a_storm_the_schedule_holds(void **state)
{
	struct watch_clocks now = at(0, 1);
	struct watch_schedule schedule;
	int64_t wait_s, count = 0;

	watch_schedule_init(&schedule, &plan, &now, 0);
	for (int64_t boot_s = 1; boot_s < 10000; boot_s += 40) {
		watch_schedule_target(&schedule, boot_s * S, true);
		(void)next(&schedule, at(0, boot_s + 35), &wait_s);
	}
	for (int64_t boot_s = 10000; boot_s < 10000 + 6000; boot_s++)
		count += next(&schedule, at(0, boot_s), &wait_s) == WATCH_BY_SCHEDULE;
	assert_in_range(count, 9, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_those_of_the_wall_clock),
		cmocka_unit_test(a_watch_that_begins_again_goes_on),
		cmocka_unit_test(a_restart_is_recorded_when_it_has_settled),
		cmocka_unit_test(who_asks_waits_for_the_target_alone),
		cmocka_unit_test(clocks_may_jump),
		cmocka_unit_test(a_gap_is_made_up_for_once),
		cmocka_unit_test(a_storm_of_restarts_is_bounded),
		cmocka_unit_test(after_a_storm_the_schedule_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
