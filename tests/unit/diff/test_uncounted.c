/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"

#include "profile/foreign/foreign.h"
#include "tests/unit/support/profile.h"

#include <stdio.h>
#include <string.h>

/* Comparisons of files whose values are no counts of samples: time, bytes, things, weights. */

enum { FUNCTIONS = 20 };

static struct profile *read_data(const char *name)
{
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct profile *profile;
	struct error err;
	char path[160];

	snprintf(path, sizeof(path), "../profile/data/%s", name);
	buffer_init(&file, 1 << 20);
	must(file_read(path, &file, &err) && foreign_read(file.data, file.size, name, &profile, &err), &err);
	return profile;
}

static struct diff *compare(struct profile *base, struct profile *head, const char *metric)
{
	return synthetic_compare(base, head, &(struct diff_options){ .metric = metric });
}

static struct diff *compare_data(const char *base, const char *head, const char *metric)
{
	return compare(read_data(base), read_data(head), metric);
}

static size_t differences(const struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->function_count; i++)
		count += diff_state_is_difference(diff->functions[i].self.state) ||
			 diff_state_is_difference(diff->functions[i].total.state);
	return count;
}

/* One process, one recording, cut in two: as counts of samples their nanoseconds would prove anything. */
static void halves_of_one_recording_do_not_differ(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare_data("clock-first-half.folded.gz", "clock-second-half.folded.gz", NULL);

	assert_string_equal(diff_string(diff, diff->metric), "time");
	assert_int_equal(differences(diff), 0);
	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
}

/* ---- Heaps of Go ---- */

static void a_heap_of_the_same_program_does_not_differ(void **state)
{
	struct diff *diff = compare_data("go-heap.pb.gz", "go-heap-again.pb.gz", NULL);

	assert_string_equal(diff_string(diff, diff->metric), "inuse_space");
	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_COUNTS);
	assert_int_equal(differences(diff), 0);
	diff_destroy(diff);
	diff = compare_data("go-heap.pb.gz", "go-heap-again.pb.gz", "alloc_space");
	assert_int_equal(differences(diff), 0);
	diff_destroy(diff);
}

static void a_heap_that_grew_is_found(void **state)
{
	struct diff *diff = compare_data("go-heap.pb.gz", "go-heap-more.pb.gz", NULL);

	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_int_equal(synthetic_function(diff, "main.cacheRows")->self.state, DIFF_STATE_NEW);
	assert_false(diff_state_is_difference(synthetic_function(diff, "main.readBlocks")->self.state));
	assert_true(diff->scale.factor == 1);
	diff_destroy(diff);
	diff = compare_data("go-allocs.pb.gz", "go-allocs-more.pb.gz", NULL);
	assert_string_equal(diff_string(diff, diff->metric), "alloc_space");
	assert_int_equal(synthetic_function(diff, "main.cacheRows")->self.state, DIFF_STATE_NEW);
	diff_destroy(diff);
}

/* ---- Weights ---- */

/* Between -30 and 30 thousandths, all alike. */
static int64_t noise_of(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((*random >> 33) % 61) - 30;
}

/* `runs` of functions that weigh about as much in each; the first `factor` times that, and `added` of a last one. */
static struct profile *weighed(size_t runs, int64_t factor, int64_t added, uint64_t seed)
{
	uint64_t random = seed;
	struct profile *profile;
	struct error err;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "weight", "", &err), &err);
	profile->counts_of[0] = profile->counts_of[1] = PROFILE_NONE;
	profile->default_value_type = 1;
	for (size_t run = 0; run < runs; run++) {
		struct profile_thread thread = { 0 };
		uint32_t id, location, stack;

		must(profile_add_run(profile, &(struct profile_run){ .exit_status = -1 }, &thread.run, &err) &&
				profile_add_thread(profile, &thread, &id, &err),
			&err);
		for (int f = 0; f <= FUNCTIONS; f++) {
			struct profile_function function = { 0 };
			struct profile_line line = { 0 };
			int64_t noise = noise_of(&random);
			int64_t weight = f == FUNCTIONS ? added : (f ? 1 : factor) * 1000000;
			char name[] = { 'f', (char)('a' + f), '\0' };

			if (weight == 0)
				continue;
			must(profile_intern(profile, name, &function.name, &err) &&
					profile_add_function(profile, &function, &line.function, &err) &&
					profile_add_location_of_lines(
						profile, PROFILE_NONE, &line, 1, &location, &err) &&
					profile_add_stack(profile, 0, location, &stack, &err) &&
					profile_add_sample(profile, stack, id,
						(int64_t[]){ 1, weight + weight / 1000 * noise }, -1, &err),
				&err);
		}
	}
	return profile;
}

