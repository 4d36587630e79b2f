/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"
#include "tests/unit/diff/synthetic_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <string.h>

enum { MOST_ALLOCATIONS = 3000 };

static const double ms = SYNTHETIC_SAMPLE_NS;

static const struct summary_options options = { .name = "a.pb.gz", .id = { 1, 2 }, .file_time_unix_ns = 77 };

static struct summary_set *set_of(struct profile *profile)
{
	struct summary_set *set;
	struct error err;

	must(summary_set_create(&set, &err) && history_summarize(set, profile, &options, &err), &err);
	profile_destroy(profile);
	return set;
}

static const struct summary_row *row_of(const struct summary_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->function_count; i++)
		if (strcmp(summary_string(set, set->functions[i].name), name) == 0)
			return summary_row_of(&set->items[set->count - 1], i);
	fail_msg("no function %s", name);
	return NULL;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b));
}

/* 40 blocks of 250 ms; `parse` has 2 samples in even blocks and 4 in odd ones, `other` fills each up to 10. */
static struct profile *in_blocks(void)
{
	struct synthetic synthetic = synthetic_create();
	uint32_t parse, other;

	synthetic_run(&synthetic, false, 10000);
	parse = synthetic_stack(&synthetic, "main;parse#9");
	other = synthetic_stack(&synthetic, "main;other");
	for (int block = 0; block < 40; block++)
		for (int i = 0; i < 10; i++)
			synthetic_add(&synthetic, i < (block % 2 ? 4 : 2) ? parse : other, 1, 250 * block + 20 * i);
	return synthetic_finish(&synthetic);
}

static void rows_have_the_sums_of_the_diff(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = set_of(in_blocks());
	const struct summary *summary = &set->items[0];
	const struct summary_row *parse = row_of(set, "parse"), *all = row_of(set, "main");

	assert_string_equal(summary_string(set, summary->name), "a.pb.gz");
	assert_string_equal(summary_string(set, summary->metric), "cpu");
	assert_true(summary->total == 400 * ms && summary->samples == 400 && summary->interrupts == 0);
	assert_true(summary->is_time && summary->is_duration && !summary->is_exact);
	assert_true(summary->is_time_of_file && summary->start_unix_ns == 77);
	assert_int_equal(summary->duration_ns, 10000000000);
	assert_true(parse->self == 120 * ms && parse->total == 120 * ms && parse->fingerprint == 9);
	assert_true(all->self == 0 && all->total == 400 * ms);
	assert_int_equal(summary->binary_count, 1);
	assert_string_equal(summary_string(set, summary->binaries[0].module), "prog");
	assert_true(summary->binaries[0].is_program);
}

static struct profile *serving(double requests_per_block)
{
	struct profile *profile = in_blocks();
	const struct profile_exchanges exchanges = { .kind = PROFILE_EXCHANGE_ANSWERED, .connections = 1 };
	struct error err;
	uint32_t id;

	profile->requests.source = PROFILE_WORK_SOCKETS;
	must(profile_add_exchanges(profile, &exchanges, &id, &err), &err);
	for (int block = 0; block < 40; block++) {
		const struct profile_exchange_reading reading = { id, 250000000LL * (block + 1),
			(uint64_t)(requests_per_block * (block % 2 ? 2 : 1)) };

		must(profile_add_exchange_reading(profile, &reading, &err), &err);
	}
	must(profile_finish(profile, &err), &err);
	return profile;
}

static void errors_are_those_of_counting(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = set_of(serving(50));
	const struct summary *summary = &set->items[0];

	assert_int_equal(summary->work, PROFILE_WORK_SOCKETS);
	assert_true(summary->requests == 3000);
	assert_true(is_near((double)row_of(set, "parse")->self_error, sqrt(120) * ms));
	assert_true(is_near(summary->total_error, sqrt(400) * ms));
}

static void profiles_of_a_set_share_their_functions(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = set_of(in_blocks());
	CLEANUP(profile_cleanup) struct profile *other = synthetic_profile("main;parse 3\nmain;more 5\n");
	struct error err;

	must(history_summarize(set, other, &options, &err), &err);
	assert_int_equal(set->count, 2);
	assert_int_equal(set->function_count, 4);
	assert_true(row_of(set, "parse")->self == 3 * ms);
}

static void a_metric_that_is_not_there_adds_nothing(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_profile("main;f 10\n");
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	const struct summary_options wall = { .metric = "wall" };
	struct error err;

	must(summary_set_create(&set, &err), &err);
	assert_false(history_summarize(set, profile, &wall, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	assert_int_equal(set->count, 0);
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = in_blocks();
	struct summary_set *set;
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(
			summary_set_create(&set, &err) && history_summarize(set, profile, &options, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_the_sums_of_the_diff),
		cmocka_unit_test(errors_are_those_of_counting),
		cmocka_unit_test(profiles_of_a_set_share_their_functions),
		cmocka_unit_test(a_metric_that_is_not_there_adds_nothing),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
