/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/clock.h"

#include <math.h>

static const double notable_difference = 0.1, least_ns = 20e6;

static double sum_elapsed(const struct profile *run, uint32_t elapsed)
{
	double sum = 0;

	for (size_t i = 0; i < run->sample_count; i++)
		if (profile_wait_class_of_stack(run, run->samples[i].stack) != PROFILE_WAIT_RUN_QUEUE)
			sum += (double)run->values[i * run->value_type_count + elapsed];
	return sum;
}

struct bench_clock bench_clock_of(const struct profile *run)
{
	uint32_t elapsed = profile_find_metric(run, PROFILE_ELAPSED, "nanoseconds");
	struct bench_clock clock = { 0 };

	for (size_t i = 0; i < run->run_count; i++) {
		clock.elapsed += (double)run->runs[i].wall_ns;
		clock.cpu += (double)run->runs[i].cpu_ns;
	}
	clock.is_recorded = elapsed != PROFILE_NONE;
	if (clock.is_recorded)
		clock.elapsed = sum_elapsed(run, elapsed);
	return clock;
}

bool bench_clock_differs(const struct bench_clock *clock)
{
	return clock->elapsed >= least_ns && clock->cpu > 0 &&
	       fabs(log(clock->elapsed / clock->cpu)) > log1p(notable_difference);
}