static void one_file_a_side_proves_nothing_of_weights(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare(weighed(1, 1, 0, 0), weighed(2, 9, 5000000, 1), NULL);

	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_NONE);
	assert_true(diff->evidence.uncounted);
	assert_int_equal(differences(diff), 0);
	assert_int_equal(synthetic_function(diff, "fa")->self.state, DIFF_STATE_UNPROVEN);
	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
	synthetic_assert_says(diff, "weights are not counts of samples");
	synthetic_assert_says(diff, "give 2 or more on each side, separated by commas");
}

static void runs_prove_what_weights_alone_do_not(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare(weighed(4, 1, 0, 0), weighed(4, 2, 5000000, 1), NULL);

	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_RUNS);
	assert_int_equal(synthetic_function(diff, "fa")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "fu")->self.state, DIFF_STATE_NEW);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
}

static struct profile *three_of(const char *name)
{
	struct profile *profile;
	struct error err;

	must(profile_create(&profile, &err), &err);
	for (int i = 0; i < 3; i++) {
		CLEANUP(profile_cleanup) struct profile *one = read_data(name);

		must(profile_merge(profile, one, &err), &err);
	}
	return profile;
}

/* As many goroutines in every run. */
static void things_that_are_equal_in_all_runs_are_unchanged(void **state)
{
	struct profile *grown = three_of("go-goroutine.pb.gz");
	struct diff *diff = compare(three_of("go-goroutine.pb.gz"), three_of("go-goroutine.pb.gz"), NULL);

	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_RUNS);
	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	assert_int_equal(differences(diff), 0);
	diff_destroy(diff);
	for (size_t i = 0; i < grown->sample_count; i++)
		grown->values[2 * i + 1] *= 2;
	diff = compare(three_of("go-goroutine.pb.gz"), grown, NULL);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	diff_destroy(diff);
}

/* Of a hundred pairs that are alike, few show anything. */
static void runs_of_weights_that_are_alike_prove_nothing(void **state)
{
	size_t flagged = 0;

	for (uint64_t seed = 0; seed < 100; seed++) {
		CLEANUP(diff_cleanup)
		struct diff *diff = compare(weighed(4, 1, 0, 2 * seed), weighed(4, 1, 0, 2 * seed + 1), NULL);

		flagged += differences(diff) > 0;
	}
	if (flagged > 10)
		fail_msg("%zu of 100 pairs", flagged);
}

/* The number of stacks is no metric: where one side's samples are counted and the other's are not, nothing compares. */
static void weights_do_not_compare_with_counts(void **state)
{
	static const char counts[] = "main;fa 30\nmain;fb 40\n";
	CLEANUP(profile_cleanup) struct profile *base = NULL, *head = weighed(1, 1, 0, 0);
	struct diff_options options = { .metric = "samples" };
	struct diff *diff;
	struct error err;

	must(foreign_read(counts, strlen(counts), "counts", &base, &err), &err);
	assert_false(diff_create(base, head, NULL, &diff, &err));
	assert_non_null(strstr(err.message, "base has samples, head has weight"));
	assert_false(diff_create(base, head, &options, &diff, &err));
	assert_int_equal(err.code, ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_of_one_recording_do_not_differ),
		cmocka_unit_test(a_heap_of_the_same_program_does_not_differ),
		cmocka_unit_test(a_heap_that_grew_is_found),
		cmocka_unit_test(one_file_a_side_proves_nothing_of_weights),
		cmocka_unit_test(runs_prove_what_weights_alone_do_not),
		cmocka_unit_test(things_that_are_equal_in_all_runs_are_unchanged),
		cmocka_unit_test(runs_of_weights_that_are_alike_prove_nothing),
		cmocka_unit_test(weights_do_not_compare_with_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
