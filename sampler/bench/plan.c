/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/plan.h"

void bench_plan_init(struct bench_plan *plan, uint32_t layouts, bool has_control, uint64_t seed)
{
	*plan = (struct bench_plan){ .layouts = layouts, .has_control = has_control, .random = seed };
}

/* splitmix64 (Steele, Lea and Flood 2014). */
uint32_t bench_plan_draw(struct bench_plan *plan, uint32_t end)
{
	uint64_t x = plan->random += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (uint32_t)(x % end);
}

static void shuffle(struct bench_plan *plan, uint8_t *order)
{
	for (uint32_t i = 0; i < plan->layouts; i++) {
		uint32_t at = bench_plan_draw(plan, i + 1);

		order[i] = order[at];
		order[at] = (uint8_t)i;
	}
}

static void choose_arms(struct bench_plan *plan, uint64_t number, struct bench_turn *turn)
{
	turn->count = plan->has_control ? BENCH_ARMS : 2;
	for (size_t i = 0; i < turn->count; i++)
		turn->arms[i] = (enum bench_arm)i;
	if (plan->has_control) {
		for (size_t i = turn->count - 1; i > 0; i--) {
			size_t at = bench_plan_draw(plan, (uint32_t)i + 1);
			enum bench_arm arm = turn->arms[i];

			turn->arms[i] = turn->arms[at];
			turn->arms[at] = arm;
		}
		return;
	}
	if (number % 2 == 0)
		plan->first = (int)bench_plan_draw(plan, 2);
	turn->arms[0] = (enum bench_arm)(plan->first ^ (int)(number % 2));
	turn->arms[1] = (enum bench_arm)(1 - turn->arms[0]);
}

struct bench_turn bench_plan_turn(struct bench_plan *plan, uint64_t number)
{
	struct bench_turn turn = { 0 };
	uint32_t at = (uint32_t)(number % plan->layouts);

	for (int arm = 0; at == 0 && arm < BENCH_ARMS; arm++)
		shuffle(plan, plan->orders[arm]);
	choose_arms(plan, number, &turn);
	for (int arm = 0; arm < BENCH_ARMS; arm++)
		turn.layouts[arm] = plan->orders[arm][at] + 1u;
	return turn;
}

const char *bench_arm_name(enum bench_arm arm)
{
	static const char *const names[BENCH_ARMS] = { "base", "head", "the control" };

	return names[arm];
}
