/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/counter_cost.h"

#include <math.h>

static double counter_cost_share_of(double part, double whole)
{
	return whole > 0 ? fmin(part / whole, 1) : 0;
}

/* Cycles that misses take by the model of a simulation. */
static double cycles_in_caches(const struct counter_cost *cost)
{
	return COST_MODEL_FIRST_MISS_CYCLES *
	       fmax(cost->values[COUNTER_COST_FIRST] - cost->values[COUNTER_COST_LAST], 0);
}

static double cycles_in_memory(const struct counter_cost *cost)
{
	return COST_MODEL_LAST_MISS_CYCLES * cost->values[COUNTER_COST_LAST];
}

/* Returns what of all waited for data, in a cache or in memory. */
static double waiting_slots(const struct counter_cost *cost)
{
	const double *values = cost->values;

	if (cost->has[COUNTER_COST_DATA_SLOTS])
		return values[COUNTER_COST_DATA_SLOTS];
	if (!cost->has[COUNTER_COST_DATA_STALLS])
		return cycles_in_caches(cost) + cycles_in_memory(cost);
	if (!cost->has[COUNTER_COST_BACKEND_SLOTS])
		return values[COUNTER_COST_DATA_STALLS];
	return values[COUNTER_COST_BACKEND_SLOTS] *
	       counter_cost_share_of(values[COUNTER_COST_DATA_STALLS], values[COUNTER_COST_STALLS]);
}

/* Returns how much of that was for memory. */
static double memory_share(const struct counter_cost *cost)
{
	double memory = cycles_in_memory(cost);

	if (cost->has[COUNTER_COST_LAST_STALLS])
		return counter_cost_share_of(
			cost->values[COUNTER_COST_LAST_STALLS], cost->values[COUNTER_COST_DATA_STALLS]);
	return counter_cost_share_of(memory, cycles_in_caches(cost) + memory);
}

struct counter_cost_components counter_cost_components(const struct counter_cost *cost)
{
	double waiting = fmin(waiting_slots(cost), cost->values[COUNTER_COST_ALL]);
	double memory = waiting * memory_share(cost);

	return (struct counter_cost_components){ .cache = waiting - memory, .memory = memory };
}
