/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/tally.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>

enum { MS = 1000000, READ_MS = 200, MOST_READINGS = 4096 };

static void take(struct tally *tally, int32_t pid, uint64_t count, int64_t time_ms)
{
	const struct tally_totals totals = { .pid = pid, .name = "server", .count = count, .connections = 1 };
	struct error err;

	assert_true(tally_take(tally, &totals, time_ms * MS, &err));
}

/* One process, whose total at a look is given. */
static void look(struct tally *tally, uint64_t count, int64_t time_ms)
{
	take(tally, 7, count, time_ms);
	tally_end_reading(tally, time_ms * MS);
}

static const struct tally_process *only_process(const struct tally *tally)
{
	assert_int_equal(tally->count, 1);
	return &tally->processes[0];
}

static void expect_reading(const struct tally_process *process, size_t reading, int64_t time_ms, uint64_t count)
{
	assert_true(reading < process->reading_count);
	assert_int_equal(process->readings[reading].time_ns, time_ms * MS);
	assert_int_equal(process->readings[reading].count, count);
}

static void readings_have_what_was_since_the_one_before(void **state)
{
	struct tally tally;

	tally_init(&tally);
	look(&tally, 10, 200);
	look(&tally, 25, 400);
	look(&tally, 26, 600);
	assert_int_equal(only_process(&tally)->reading_count, 3);
	expect_reading(only_process(&tally), 0, 200, 10);
	expect_reading(only_process(&tally), 1, 400, 15);
	expect_reading(only_process(&tally), 2, 600, 1);
	assert_int_equal(tally_total(&tally, 0), 26);
	tally_deinit(&tally);
}

/* What comes after a while without requests is not spread over that while, also at the very beginning. */
static void idle_time_has_no_requests(void **state)
{
	struct tally tally;

	tally_init(&tally);
	tally_end_reading(&tally, 1000 * (int64_t)MS);
	look(&tally, 5, 1200);
	for (int64_t at = 1400; at <= 9000; at += READ_MS)
		look(&tally, 5, at);
	look(&tally, 8, 9200);
	assert_int_equal(only_process(&tally)->reading_count, 4);
	expect_reading(only_process(&tally), 0, 1000, 0);
	expect_reading(only_process(&tally), 1, 1200, 5);
	expect_reading(only_process(&tally), 2, 9000, 0);
	expect_reading(only_process(&tally), 3, 9200, 3);
	tally_deinit(&tally);
}

/* Exchanges that turn out to be of another kind are taken off a total. */
static void a_total_that_falls_is_made_up_for(void **state)
{
	struct tally tally;

	tally_init(&tally);
	look(&tally, 10, 200);
	look(&tally, 8, 400);
	look(&tally, 9, 600);
	look(&tally, 14, 800);
	assert_int_equal(tally_total(&tally, 0), 14);
	assert_int_equal(only_process(&tally)->read_count, 14);
	tally_deinit(&tally);
}

static void check_bounds(const struct tally *tally)
{
	size_t sum = 0;

	for (size_t i = 0; i < tally->count; i++) {
		assert_true(tally->processes[i].reading_count <= MOST_READINGS);
		sum += tally->processes[i].reading_count;
	}
	assert_int_equal(sum, tally->readings.held);
	assert_true(sum <= 1 << 18);
}

/* A day, at one look in 200 ms: the sum is kept, and no part of the day is told more coarsely than another. */
static void a_long_recording_has_a_bounded_number_of_readings(void **state)
{
	enum { LOOKS = 24 * 3600 * 1000 / READ_MS };
	const struct tally_process *process;
	int64_t longest_ns = 0, before_ns = 0;
	struct tally tally;
	uint64_t sum = 0;

	tally_init(&tally);
	for (int64_t i = 1; i <= LOOKS; i++)
		look(&tally, (uint64_t)(3 * i), i * READ_MS);
	check_bounds(&tally);
	process = only_process(&tally);
	assert_true(process->reading_count > MOST_READINGS / 4);
	for (size_t i = 0; i < process->reading_count; i++) {
		int64_t length_ns = process->readings[i].time_ns - before_ns;

		assert_true(length_ns > 0);
		/* The rate is what it was. */
		assert_int_equal(process->readings[i].count, 3 * length_ns / (READ_MS * (int64_t)MS));
		sum += process->readings[i].count;
		longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
		before_ns = process->readings[i].time_ns;
	}
	assert_int_equal(sum, 3 * (uint64_t)LOOKS);
	assert_true(longest_ns <= before_ns / (MOST_READINGS / 8));
	tally_deinit(&tally);
}

