/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/counters.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { FAULTS = 0, SLOTS = 1, COLUMNS = 2, WORDS_EACH = 2 };

/* Two columns; three members, the last two of which add up to the second column. */
struct fixture {
	struct profile *profile;
	struct counters *counters;
	struct counters_options options;
	uint32_t first;
	uint64_t words[WORDS_EACH * COUNTERS_MAX_MEMBERS];
	struct record record;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct error err;

	fixture = (struct fixture){ .options = {
					    .columns = { .columns = { { "page-faults", "count", COUNTER_COST_NO_INPUT },
								 { "slots", "slots", COUNTER_COST_ALL } },
						    .column_count = COLUMNS,
						    .members = { { FAULTS, 1 }, { SLOTS, 6 }, { SLOTS, 1 } },
						    .member_count = 3 } } };
	assert_true(profile_create(&fixture.profile, &err));
	assert_true(profile_add_value_type(fixture.profile, "cpu", "nanoseconds", &err));
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	counters_destroy(fixture->counters);
	profile_destroy(fixture->profile);
	return 0;
}

static void begin(struct fixture *fixture)
{
	struct error err;

	fixture->first = fixture->profile->value_type_count;
	assert_true(counters_create(fixture->profile, &fixture->options, &fixture->counters, &err));
}

/* A sample of an instance, or of one of the threads that share an id. */
static const int64_t *take(struct fixture *fixture, uint64_t stream_id, int32_t tid, const uint64_t totals[3],
	uint64_t enabled_ns, uint64_t running_ns)
{
	static int64_t values[PROFILE_MAX_VALUE_TYPES];
	struct error err;

	for (size_t i = 0; i < 3; i++) {
		fixture->words[WORDS_EACH * i] = totals[i];
		fixture->words[WORDS_EACH * i + 1] = 100 + i;
	}
	fixture->record = (struct record){ .kind = RECORD_SAMPLE, .tid = tid, .stream_id = stream_id };
	fixture->record.sample.values = (struct record_values){ .bytes = (const uint8_t *)fixture->words,
		.count = 3,
		.words_each = WORDS_EACH,
		.id_word = 1,
		.enabled_ns = enabled_ns,
		.running_ns = running_ns };
	assert_true(counters_take(fixture->counters, &fixture->record, 5, &err));
	memset(values, 0, sizeof(values));
	counters_fill(fixture->counters, 5, true, values);
	return values + fixture->first;
}

#define TAKE_TOTALS(fixture, stream, tid, enabled, running, ...)                                                       \
	take(fixture, stream, tid, (const uint64_t[3]){ __VA_ARGS__ }, enabled, running)

static void expect(const int64_t *values, int64_t faults, int64_t slots)
{
	assert_int_equal(values[FAULTS], faults);
	assert_int_equal(values[SLOTS], slots);
}

static void test_value_types(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile = fixture->profile;

	fixture->options.parts_unit = "slots";
	begin(fixture);
	assert_int_equal(profile->value_type_count, 7);
	assert_int_equal(profile->default_value_type, 1);
	assert_string_equal(profile_string(profile, profile->value_types[2].type), "page-faults");
	assert_string_equal(profile_string(profile, profile->value_types[3].unit), "slots");
	assert_string_equal(profile_string(profile, profile->value_types[4].type), "cache-bound");
	assert_string_equal(profile_string(profile, profile->value_types[6].type), "system-bound");
	assert_int_equal(profile->counts_of[2], PROFILE_NONE);
	assert_string_equal(profile_string(profile, profile->facts.counters), "page-faults, slots");
	/* The sample is the kernel's, and so are all slots. */
	assert_int_equal(TAKE_TOTALS(fixture, 1, 1, 0, 0, 1, 1, 1)[4], 7);
}

static void test_gains(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	expect(TAKE_TOTALS(fixture, 1, 10, 100, 100, 5, 10, 3), 5, 63);
	expect(TAKE_TOTALS(fixture, 2, 10, 100, 100, 7, 0, 0), 7, 0);
	expect(TAKE_TOTALS(fixture, 1, 10, 200, 200, 6, 11, 3), 1, 6);
	expect(TAKE_TOTALS(fixture, 2, 10, 200, 200, 7, 0, 0), 0, 0);
	/* The group did not run in between, so what has changed is no count of this time. */
	expect(TAKE_TOTALS(fixture, 1, 10, 300, 200, 9, 11, 3), 0, 0);
	expect(TAKE_TOTALS(fixture, 1, 10, 400, 300, 10, 11, 3), 1, 0);
	/* An instance whose id was given to another. */
	expect(TAKE_TOTALS(fixture, 1, 10, 10, 10, 2, 0, 0), 2, 0);
	/* Times that are not told. */
	expect(TAKE_TOTALS(fixture, 3, 10, 0, 0, 2, 0, 0), 2, 0);
	assert_true(counters_ran_percent(fixture->counters) == 100);
}

