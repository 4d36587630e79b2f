/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

static void location_in_no_mapping(struct profile *p)
{
	p->locations[2].mapping = 77;
}

static void location_with_no_lines(struct profile *p)
{
	p->locations[2].first_line = UINT32_MAX;
}

static void line_of_no_function(struct profile *p)
{
	p->lines[1].function = 77;
}

static void thread_of_no_run(struct profile *p)
{
	p->threads[1].run = 77;
}

static void stack_that_is_its_own_parent(struct profile *p)
{
	p->stacks[3].parent = 3;
}

static void stacks_in_a_cycle(struct profile *p)
{
	p->stacks[2].parent = 3;
}

static void stack_of_no_location(struct profile *p)
{
	p->stacks[1].location = PROFILE_NONE;
}

static void sample_of_no_stack(struct profile *p)
{
	p->samples[0].stack = 77;
}

static void sample_of_no_thread(struct profile *p)
{
	p->samples[0].thread = 77;
}

static void event_of_no_sample(struct profile *p)
{
	p->events[4].sample = 77;
}

static void weights_of_some_events(struct profile *p)
{
	struct error err;

	/* Nine events more, of which one has a weight and belongs to the sample of the first. */
	for (size_t i = 0; i < 9; i++)
		assert_true(profile_count_sample(p, p->events[0].sample, (int64_t[]){ 1, 1003009 }, 9000000, &err));
	assert_true(profile_weigh_event(p, 5000, &err));
}

static void negative_value(struct profile *p)
{
	p->values[0] = -1;
}

static void sum_past_63_bits(struct profile *p)
{
	p->values[1] = INT64_MAX;
}

static void lock_of_no_string(struct profile *p)
{
	p->locks[1].name = UINT32_MAX;
}

static void release_of_no_stack(struct profile *p)
{
	p->releases[0].stack = 77;
}

static void release_by_no_stack(struct profile *p)
{
	p->releases[1].releaser = 77;
}

static void release_of_no_lock(struct profile *p)
{
	p->releases[1].lock = 2;
}

static void negative_release(struct profile *p)
{
	p->releases[0].weight_ns = -1;
}

static void releases_past_63_bits(struct profile *p)
{
	p->releases[1].weight_ns = INT64_MAX;
}

static void endless_rounds(struct profile *p)
{
	p->runs[1].measured.rounds = UINT64_MAX;
}

static void endless_iterations(struct profile *p)
{
	p->runs[1].measured.iterations = PROFILE_MAX_ROUNDS + 1;
}

static void negative_time(struct profile *p)
{
	p->runs[1].measured.mean_ns = -1;
}

static void time_that_is_no_number(struct profile *p)
{
	p->runs[1].measured.error_ns = NAN;
}

static void time_without_end(struct profile *p)
{
	p->runs[0].measured.stdev_ns = INFINITY;
}

static void mapping_of_no_string(struct profile *p)
{
	p->mappings[0].path = UINT32_MAX;
}

static void function_of_no_string(struct profile *p)
{
	p->functions[0].key = UINT32_MAX;
}

static void thread_of_no_string(struct profile *p)
{
	p->threads[0].name = UINT32_MAX;
}

static void what_does_not_hold_together_is_named(void **state)
{
	static const struct {
		void (*spoil)(struct profile *p);
		const char *words;
	} cases[] = {
		{ location_in_no_mapping, "location 2 references mapping 77" },
		{ location_with_no_lines, "location 2 references lines" },
		{ line_of_no_function, "line 1 references function 77" },
		{ thread_of_no_run, "thread 1 references run 77" },
		{ stack_that_is_its_own_parent, "stack 3 has the parent 3" },
		{ stacks_in_a_cycle, "stack 2 has the parent 3" },
		{ stack_of_no_location, "stack 1 references location" },
		{ sample_of_no_stack, "sample 0 references stack 77" },
		{ sample_of_no_thread, "sample 0 references thread 77" },
		{ event_of_no_sample, "event 4 references sample 77" },
		{ weights_of_some_events, "of the events of sample 0 only some have a weight" },
		{ negative_value, "sample 0 has the negative value -1" },
		{ sum_past_63_bits, "the values of cpu do not fit" },
		{ lock_of_no_string, "lock 1 references a string" },
		{ release_of_no_stack, "release 0 references a stack" },
		{ release_by_no_stack, "release 1 references a stack" },
		{ release_of_no_lock, "release 1 references lock 2" },
		{ negative_release, "release 0 has no valid weight" },
		{ releases_past_63_bits, "release 1 has no valid weight" },
		{ endless_rounds, "run 1 has an impossible number of rounds" },
		{ endless_iterations, "run 1 has an impossible number of rounds" },
		{ negative_time, "run 1 has measured an impossible time" },
		{ time_that_is_no_number, "run 1 has measured an impossible time" },
		{ time_without_end, "run 0 has measured an impossible time" },
		{ mapping_of_no_string, "mapping 0 references a string" },
		{ function_of_no_string, "function 0 references a string" },
		{ thread_of_no_string, "thread 0 references a string" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
		struct error err = { 0 };

		assert_true(profile_validate(profile, &err));
		cases[i].spoil(profile);
		assert_false(profile_validate(profile, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		if (!strstr(err.message, cases[i].words))
			fail_msg("'%s' does not say '%s'", err.message, cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_hold_together_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
