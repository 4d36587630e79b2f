/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/iterations.h"
#include "sampler/harness/warmup.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>

/* Of splitmix64 (Vigna), so that the test is the same everywhere. */
static double uniform(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(uniform(seed)));

	return radius * cos(2 * M_PI * uniform(seed));
}

/* Times around 1,000 with noise of 20, of which each resembles the one before it as `likeness` says. */
static void make_noise(double *times, size_t count, double likeness, uint64_t *seed)
{
	double state = normal(seed);

	for (size_t i = 0; i < count; i++) {
		times[i] = 1000 + 20 * state;
		state = likeness * state + sqrt(1 - likeness * likeness) * normal(seed);
	}
}

static double scratch[1000];

static void test_noise_has_no_warmup(void **state)
{
	enum { SERIES = 200, ROUNDS = 300 };
	static const double likeness[] = { 0, 0.5, 0.9 };
	static const size_t rounds[] = { 60, ROUNDS };
	double times[ROUNDS];
	uint64_t seed = 1;

	for (size_t k = 0; k < 2 * sizeof(likeness) / sizeof(likeness[0]); k++) {
		size_t found = 0, removed = 0, length = rounds[k % 2];

		for (int i = 0; i < SERIES; i++) {
			size_t count;

			make_noise(times, length, likeness[k / 2], &seed);
			count = warmup_count(times, length, scratch);
			found += count > 0;
			removed += count;
		}
		print_message("%zu rounds, likeness %.1f: warm-up seen in %.1f %% of series, %.2f %% of rounds\n",
			length, likeness[k / 2], 100.0 * (double)found / SERIES,
			100.0 * (double)removed / SERIES / (double)length);
		assert_true(found < SERIES / 8);
		assert_true(removed < SERIES * length / 20);
	}
}

static void test_a_warmup_is_found(void **state)
{
	enum { ROUNDS = 300, WARM = 60 };
	double times[ROUNDS];
	uint64_t seed = 7;
	size_t count;

	make_noise(times, ROUNDS, 0, &seed);
	for (int i = 0; i < WARM; i++)
		times[i] += 500;
	assert_int_equal(warmup_count(times, ROUNDS, scratch), WARM);
	/* A JIT compiler's: slower by a half at first, less and less. */
	make_noise(times, ROUNDS, 0, &seed);
	for (int i = 0; i < ROUNDS; i++)
		times[i] += 500 * exp(-i / 20.0);
	count = warmup_count(times, ROUNDS, scratch);
	assert_in_range(count, 40, 120);
	/* One that is faster is none: a harness that begins with a cold, slow round has the opposite. */
	make_noise(times, ROUNDS, 0, &seed);
	for (int i = 0; i < WARM; i++)
		times[i] -= 500;
	assert_int_equal(warmup_count(times, ROUNDS, scratch), 0);
}

static void test_a_lone_slow_round_is_no_warmup(void **state)
{
	enum { ROUNDS = 200 };
	double times[ROUNDS];
	uint64_t seed = 3;

	make_noise(times, ROUNDS, 0, &seed);
	times[60] = 100000;
	assert_int_equal(warmup_count(times, ROUNDS, scratch), 0);
}

static void test_few_rounds(void **state)
{
	double times[19] = { 1e9 };

	assert_int_equal(warmup_count(times, 0, scratch), 0);
	assert_int_equal(warmup_count(times, 1, scratch), 0);
	assert_int_equal(warmup_count(times, 19, scratch), 0);
}

/* The interval of two errors holds the true mean as often as it says, also where rounds resemble each other. */
static void test_the_error_counts_likeness(void **state)
{
	enum { SERIES = 400, ROUNDS = 1000 };
	static double times[ROUNDS];
	uint64_t seed = 11;
	int held = 0;

	for (int i = 0; i < SERIES; i++) {
		struct profile_measured measured = { 0 };
		struct error err;

		make_noise(times, ROUNDS, 0.8, &seed);
		assert_true(warmup_measure(times, ROUNDS, &measured, &err));
		assert_true(measured.stdev_ns > 10 && measured.stdev_ns < 30);
		held += fabs(measured.mean_ns - 1000) < 2 * measured.error_ns;
	}
	print_message("held in %.1f %%\n", 100.0 * held / SERIES);
	assert_true(held > SERIES * 17 / 20);
}

/* ---- Iterations ---- */

enum { WINDOW_ROUNDS = 100 };

static void set_rounds(struct harness_round *rounds, const uint64_t *iterations, double ns, uint64_t *seed)
{
	int64_t at = 1000;

	for (int i = 0; i < WINDOW_ROUNDS; i++) {
		int64_t time = (int64_t)((double)iterations[i] * ns * (1 + 0.002 * normal(seed)));

		rounds[i] = (struct harness_round){ .start_ns = at, .end_ns = at + time };
		at += time + 30;
	}
}

