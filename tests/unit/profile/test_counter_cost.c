/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>

struct counted {
	enum counter_cost_input input;
	double value;
};

static void expect(const struct counted *counted, size_t count, double cache, double memory)
{
	struct counter_cost cost = { 0 };
	struct counter_cost_components components;

	for (size_t i = 0; i < count; i++) {
		cost.has[counted[i].input] = true;
		cost.values[counted[i].input] = counted[i].value;
	}
	components = counter_cost_components(&cost);
	assert_true(fabs(components.cache - cache) < 1e-6);
	assert_true(fabs(components.memory - memory) < 1e-6);
}

#define EXPECT(cache, memory, ...)                                                                                     \
	expect((const struct counted[]){ __VA_ARGS__ },                                                                \
		sizeof((const struct counted[]){ __VA_ARGS__ }) / sizeof(struct counted), cache, memory)

static void test_slots(void **state)
{
	/* 10 hits of 12 cycles, 1 miss of 150: 120 to 150. */
	EXPECT(120, 150, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_DATA_SLOTS, 270 }, { COUNTER_COST_FIRST, 11 },
		{ COUNTER_COST_LAST, 1 });
	/* A quarter of the backend's slots waited for data; all of it for caches, where misses are not told. */
	EXPECT(100, 0, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_BACKEND_SLOTS, 400 },
		{ COUNTER_COST_DATA_STALLS, 25 }, { COUNTER_COST_STALLS, 100 });
}

static void test_cycles(void **state)
{
	EXPECT(100, 400, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_DATA_STALLS, 500 },
		{ COUNTER_COST_LAST_STALLS, 400 });
	EXPECT(120, 150, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_FIRST, 11 }, { COUNTER_COST_LAST, 1 });
	/* Misses that overlap take no more than all cycles. */
	EXPECT(0, 1000, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_FIRST, 100 }, { COUNTER_COST_LAST, 100 });
}

/* What was read at slightly different moments may contradict itself. */
static void test_contradictions(void **state)
{
	EXPECT(0, 0, { COUNTER_COST_ALL, 0 }, { COUNTER_COST_DATA_SLOTS, 5 });
	EXPECT(0, 1000, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_FIRST, 1 }, { COUNTER_COST_LAST, 9 });
	EXPECT(0, 400, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_BACKEND_SLOTS, 400 },
		{ COUNTER_COST_DATA_STALLS, 30 }, { COUNTER_COST_STALLS, 20 }, { COUNTER_COST_LAST_STALLS, 40 });
	EXPECT(0, 0, { COUNTER_COST_ALL, 1000 }, { COUNTER_COST_BACKEND_SLOTS, 400 }, { COUNTER_COST_DATA_STALLS, 0 },
		{ COUNTER_COST_STALLS, 0 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_contradictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
