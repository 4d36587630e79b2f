/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The model by which the estimated cycles of a simulation are made from its counts: the model of `kelvin simulate`.
 * Real processors overlap what is added up here; the figures are the latencies of today's server processors in cycles
 * (L2 about 14, of which a pipeline hides some; memory 80 to 100 ns at 2 GHz or more). CodSpeed's CPU simulation has no
 * public constants; callgrind's users compute 10 and 100, iai-callgrind 5 and 35.
 */
enum {
	COST_MODEL_FIRST_MISS_CYCLES = 12,  /* an access that misses a first-level cache and hits the last one */
	COST_MODEL_LAST_MISS_CYCLES = 150,  /* an access that goes to memory */
	COST_MODEL_BRANCH_MISS_CYCLES = 12, /* a branch that was predicted wrong */
	COST_MODEL_QUARTERS = 2,            /* quarter cycles of an instruction that is not dearer: two a cycle */
	COST_MODEL_SYSTEM_GHZ = 3, /* cycles of a nanosecond in the kernel: only to weigh it, never in `cycles` */
};

/* Value types of a simulation, beside samples/count. All but the last have the unit "count". */
#define COST_MODEL_CYCLES "cycles" /* estimated; the default metric */
#define COST_MODEL_INSTRUCTIONS "instructions"
#define COST_MODEL_FIRST_MISSES "l1-misses"
#define COST_MODEL_LAST_MISSES "ll-misses"
#define COST_MODEL_BRANCH_MISSES "branch-misses"
#define COST_MODEL_SYSTEM_CALLS "system-calls"
#define COST_MODEL_SYSTEM "system" /* nanoseconds */

/*
 * Returns the estimated cycles of one function, node or instruction. `quarters`: the sum of its instructions' quarter
 * cycles. `last_misses` are part of `first_misses`.
 */
static inline int64_t cost_model_cycles(
	int64_t quarters, int64_t first_misses, int64_t last_misses, int64_t branch_misses)
{
	return quarters / 4 + COST_MODEL_FIRST_MISS_CYCLES * (first_misses - last_misses) +
	       COST_MODEL_LAST_MISS_CYCLES * last_misses + COST_MODEL_BRANCH_MISS_CYCLES * branch_misses;
}
