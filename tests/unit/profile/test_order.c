/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pprof_bytes.h"
#include "profile_fixture.h"

#include "profile/index.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Stacks that come in order are added without asking whether they are there. What then comes out of it must be found
 * all the same.
 */

enum { LOCATIONS = 4 };

struct line {
	uint64_t locations[PPROF_MAX_DEPTH]; /* leaf first, ended by 0 */
	int64_t thread;
};

static struct profile *read_lines(const struct line *lines, size_t count)
{
	struct pprof_bytes p;

	pprof_bytes_init(&p);
	p.packed = true;
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_function(&p, 1, "f");
	for (uint64_t id = 1; id <= LOCATIONS; id++)
		pprof_location(&p, id, 0, id * 16, (uint64_t[]){ 1, 0 });
	for (size_t i = 0; i < count; i++) {
		struct pprof_sample sample = { .values = { 1 }, .value_count = 1 };

		memcpy(sample.locations, lines[i].locations, sizeof(sample.locations));
		sample.labels[0].key = "tid";
		sample.labels[0].number = lines[i].thread;
		pprof_sample(&p, &sample);
	}
	return pprof_read(&p);
}

static void assert_all_different(const struct profile *profile)
{
	for (size_t i = 0; i < profile->stack_count; i++)
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(&profile->stacks[i], &profile->stacks[k], sizeof(profile->stacks[i]));
	for (size_t i = 0; i < profile->sample_count; i++)
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(
				&profile->samples[i], &profile->samples[k], sizeof(profile->samples[i]));
}

static void nothing_is_there_twice_in_any_order(void **state)
{
	static const struct {
		struct line lines[5];
		size_t count, stacks, samples; /* that come out; stack 0 is one */
		bool in_order;
	} cases[] = {
		{ { { { 1 }, 1 }, { { 2, 1 }, 1 }, { { 3, 1 }, 1 }, { { 4, 3, 1 }, 1 }, { { 2 }, 1 } }, 5, 6, 5, true },
		{ { { { 0 }, 1 }, { { 1 }, 1 }, { { 1 }, 2 }, { { 1 }, 3 } }, 4, 2, 4, true },
		{ { { { 4, 3, 2, 1 }, 1 }, { { 4, 4, 2, 1 }, 1 }, { { 1, 4 }, 1 } }, 3, 9, 3, true },
		/* The same stack in the same thread, in an earlier one, and again later. */
		{ { { { 1 }, 1 }, { { 1 }, 1 } }, 2, 2, 1, false },
		{ { { { 1 }, 1 }, { { 1 }, 2 }, { { 1 }, 1 } }, 3, 2, 2, false },
		{ { { { 2, 1 }, 1 }, { { 3, 1 }, 1 }, { { 2, 1 }, 1 } }, 3, 4, 2, false },
		/* A caller behind what it calls; siblings the other way round; another branch first. */
		{ { { { 3, 2, 1 }, 1 }, { { 2, 1 }, 1 }, { { 1 }, 1 } }, 3, 4, 3, false },
		{ { { { 3, 1 }, 1 }, { { 2, 1 }, 1 }, { { 3, 1 }, 2 } }, 3, 4, 3, false },
		{ { { { 2 }, 1 }, { { 2, 1 }, 1 }, { { 2 }, 1 }, { { 3, 2, 1 }, 1 } }, 4, 5, 3, false },
		{ { { { 0 }, 1 }, { { 0 }, 1 } }, 2, 1, 1, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = read_lines(cases[i].lines, cases[i].count);

		assert_int_equal(profile->stack_count, cases[i].stacks);
		assert_int_equal(profile->sample_count, cases[i].samples);
		assert_int_equal(profile_sum(profile, 0), cases[i].count);
		assert_int_equal(profile->index->indexed_stacks == 0, cases[i].in_order);
		assert_all_different(profile);
	}
}

static void check_found(const struct profile *made, bool has_releases)
{
	CLEANUP(buffer_deinit) struct buffer bytes = written_profile(made);
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(bytes.data, bytes.size);
	size_t stacks = profile->stack_count, samples = profile->sample_count;
	struct error err;
	uint32_t id;

	/* Our own files are in order, so that reading them asks for nothing. Stacks of releases may be known already.
	 */
	assert_int_equal(profile->index->indexed_stacks > 0, has_releases);
	assert_int_equal(profile->index->indexed_samples, 0);
	assert_all_different(profile);
	for (uint32_t i = 1; i < stacks; i++) {
		assert_true(
			profile_add_stack(profile, profile->stacks[i].parent, profile->stacks[i].location, &id, &err));
		assert_int_equal(id, i);
	}
	for (uint32_t i = 0; i < samples; i++) {
		int64_t values[PROFILE_MAX_VALUE_TYPES], count = profile->values[i * profile->value_type_count];

		memcpy(values, &profile->values[i * profile->value_type_count],
			profile->value_type_count * sizeof(*values));
		assert_true(profile_add_sample(
			profile, profile->samples[i].stack, profile->samples[i].thread, values, -1, &err));
		assert_int_equal(profile->values[i * profile->value_type_count], 2 * count);
	}
	assert_int_equal(profile->stack_count, stacks);
	assert_int_equal(profile->sample_count, samples);
}

static void what_was_appended_is_found(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();

	check_found(made, true);
	made->release_count = 0;
	check_found(made, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_there_twice_in_any_order),
		cmocka_unit_test(what_was_appended_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
