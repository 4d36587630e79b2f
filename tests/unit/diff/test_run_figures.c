/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"

#include "diff/statistics/pairs.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

/* A profile whose runs took these milliseconds of CPU time, and a thousand times as many bytes. */
static struct profile *with_runs(const double *milliseconds, size_t count)
{
	struct profile *profile = synthetic_runs("main;f 10\n", count);

	for (size_t i = 0; i < count; i++) {
		profile->runs[i].cpu_ns = (int64_t)(milliseconds[i] * 1e6);
		profile->runs[i].peak_memory_bytes = (int64_t)(milliseconds[i] * 1e3);
	}
	return profile;
}

/* Values worked out by hand: mean 100, standard deviation 2, t(3) = 3.182, so 100 +- 3.182. */
static void means_have_intervals(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = with_runs((const double[]){ 98.267949, 98.267949, 101.732051, 101.732051 }, 4);
	CLEANUP(profile_cleanup) struct profile *head = with_runs((const double[]){ 110, 110, 110, 110 }, 4);
	struct diff_run_summary summary;

	assert_true(diff_summarize_runs(base, head, DIFF_RUN_CPU, false, &summary));
	assert_float_equal(summary.mean[DIFF_BASE], 100e6, 1);
	assert_float_equal(summary.low[DIFF_BASE], (100 - 3.18245) * 1e6, 1e3);
	assert_float_equal(summary.high[DIFF_BASE], (100 + 3.18245) * 1e6, 1e3);
	assert_float_equal(summary.low[DIFF_HEAD], 110e6, 1);
	assert_true(summary.change > 0.0995 && summary.change < 0.101);
	assert_true(summary.change_low < 0.1 && summary.change_high > 0.1);
}

/* The machine was slow in the second pair; as pairs the runs agree that head takes 10 % more. */
static void pairs_take_out_what_both_runs_met(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = with_runs((const double[]){ 100, 200, 120 }, 3),
		       *head = with_runs((const double[]){ 110, 220, 132 }, 3);
	struct diff_run_summary pairs, apart;

	assert_true(diff_summarize_runs(base, head, DIFF_RUN_CPU, true, &pairs));
	assert_true(diff_summarize_runs(base, head, DIFF_RUN_CPU, false, &apart));
	assert_float_equal(pairs.change, 0.1, 1e-9);
	print_message("%.3f to %.3f in pairs\n", pairs.change_low, pairs.change_high);
	assert_true(pairs.change_low > 0.05 && pairs.change_high < 0.15);
	assert_true(apart.change_low < 0 && apart.change_high > 0.5);
}

static void swapping_the_sides_inverts_the_change(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = with_runs((const double[]){ 100, 104, 99 }, 3),
		       *head = with_runs((const double[]){ 131, 120, 125 }, 3);
	struct diff_run_summary there, back;

	assert_true(diff_summarize_runs(base, head, DIFF_RUN_MEMORY, true, &there));
	assert_true(diff_summarize_runs(head, base, DIFF_RUN_MEMORY, true, &back));
	assert_float_equal((1 + there.change) * (1 + back.change), 1, 1e-9);
	assert_float_equal((1 + there.change_low) * (1 + back.change_high), 1, 1e-9);
}

static void what_was_not_measured_is_not_summed_up(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = with_runs((const double[]){ 100, 100 }, 2),
		       *head = with_runs((const double[]){ 100, 0 }, 2);
	CLEANUP(profile_cleanup) struct profile *one = with_runs((const double[]){ 100 }, 1);
	struct diff_run_summary summary;

	assert_false(diff_summarize_runs(base, head, DIFF_RUN_CPU, true, &summary));
	assert_false(diff_summarize_runs(base, base, DIFF_RUN_WALL, true, &summary));
	assert_true(diff_summarize_runs(one, one, DIFF_RUN_CPU, true, &summary));
	/* How far starts differ is known of other commands. */
	assert_true(isnan(summary.low[DIFF_BASE]) && summary.change_low < -0.1 && summary.change_high > 0.1);
}

static void a_run_far_from_the_others_is_an_outlier(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = with_runs((const double[]){ 100, 101, 99, 100.5, 160, 98 }, 6);
	CLEANUP(profile_cleanup) struct profile *steady = with_runs((const double[]){ 100, 100, 100, 100, 104 }, 5);
	double median;
	bool outlier;

	for (size_t run = 0; run < 6; run++) {
		diff_run_is_outlier(profile, DIFF_RUN_CPU, run, &median, &outlier);
		assert_int_equal(outlier, run == 4);
	}
	assert_float_equal(median, 100.25e6, 1);
	/* 4 % off is nothing to name, however well the others agree. */
	diff_run_is_outlier(steady, DIFF_RUN_CPU, 4, &median, &outlier);
	assert_false(outlier);
}

