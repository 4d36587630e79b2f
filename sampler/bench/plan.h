/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The order in which `bench` makes its runs. A turn is one run of each arm, in random order: base, head and, with
 * --control, base once more. Over two turns without a control, each of both orders comes once, so that neither side
 * always runs on the machine that the other one has warmed. With several layouts each arm has every layout once in as
 * many turns, in an order of its own.
 */
enum bench_arm { BENCH_BASE, BENCH_HEAD, BENCH_CONTROL };
enum { BENCH_ARMS = 3, BENCH_MOST_LAYOUTS = 64 };

struct bench_plan {
	uint32_t layouts; /* 1: there is only one */
	bool has_control;
	uint64_t random; /* state */
	uint8_t orders[BENCH_ARMS][BENCH_MOST_LAYOUTS];
	int first; /* arm of an even turn */
};

struct bench_turn {
	size_t count;
	enum bench_arm arms[BENCH_ARMS]; /* in the order in which they run */
	uint32_t layouts[BENCH_ARMS];    /* [arm] counted from 1 */
};

void bench_plan_init(struct bench_plan *plan, uint32_t layouts, bool has_control, uint64_t seed);

/* Turns are asked for in their order, from 0 on. */
struct bench_turn bench_plan_turn(struct bench_plan *plan, uint64_t number);

/* Returns a number below `end`, by the plan's own chance. */
uint32_t bench_plan_draw(struct bench_plan *plan, uint32_t end);

/* Returns "base", "head", "the control". Static. */
const char *bench_arm_name(enum bench_arm arm);