static void test_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct error err;

	begin(fixture);
	expect(TAKE_TOTALS(fixture, 1, 10, 100, 100, 5, 0, 0), 5, 0);
	TAKE_TOTALS(fixture, 1, 11, 200, 200, 5, 0, 0);
	fixture->words[0] = 50;
	fixture->record.sample.values.running_ns = 300;
	assert_true(counters_take(fixture->counters, &fixture->record, COUNTERS_LEFT_OUT, &err));
	expect(TAKE_TOTALS(fixture, 1, 10, 400, 400, 52, 0, 0), 2, 0);
}

/* Values are scaled, and what is left of a whole count is charged later. */
static void test_turns(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };

	fixture->options.takes_turns = true;
	begin(fixture);
	expect(TAKE_TOTALS(fixture, 1, 10, 300, 200, 5, 0, 0), 7, 0);
	expect(TAKE_TOTALS(fixture, 1, 10, 600, 400, 6, 0, 0), 2, 0);
	expect(TAKE_TOTALS(fixture, 1, 10, 900, 600, 8, 0, 0), 3, 0);
	assert_int_equal((int)counters_ran_percent(fixture->counters), 66);
	buffer_init(&notices, 1 << 12);
	counters_describe(fixture->counters, fixture->profile, &notices);
	buffer_append_byte(&notices, '\0');
	assert_non_null(strstr((const char *)notices.data, "the counters ran 67 % of the time"));
	assert_int_equal(fixture->profile->facts.counters_ran_percent, 66);
}

/* The time to count of a thread goes on while it runs on another CPU: that is no turn of another group. */
static void test_turns_of_threads(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.takes_turns = fixture->options.are_of_threads = true;
	begin(fixture);
	expect(TAKE_TOTALS(fixture, 1, 10, 1000, 1000, 10, 0, 0), 10, 0);
	expect(TAKE_TOTALS(fixture, 2, 10, 2000, 1000, 10, 0, 0), 10, 0);
	expect(TAKE_TOTALS(fixture, 1, 10, 3000, 2000, 20, 0, 0), 10, 0);
	assert_true(counters_ran_percent(fixture->counters) == 100);
}

static uint32_t member_of(const void *context, uint64_t id)
{
	return id >= 100 ? (uint32_t)id - 100 : UINT32_MAX;
}

/* Files have no ids of instances: threads that share an event are told apart where its totals fall. */
static void test_threads_that_share_ids(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.member_of = member_of;
	begin(fixture);
	expect(TAKE_TOTALS(fixture, 0, 10, 0, 0, 50, 0, 0), 50, 0);
	expect(TAKE_TOTALS(fixture, 0, 11, 0, 0, 20, 0, 0), 20, 0);
	expect(TAKE_TOTALS(fixture, 0, 10, 0, 0, 53, 0, 0), 3, 0);
	expect(TAKE_TOTALS(fixture, 0, 11, 0, 0, 60, 0, 0), 40, 0);
}

/* Of a CPU the totals rise whatever runs there. */
static void test_cpus(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.member_of = member_of;
	begin(fixture);
	expect(TAKE_TOTALS(fixture, 0, 10, 0, 0, 50, 0, 0), 50, 0);
	expect(TAKE_TOTALS(fixture, 0, 11, 0, 0, 55, 0, 0), 5, 0);
	expect(TAKE_TOTALS(fixture, 0, 10, 0, 0, 56, 0, 0), 1, 0);
}

/* Sums stay within 63 bits, whatever a file says. */
static void test_hostile_totals(void **state)
{
	struct fixture *fixture = *state;
	int64_t sums[COLUMNS] = { 0 };

	fixture->options.takes_turns = true;
	begin(fixture);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t total = i % 2 ? UINT64_MAX : i;
		const int64_t *values =
			TAKE_TOTALS(fixture, 1, 1, UINT64_MAX - i % 3, i % 5 ? i : 0, total, total, UINT64_MAX - i);

		for (size_t k = 0; k < COLUMNS; k++) {
			assert_true(values[k] >= 0);
			assert_false(__builtin_add_overflow(sums[k], values[k], &sums[k]));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_value_types, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns_of_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_that_share_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_totals, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