/* Runs that began at these seconds. */
static struct profile *begun_at(const int *seconds, size_t count)
{
	struct profile *profile = synthetic_runs("main;f 10\n", count);

	for (size_t i = 0; i < count; i++) {
		profile->runs[i].whole_command = true;
		profile->runs[i].start_unix_ns = seconds[i] * INT64_C(1000000000);
	}
	return profile;
}

static void times_tell_runs_that_were_made_in_pairs(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = begun_at((const int[]){ 10, 21, 30 }, 3);
	CLEANUP(profile_cleanup) struct profile *head = begun_at((const int[]){ 11, 20, 31 }, 3);
	CLEANUP(profile_cleanup) struct profile *later = begun_at((const int[]){ 40, 50, 60 }, 3);
	CLEANUP(profile_cleanup) struct profile *crossed = begun_at((const int[]){ 11, 31, 20 }, 3);
	CLEANUP(profile_cleanup) struct profile *unknown = begun_at((const int[]){ 11, 20, 0 }, 3);
	CLEANUP(profile_cleanup) struct profile *fewer = begun_at((const int[]){ 11, 20 }, 2);

	assert_true(pairs_were_made(base, head) && pairs_were_made(head, base));
	assert_false(pairs_were_made(base, later));
	assert_false(pairs_were_made(base, crossed));
	assert_false(pairs_were_made(base, unknown));
	assert_false(pairs_were_made(base, fewer));
	for (uint32_t i = 0; i < 3; i++)
		base->runs[i].layout = i + 1;
	assert_false(pairs_were_made(base, head));
	for (uint32_t i = 0; i < 3; i++)
		base->runs[i].layout = 0;
	/* A service that is recorded now and then does not the same. */
	head->runs[1].whole_command = false;
	assert_false(pairs_were_made(base, head));
}

/* A run of 100 ms on a machine where one run in ten meets other programs and takes up to twice as long. */
static double wild_run(gsl_rng *rng, double times)
{
	double quiet = 100 * times * exp(gsl_ran_gaussian(rng, 0.01));

	return gsl_rng_uniform(rng) < 0.1 ? quiet * (1 + gsl_ran_exponential(rng, 0.3)) : quiet;
}

/* How many of 200 comparisons of 20 pairs say that head takes more or less, where it takes `times` as long. */
static size_t proven(gsl_rng *rng, double times, bool in_pairs)
{
	enum { PAIRS = 20, COMPARISONS = 200 };
	size_t count = 0;

	for (size_t i = 0; i < COMPARISONS; i++) {
		double before[PAIRS], after[PAIRS];

		for (size_t pair = 0; pair < PAIRS; pair++) {
			before[pair] = wild_run(rng, 1);
			after[pair] = wild_run(rng, times);
		}
		{
			CLEANUP(profile_cleanup) struct profile *base = with_runs(before, PAIRS);
			CLEANUP(profile_cleanup) struct profile *head = with_runs(after, PAIRS);
			struct diff_run_summary summary;

			assert_true(diff_summarize_runs(base, head, DIFF_RUN_CPU, in_pairs, &summary));
			assert_true(summary.change_low <= summary.change && summary.change <= summary.change_high);
			count += summary.change_low > 0 || summary.change_high < 0;
		}
	}
	return count;
}

static void wild_runs_hide_no_change(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	size_t by_chance, in_pairs, apart;

	gsl_rng_set(rng, 7);
	by_chance = proven(rng, 1, true);
	in_pairs = proven(rng, 1.03, true);
	apart = proven(rng, 1.03, false);
	print_message("of 200: %zu by chance, %zu in pairs, %zu side by side\n", by_chance, in_pairs, apart);
	assert_true(by_chance <= 16);
	assert_true(in_pairs >= 140 && apart >= 140);
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_have_intervals),
		cmocka_unit_test(pairs_take_out_what_both_runs_met),
		cmocka_unit_test(swapping_the_sides_inverts_the_change),
		cmocka_unit_test(what_was_not_measured_is_not_summed_up),
		cmocka_unit_test(a_run_far_from_the_others_is_an_outlier),
		cmocka_unit_test(times_tell_runs_that_were_made_in_pairs),
		cmocka_unit_test(wild_runs_hide_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
