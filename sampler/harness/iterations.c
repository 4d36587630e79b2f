/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/iterations.h"

#include "sampler/harness/warmup.h"

#include <math.h>
#include <stdlib.h>

/*
 * The file's times have whole nanoseconds with some harnesses, and the markers stand a little outside of what the
 * harness itself times.
 */
static const double tolerance_ns = 1, tolerance = 0.02;

/*
 * The most that a harness can have measured, as a part of its window: what it says it did cannot have taken much
 * longer.
 */
static const double most_of_window = 1.5;

static double round_ns(const struct harness_round *round)
{
	return (double)(round->end_ns - round->start_ns);
}

static bool iterations_is_near(double found, double expected)
{
	return fabs(found - expected) <= tolerance * expected + tolerance_ns;
}

/* Sets the time of an iteration in each round. */
static void divide(const struct harness_window *window, double *times)
{
	for (size_t i = 0; i < window->round_count; i++) {
		const struct harness_round *round = &window->rounds[i];

		times[i] = round_ns(round) / (double)(round->iterations > 0 ? round->iterations : 1);
	}
}

static bool has_quartiles(const struct harness_window *window, const struct results_stats *stats, double *scratch)
{
	size_t count = window->round_count;

	divide(window, scratch);
	warmup_sort(scratch, count);
	return iterations_is_near(warmup_quantile(scratch, count, 0.25), stats->q1_ns) &&
	       iterations_is_near(warmup_quantile(scratch, count, 0.5), stats->median_ns) &&
	       iterations_is_near(warmup_quantile(scratch, count, 0.75), stats->q3_ns);
}

static void set_constant(struct harness_window *window, uint64_t iterations)
{
	for (size_t i = 0; i < window->round_count; i++)
		window->rounds[i].iterations = iterations;
}

/* Rounds of d, 2d, 3d … iterations; their mean, rounded down, is in the file. False: no such d. */
static bool set_linear(struct harness_window *window, const struct results_stats *stats)
{
	uint64_t count = window->round_count;
	uint64_t step = (2 * stats->iterations + count) / (count + 1);

	if (count != stats->rounds || step == 0 || step * (count + 1) / 2 != stats->iterations)
		return false;
	for (size_t i = 0; i < window->round_count; i++)
		window->rounds[i].iterations = step * (i + 1);
	return true;
}

static bool find_iterations(struct harness_window *window, const struct results_stats *stats, double *scratch)
{
	set_constant(window, stats->iterations);
	if (has_quartiles(window, stats, scratch) ||
		(set_linear(window, stats) && has_quartiles(window, stats, scratch)))
		return true;
	set_constant(window, 0);
	return false;
}

/*
 * `times` has room for all rounds twice. Where iterations are not known, rounds are compared with as many rounds of
 * another execution, so none is left out.
 */
static bool measure_rounds(struct harness_window *window, double *times, struct error *err)
{
	struct profile_measured *measured = &window->measured;

	divide(window, times);
	if (window->rounds[0].iterations > 0)
		window->warmup_rounds = warmup_count(times, window->round_count, times + window->round_count);
	*measured = (struct profile_measured){ .rounds = window->round_count - window->warmup_rounds };
	for (size_t i = window->warmup_rounds; i < window->round_count; i++)
		measured->iterations += window->rounds[i].iterations;
	return warmup_measure(times + window->warmup_rounds, (size_t)measured->rounds, measured, err);
}

static bool fits_window(const struct harness_window *window, const struct results_stats *stats)
{
	return stats->mean_ns * (double)stats->iterations * (double)stats->rounds <=
	       most_of_window * (double)(window->end_ns - window->start_ns);
}

static void believe_results(struct harness_window *window, const struct results_stats *stats)
{
	window->measured = (struct profile_measured){
		.rounds = stats->rounds,
		.iterations = stats->rounds * stats->iterations,
		.quartile_ns = stats->q1_ns,
		.median_ns = stats->median_ns,
		.mean_ns = stats->mean_ns,
		.stdev_ns = stats->stdev_ns,
		.error_ns = stats->stdev_ns / sqrt((double)stats->rounds),
	};
	if (window->round_count == 1)
		window->rounds[0].iterations = window->measured.iterations;
}

/* The window itself is the one round. */
static void measure_window(struct harness_window *window)
{
	double time_ns = (double)(window->end_ns - window->start_ns);

	window->measured = (struct profile_measured){
		.rounds = 1, .quartile_ns = time_ns, .median_ns = time_ns, .mean_ns = time_ns
	};
}

bool iterations_measure(struct harness_window *window, const struct results_stats *stats, struct error *err)
{
	CLEANUP(cleanup_free) double *times = malloc((2 * window->round_count + 1) * sizeof(*times));

	if (!times)
		return error_set_memory(err);
	/* Numbers whose product would not fit are no numbers of iterations. */
	if (stats && stats->rounds > UINT64_MAX / stats->iterations)
		stats = NULL;
	if (window->round_count > 0 && (!stats || find_iterations(window, stats, times)))
		return measure_rounds(window, times, err);
	if (stats && fits_window(window, stats)) {
		believe_results(window, stats);
		return true;
	}
	if (window->round_count > 0)
		return measure_rounds(window, times, err);
	measure_window(window);
	return true;
}
