/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/suite/work.h"

/*
 * The variation that executions have in common. A processor that is slow for a while, or another program beside the
 * suite, makes all benchmarks of an execution slower together. An execution's effect is the median over benchmarks of
 * how far each is from its mean over executions (Tukey's median polish, one sweep); the effects of a series add up to
 * 0, so that they change no benchmark's mean. With fewer than 5 benchmarks they are 0: what is common is then left in
 * each of them.
 *
 * A series has one value for each execution: with pairs there is one series, of the differences between head and base;
 * else there is one for each side.
 */
struct effects_series {
	double *effects;      /* owned: [execution] */
	uint32_t *executions; /* owned: those in which any benchmark has a value, in order */
	size_t count;         /* of these */
};

struct suite_effects {
	const struct suite_work *work; /* borrowed */
	bool has_layouts;              /* both sides have several, which are the units */
	bool of_cpu;                   /* the values are CPU times, where all of a benchmark are known */
	struct effects_series series[DIFF_SIDES];
	size_t series_count;      /* 1: executions are compared in pairs; 2: side by side */
	size_t most_points;       /* of a benchmark in a series */
	double variance, freedom; /* of the effects; 0: there are none */
};

/* A value of a benchmark. */
struct effects_point {
	double value;       /* logarithm, less the effect of its execution */
	double variance;    /* by what was seen within its execution */
	uint32_t execution; /* with several layouts a side: the layout, whose value is the mean of its executions */
};

void effects_estimate(const struct suite_work *work, bool of_cpu, struct suite_effects *effects);
void effects_deinit(struct suite_effects *effects);

/* Returns whether a benchmark has values to compare: a pair, or values on both sides. */
bool effects_has(const struct suite_effects *effects, uint32_t benchmark);

/* Writes the points of a benchmark in a series, and returns their number; at most `most_points`. */
size_t effects_points(
	const struct suite_effects *effects, uint32_t benchmark, size_t series, struct effects_point *points);