static void many_processes_share_the_bound(void **state)
{
	enum { PROCESSES = 3000, LOOKS = 200 };
	struct tally tally;

	tally_init(&tally);
	for (int64_t i = 1; i <= LOOKS; i++) {
		for (int32_t pid = 1; pid <= PROCESSES; pid++)
			take(&tally, pid, (uint64_t)i, i * READ_MS);
		tally_end_reading(&tally, i * READ_MS * MS);
	}
	check_bounds(&tally);
	assert_int_equal(tally.count, PROCESSES);
	assert_int_equal(tally_total(&tally, 0), (uint64_t)PROCESSES * LOOKS);
	tally_deinit(&tally);
}

static void a_profile_has_them_all(void **state)
{
	const struct profile_run run = { .duration_ns = 600 * (int64_t)MS };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct tally tally;
	uint32_t run_id, id;
	struct error err;

	tally_init(&tally);
	look(&tally, 10, 200);
	look(&tally, 25, 400);
	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_run(profile, &run, &run_id, &err));
	assert_true(tally_add_to_profile(only_process(&tally), PROFILE_EXCHANGE_ANSWERED, profile, run_id, &id, &err));
	assert_int_equal(profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED), 25);
	assert_int_equal(profile->requests.reading_count, 2);
	assert_int_equal(profile->requests.exchanges[id].pid, 7);
	assert_string_equal(profile_string(profile, profile->requests.exchanges[id].process_name), "server");
	tally_deinit(&tally);
}

/* A pid is given again, and its counts then begin at 0: both processes' count. */
static void a_retired_process_keeps_its_counts(void **state)
{
	struct tally tally;

	tally_init(&tally);
	look(&tally, 10, 200);
	assert_true(tally_retire(&tally, 7, 1));
	look(&tally, 4, 400);
	look(&tally, 9, 600);
	assert_int_equal(only_process(&tally)->totals.count, 19);
	assert_int_equal(only_process(&tally)->totals.connections, 2);
	expect_reading(only_process(&tally), 1, 400, 4);
	assert_int_equal(tally_total(&tally, 0), 19);
	tally_deinit(&tally);
}

/* One account's processes that have ended leave room for those of others. */
static void those_of_one_account_leave_room(void **state)
{
	enum { MOST_RETIRED = 1 << 16 };
	struct tally tally;
	int32_t pid = 1;

	tally_init(&tally);
	for (take(&tally, pid, 1, 200); pid <= MOST_RETIRED && tally_retire(&tally, pid, 1); pid++)
		take(&tally, pid + 1, 1, 200);
	assert_in_range(pid, 1000, MOST_RETIRED / 2 + 1);
	take(&tally, MOST_RETIRED, 5, 400);
	assert_true(tally_retire(&tally, MOST_RETIRED, 2));
	assert_false(tally_retire(&tally, pid, 1));
	tally_deinit(&tally);
}

/* One account's processes have more readings than there is room for. Those of another one stay as fine as they were. */
static void one_account_makes_its_own_readings_coarser(void **state)
{
	enum { HOSTILE = 54321, HOSTILE_PROCESSES = 1000, READINGS = 400 };
	struct tally_totals totals = { 0 };
	struct tally tally;
	struct error err;

	tally_init(&tally);
	for (int64_t i = 1; i <= READINGS; i++) {
		totals.count = (uint64_t)i;
		totals.account = HOSTILE;
		for (totals.pid = 100; totals.pid < 100 + HOSTILE_PROCESSES; totals.pid++)
			assert_true(tally_take(&tally, &totals, i * READ_MS * MS, &err));
		take(&tally, 7, (uint64_t)i, i * READ_MS);
		tally_end_reading(&tally, i * READ_MS * MS);
	}
	assert_int_equal(tally_find(&tally, 7, 0)->reading_count, READINGS);
	assert_true(tally_find(&tally, 100, 0)->reading_count < READINGS);
	assert_int_equal(tally_total(&tally, 0), (HOSTILE_PROCESSES + 1) * READINGS);
	tally_deinit(&tally);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_have_what_was_since_the_one_before),
		cmocka_unit_test(idle_time_has_no_requests),
		cmocka_unit_test(a_total_that_falls_is_made_up_for),
		cmocka_unit_test(a_long_recording_has_a_bounded_number_of_readings),
		cmocka_unit_test(many_processes_share_the_bound),
		cmocka_unit_test(one_account_makes_its_own_readings_coarser),
		cmocka_unit_test(a_profile_has_them_all),
		cmocka_unit_test(a_retired_process_keeps_its_counts),
		cmocka_unit_test(those_of_one_account_leave_room),
	};

	return cmocka_run_group_tests_name("sampler.tally", tests, NULL, NULL);
}
