/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"

#include "maker.h"

#include "profile/cost_model.h"

/* What a simulation counted in a stack. */
struct cost {
	const char *stack;
	int64_t instructions, first_misses, last_misses, system_ns;
};

static void add_cost(struct maker *maker, const struct cost *cost)
{
	int64_t cycles =
		cost_model_cycles(cost->instructions * COST_MODEL_QUARTERS, cost->first_misses, cost->last_misses, 0);
	int64_t values[] = { 0, cycles, cost->instructions, cost->first_misses, cost->last_misses, cost->system_ns };
	struct error err;

	maker_check(
		profile_add_sample(maker->profile, maker_stack_of(maker, cost->stack), maker->thread, values, -1, &err),
		&err);
}

static void make_simulated(struct profile *profile)
{
	static const char *const types[][2] = { { COST_MODEL_CYCLES, "count" }, { COST_MODEL_INSTRUCTIONS, "count" },
		{ COST_MODEL_FIRST_MISSES, "count" }, { COST_MODEL_LAST_MISSES, "count" },
		{ COST_MODEL_SYSTEM, "nanoseconds" } };
	struct error err;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		maker_check(profile_add_value_type(profile, types[i][0], types[i][1], &err), &err);
	profile->default_value_type = 1;
	for (uint32_t i = 0; i < profile->value_type_count; i++)
		profile->counts_of[i] = PROFILE_NONE;
	profile->period = 1;
	profile->period_type = profile->value_types[2];
}

/*
 * Three equal runs. compute executes instructions, walk misses the first cache, chase the last one, write is in the
 * kernel, main is mixed. In head, parse misses caches that it did not miss.
 */
struct profile *kinds_bottlenecks(int side)
{
	const struct cost costs[] = {
		{ "main", 1000000, 45000, 0, 0 },
		{ "main;compute#~", side ? 80400000 : 80000000, 0, 0, 0 },
		{ "main;walk", 4000000, 1600000, 0, 0 },
		{ "main;chase", 500000, 60000, 60000, 0 },
		{ "main;parse#~", 20000000, side ? 600000 : 0, 0, 0 },
		{ "main;save;write!libc.so@s", 10000, 0, 0, 4000000 },
	};
	struct maker maker = maker_create_empty("./bench", side ? "22" : "11");

	make_simulated(maker.profile);
	for (int run = 0; run < 3; run++) {
		maker_run(&maker, "bench", 1000);
		for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
			add_cost(&maker, &costs[i]);
	}
	return maker_finish(&maker);
}
