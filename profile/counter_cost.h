/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/cost_model.h"

/*
 * Finds a program's bottleneck from the counters of a real processor: what was counted between two samples, divided
 * into components. A processor issues a fixed number of operations in a cycle, its slots; counters tell what became of
 * them ("top-down analysis", A. Yasin, ISPASS 2014). Where it has none of those, cycles take the place of slots.
 */

/* Value types of what is counted, with their unit. */
#define COUNTER_COST_SLOTS "slots"                        /* slots: all of them */
#define COUNTER_COST_RETIRING "retiring"                  /* slots: used by operations that were of use */
#define COUNTER_COST_BAD_SPECULATION "bad-speculation"    /* slots: used by those that were thrown away */
#define COUNTER_COST_FRONTEND "frontend-bound"            /* slots: empty, since no instruction was ready */
#define COUNTER_COST_BACKEND "backend-bound"              /* slots: empty, since data or units were waited for */
#define COUNTER_COST_CYCLES COST_MODEL_CYCLES             /* count */
#define COUNTER_COST_FIRST_MISSES COST_MODEL_FIRST_MISSES /* count */
#define COUNTER_COST_LAST_MISSES COST_MODEL_LAST_MISSES   /* count */

/*
 * Value types of the components, in slots, or in cycles where those take their place; the rest executes instructions.
 */
#define COUNTER_COST_CACHE "cache-bound"   /* waited for data of a cache beyond the first */
#define COUNTER_COST_MEMORY "memory-bound" /* waited for data of the memory */
#define COUNTER_COST_SYSTEM "system-bound" /* all of it, where the kernel ran */

/* Classes of fewer samples are chance: what one sample is charged was counted by whatever ran since the one before. */
enum { COUNTER_COST_LEAST_SAMPLES = 50 };

/* The counters that decide the components. */
enum counter_cost_input {
	COUNTER_COST_ALL,           /* slots, or cycles */
	COUNTER_COST_BACKEND_SLOTS, /* of `all`: waited for data or units */
	COUNTER_COST_DATA_SLOTS,    /* of `all`: waited for data */
	COUNTER_COST_STALLS,        /* cycles in which nothing was executed */
	COUNTER_COST_DATA_STALLS,   /* those that waited for data */
	COUNTER_COST_LAST_STALLS,   /* those that waited for data of the memory */
	COUNTER_COST_FIRST,         /* loads that missed the first cache */
	COUNTER_COST_LAST,          /* loads that missed the last cache */
	COUNTER_COST_NO_INPUT,
};
enum { COUNTER_COST_INPUTS = COUNTER_COST_NO_INPUT };

struct counter_cost {
	double values[COUNTER_COST_INPUTS];
	bool has[COUNTER_COST_INPUTS]; /* it is counted here */
};

/* Components of `all`; the rest executes instructions. */
struct counter_cost_components {
	double cache, memory;
};
struct counter_cost_components counter_cost_components(const struct counter_cost *cost);
