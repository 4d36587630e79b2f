/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Samples whose user stack comes later, in a record of its own (`perf record --call-graph fp,defer`), by hand. */

enum { THREAD = DEFERRED_THREAD, OTHER = DEFERRED_OTHER };
static const uint64_t COOKIE = DEFERRED_COOKIE;

static const struct profile *read_all(struct fixture *fixture)
{
	struct perf_event_bytes event = deferring_event();

	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	return fixture->result.profile;
}

/* Address of the frame that many callers above the leaf. */
static uint64_t address_above(const struct profile *profile, size_t event, size_t above)
{
	uint32_t stack = profile->samples[profile->events[event].sample].stack;

	while (above-- > 0)
		stack = profile->stacks[stack].parent;
	return profile->locations[profile->stacks[stack].location].address;
}

static size_t depth_of_event(const struct profile *profile, size_t event)
{
	return depth_of(profile, profile->samples[profile->events[event].sample].stack);
}

static void test_samples_get_the_chain_of_their_thread_and_cookie(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	make_deferred(fixture);
	expect_read(fixture);
	profile = fixture->result.profile;
	assert_int_equal(profile->quality.samples, 3);
	for (size_t i = 0; i < 3; i++) {
		bool is_other = strcmp(event_comm(profile, i), "other") == 0;

		/* Two frames of the kernel, the innermost user frame, and its caller. */
		assert_int_equal(depth_of_event(profile, i), 4);
		assert_int_equal(address_above(profile, i, 2), is_other ? 0x41 : 0x21);
		assert_int_equal(address_above(profile, i, 3), 0x100);
	}
	if (fixture->notices.size > 0)
		assert_null(strstr(fixture->notices.data, "callers"));
}

static void test_samples_behind_the_chain_share_it(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	begin_deferred(fixture);
	put_deferred_sample(fixture, THREAD, COOKIE, 1000);
	put_deferred_chain(fixture, THREAD, COOKIE, 0x401021, 1100);
	put_deferred_sample(fixture, THREAD, COOKIE, 1200);
	profile = read_all(fixture);
	assert_int_equal(profile->events[1].time_ns, 200);
	assert_int_equal(depth_of_event(profile, 1), 4);
}

static void test_samples_whose_chain_was_lost_are_cut(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	begin_deferred(fixture);
	put_deferred_sample(fixture, THREAD, COOKIE, 1000);
	put_deferred_sample(fixture, THREAD, COOKIE + 1, 2000);
	put_deferred_chain(fixture, THREAD, COOKIE + 1, 0x401021, 2100);
	put_deferred_sample(fixture, THREAD, COOKIE + 2, 3000);
	profile = read_all(fixture);
	assert_int_equal(profile->quality.samples, 3);
	assert_int_equal(profile->quality.stops[PROFILE_STOP_KERNEL_ONLY], 0);
	assert_int_equal(profile->quality.stops[PROFILE_STOP_ROOT], 0);
	expect_notice(fixture, "2 samples have no callers in user space: the kernel tells them later");
}

static void test_a_mark_without_a_cookie_is_no_address(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = deferring_event();
	uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, DEFERRED_MARK };

	begin_deferred(fixture);
	put_sample(&fixture->records, &event.attr, &(struct perf_sample_bytes){ THREAD, 1000, 0x401010, 1, chain, 3 });
	assert_int_equal(depth_of_event(read_all(fixture), 0), 1);
}

static void test_waits_have_the_chain_that_comes_when_they_end(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = deferring_event();
	const struct profile *profile;

	event.attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	event.attr.sample_period = 1;
	event.attr.freq = 0;
	fixture->event = "off-cpu";
	begin_deferred(fixture);
	put_deferred_sample(fixture, THREAD, COOKIE, 1000);
	put_switch(&fixture->records, THREAD, PERF_RECORD_MISC_SWITCH_OUT, 1010);
	put_switch(&fixture->records, THREAD, 0, 6000);
	put_deferred_chain(fixture, THREAD, COOKIE, 0x401021, 6100);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	profile = fixture->result.profile;
	assert_int_equal(profile->sample_count, 1);
	/* What it waited for is a frame, too. */
	assert_int_equal(depth_of(profile, profile->samples[0].stack), 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_samples_get_the_chain_of_their_thread_and_cookie),
		TEST(test_samples_behind_the_chain_share_it),
		TEST(test_samples_whose_chain_was_lost_are_cut),
		TEST(test_a_mark_without_a_cookie_is_no_address),
		TEST(test_waits_have_the_chain_that_comes_when_they_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