static struct results_stats stats_of(double ns, uint64_t iterations)
{
	return (struct results_stats){
		.q1_ns = ns * 0.999,
		.median_ns = ns,
		.q3_ns = ns * 1.001,
		.mean_ns = ns,
		.stdev_ns = ns * 0.002,
		.rounds = WINDOW_ROUNDS,
		.iterations = iterations,
	};
}

static struct profile_measured measure(struct harness_round *rounds, size_t count, const struct results_stats *stats)
{
	struct harness_window window = {
		.start_ns = 0,
		.end_ns = rounds[count > 0 ? count - 1 : 0].end_ns + 100,
		.rounds = rounds,
		.round_count = count,
	};
	struct error err;

	assert_true(iterations_measure(&window, stats, &err));
	return window.measured;
}

static void test_rounds_of_equal_iterations(void **state)
{
	struct harness_round rounds[WINDOW_ROUNDS];
	uint64_t iterations[WINDOW_ROUNDS], seed = 5;
	struct results_stats stats = stats_of(2500, 40);
	struct profile_measured measured;

	for (int i = 0; i < WINDOW_ROUNDS; i++)
		iterations[i] = 40;
	set_rounds(rounds, iterations, 2500, &seed);
	stats.rounds = 3 * WINDOW_ROUNDS; /* what pytest-codspeed had planned */
	measured = measure(rounds, WINDOW_ROUNDS, &stats);
	assert_int_equal(measured.rounds, WINDOW_ROUNDS);
	assert_int_equal(measured.iterations, 40 * WINDOW_ROUNDS);
	assert_true(fabs(measured.median_ns - 2500) < 5 && fabs(measured.mean_ns - 2500) < 5);
	assert_true(measured.error_ns > 0 && measured.error_ns < 3);
	/* Without results a round is an iteration. */
	set_rounds(rounds, iterations, 2500, &seed);
	measured = measure(rounds, WINDOW_ROUNDS, NULL);
	assert_int_equal(measured.iterations, 0);
	assert_true(fabs(measured.median_ns - 100000) < 200);
}

static void test_linear_sampling_of_criterion(void **state)
{
	struct harness_round rounds[WINDOW_ROUNDS];
	uint64_t iterations[WINDOW_ROUNDS], seed = 6;
	struct results_stats stats = stats_of(800, 7 * (WINDOW_ROUNDS + 1) / 2);
	struct profile_measured measured;

	for (int i = 0; i < WINDOW_ROUNDS; i++)
		iterations[i] = 7 * ((uint64_t)i + 1);
	set_rounds(rounds, iterations, 800, &seed);
	measured = measure(rounds, WINDOW_ROUNDS, &stats);
	assert_int_equal(measured.rounds, WINDOW_ROUNDS);
	assert_int_equal(measured.iterations, 7 * WINDOW_ROUNDS * (WINDOW_ROUNDS + 1) / 2);
	assert_true(fabs(measured.median_ns - 800) < 2 && measured.stdev_ns < 10);
}

static void test_rounds_that_are_no_samples(void **state)
{
	struct harness_round rounds[WINDOW_ROUNDS];
	uint64_t iterations[WINDOW_ROUNDS], seed = 8;
	struct results_stats stats = stats_of(1000, 50);
	struct profile_measured measured;

	/* tinybench: one round holds all. */
	rounds[0] = (struct harness_round){ .start_ns = 1000, .end_ns = 1000 + 51 * WINDOW_ROUNDS * 1000 };
	measured = measure(rounds, 1, &stats);
	assert_int_equal(measured.rounds, WINDOW_ROUNDS);
	assert_int_equal(measured.iterations, 50 * WINDOW_ROUNDS);
	assert_true(measured.median_ns == 1000);
	assert_int_equal(rounds[0].iterations, 50 * WINDOW_ROUNDS);
	/* Numbers that cannot be: a unit is wrong somewhere. */
	stats = stats_of(1e9, 50);
	for (int i = 0; i < WINDOW_ROUNDS; i++)
		iterations[i] = 50;
	set_rounds(rounds, iterations, 1000, &seed);
	measured = measure(rounds, WINDOW_ROUNDS, &stats);
	assert_int_equal(measured.iterations, 0);
	assert_true(fabs(measured.median_ns - 50000) < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noise_has_no_warmup),
		cmocka_unit_test(test_a_warmup_is_found),
		cmocka_unit_test(test_a_lone_slow_round_is_no_warmup),
		cmocka_unit_test(test_few_rounds),
		cmocka_unit_test(test_the_error_counts_likeness),
		cmocka_unit_test(test_rounds_of_equal_iterations),
		cmocka_unit_test(test_linear_sampling_of_criterion),
		cmocka_unit_test(test_rounds_that_are_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
