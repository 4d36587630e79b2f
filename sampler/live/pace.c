/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/pace.h"

enum { CALM_SECONDS = 3 };

static const uint64_t second_ns = 1000000000, longest_interval_ns = 10000000000;

/* The shortest interval in which the budget has a sample for each thread. */
static uint64_t interval_for(uint64_t asked_ns, uint64_t threads)
{
	uint64_t for_threads =
		threads < (uint64_t)PACE_BUDGET * 10 ? threads * second_ns / PACE_BUDGET : longest_interval_ns;

	return for_threads > asked_ns ? for_threads : asked_ns;
}

struct pace pace_init(uint64_t asked_ns, size_t threads)
{
	uint64_t interval_ns = interval_for(asked_ns, threads);

	return (struct pace){ .asked_ns = asked_ns, .interval_ns = interval_ns, .longest_ns = interval_ns };
}

static bool is_calm(const struct pace *pace, const struct pace_counts *since)
{
	uint64_t few = PACE_BUDGET / 4 * since->elapsed_ns / second_ns;

	return since->samples < few && pace->interval_ns / 2 >= interval_for(pace->asked_ns, since->threads);
}

bool pace_fit(struct pace *pace, const struct pace_counts *since)
{
	if (since->deferred > 0) {
		pace->calm = 0;
		if (pace->interval_ns * 2 > longest_interval_ns)
			return false;
		pace->interval_ns *= 2;
		pace->longest_ns = pace->interval_ns > pace->longest_ns ? pace->interval_ns : pace->longest_ns;
		return true;
	}
	pace->calm = is_calm(pace, since) ? pace->calm + 1 : 0;
	if (pace->calm < CALM_SECONDS)
		return false;
	pace->calm = 0;
	pace->interval_ns /= 2;
	return true;
}
