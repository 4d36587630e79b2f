/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/plan.h"
#include "tests/unit/support/unit_test.h"

enum { SEEDS = 50 };

static void each_arm_runs_once_a_turn(void **state)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		for (int has_control = 0; has_control < 2; has_control++) {
			struct bench_plan plan;

			bench_plan_init(&plan, 1, has_control, seed);
			for (uint64_t number = 0; number < 20; number++) {
				struct bench_turn turn = bench_plan_turn(&plan, number);
				unsigned int seen = 0;

				assert_int_equal(turn.count, has_control ? 3 : 2);
				for (size_t i = 0; i < turn.count; i++) {
					seen |= 1u << turn.arms[i];
					assert_int_equal(turn.layouts[turn.arms[i]], 1);
				}
				assert_int_equal(seen, has_control ? 7 : 3);
			}
		}
	}
}

static void both_orders_are_as_frequent(void **state)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct bench_plan plan;
		int base_first = 0;

		bench_plan_init(&plan, 1, false, seed);
		for (uint64_t number = 0; number < 20; number++)
			base_first += bench_plan_turn(&plan, number).arms[0] == BENCH_BASE;
		assert_int_equal(base_first, 10);
	}
}

static void each_layout_comes_once_a_block(void **state)
{
	enum { LAYOUTS = 8, BLOCKS = 4 };
	size_t alike = 0, turns = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct bench_plan plan;

		bench_plan_init(&plan, LAYOUTS, true, seed);
		for (uint64_t block = 0; block < BLOCKS; block++) {
			unsigned int seen[BENCH_ARMS] = { 0 };

			for (uint64_t i = 0; i < LAYOUTS; i++) {
				struct bench_turn turn = bench_plan_turn(&plan, block * LAYOUTS + i);

				for (int arm = 0; arm < BENCH_ARMS; arm++) {
					assert_in_range(turn.layouts[arm], 1, LAYOUTS);
					seen[arm] |= 1u << turn.layouts[arm];
				}
				alike += turn.layouts[BENCH_BASE] == turn.layouts[BENCH_HEAD];
				turns++;
			}
			for (int arm = 0; arm < BENCH_ARMS; arm++)
				assert_int_equal(seen[arm], (1u << (LAYOUTS + 1)) - 2);
		}
	}
	/* Each arm has an order of its own. */
	assert_true(alike * 4 < turns);
}

static void draws_are_spread(void **state)
{
	struct bench_plan plan;
	size_t low = 0;

	bench_plan_init(&plan, 1, false, 1);
	for (size_t i = 0; i < 1000; i++) {
		uint32_t drawn = bench_plan_draw(&plan, 4096);

		assert_in_range(drawn, 0, 4095);
		low += drawn < 2048;
	}
	assert_in_range(low, 400, 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_arm_runs_once_a_turn),
		cmocka_unit_test(both_orders_are_as_frequent),
		cmocka_unit_test(each_layout_comes_once_a_block),
		cmocka_unit_test(draws_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
