/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * The data that the statistics work on: rows (the whole, a function's self or total time, a node's total time) and, for
 * each side, the cost of each row in every unit of replication (a run, or a block of time).
 */

/* What a group of samples consists of, in shares of its time. */
struct mix {
	double compiled; /* functions whose time depends on what a compiler decides (tiers.h) */
	double changed;  /* functions whose code changed */
	double waits;
};

enum row_kind { ROW_WHOLE, ROW_SELF, ROW_TOTAL, ROW_NODE };

struct row {
	enum row_kind kind;
	uint32_t id;           /* function or node */
	bool changed;          /* its function's code differs, so it is tested in a family of its own */
	bool by_tier;          /* its time depends on what a compiler decides anew in every process (tiers.h) */
	const struct mix *mix; /* what it consists of, where it is a group of samples; NULL: a function */
	double waits;          /* the share of its time that is waits, which vary otherwise between starts */
	/*
	 * the first row of its group with the same values, such as a leaf's total and its self time; the row itself if
	 * there is none
	 */
	uint32_t twin;
};

struct experiment_side {
	size_t unit_count;
	double *values; /* [row * unit_count + unit] raw; owned */
	double *sums;   /* [row] sum over all units; owned */
	double *work;   /* [unit] requests answered in it (work.h); owned; NULL: costs are not compared per request */
	double sample_weight; /* mean raw value of a sample; 0 on both sides: not known */
};

struct experiment {
	struct row *rows; /* owned; row 0 is the whole, or all of a part */
	size_t row_count;
	struct experiment_side sides[DIFF_SIDES];
	double factor;          /* head's sums times this factor are comparable with base's */
	bool units_are_layouts; /* of code (layouts.h), else they are runs, blocks of time or processes */
	/*
	 * [row] this number of its samples is worth one of equal weights (weights.h); owned; NULL: all weights are
	 * equal
	 */
	double *design_effect;
	/*
	 * The whole that a part belongs to (basis.h): the values of the whole by unit, and its scaled sum of both
	 * sides. Borrowed.
	 */
	bool is_part;
	const double *whole[DIFF_SIDES];
	double whole_size;
};

/* The evidence of a row (weigh.h). Relative values are logarithms of head over base, both scaled. */
struct row_result {
	bool tested;
	double effect;    /* head over base, relative */
	double judged;    /* what p tests: the effect, less what all rows have in common */
	double low, high; /* 95 % interval of the effect */
	double variance;  /* of `judged`: that of a normal distribution with an interval of this width */
	double p, q;      /* q: NAN until adjusted */
	double samples[DIFF_SIDES];
	double part; /* of the whole, on the side where it is larger */
	/*
	 * The row is what the whole is, which is a question of its own, or was tested by others (measured.h): its q is
	 * p times this, and it is in no family. 0: it is one of its family
	 */
	double adjustment;
	double base, head; /* scaled sums */
};

void experiment_deinit(struct experiment *experiment);

static inline const double *experiment_values(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment->sides[side].values + row * experiment->sides[side].unit_count;
}

/* Returns whether the row is a node's. Nodes are tested as a group of their own, beside functions and the whole. */
static inline bool row_is_node(const struct row *row)
{
	return row->kind == ROW_NODE;
}

/*
 * Called when all values are set: sums them up, and finds rows with the same values, which are one test (fills twin).
 */
void experiment_finish(struct experiment *experiment);

/* Returns the whole that shares are of, by unit: row 0, unless the experiment is of a part. */
static inline const double *experiment_whole(const struct experiment *experiment, enum diff_side side)
{
	return experiment->is_part ? experiment->whole[side] : experiment_values(experiment, side, 0);
}

/* Returns the scaled sum of both sides of the whole. */
double experiment_whole_size(const struct experiment *experiment);

/* Returns whether a row has the values of the whole, as a function that everything runs in has. */
bool experiment_is_whole(const struct experiment *experiment, size_t row);

/* Returns the sum over a side's units. */
static inline double experiment_sum(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment->sides[side].sums[row];
}

/* Returns the raw value of one sample, as used for a row's counting noise. */
static inline double experiment_sample_weight(const struct experiment *experiment, enum diff_side side, size_t row)
{
	double weight = experiment->sides[side].sample_weight;

	return experiment->design_effect ? weight * experiment->design_effect[row] : weight;
}

/*
 * Returns the number of samples of equal weight that a side's row is worth; INFINITY if it is not known, so that
 * counting noise cannot be computed.
 */
static inline double experiment_samples(const struct experiment *experiment, enum diff_side side, size_t row)
{
	double sum = experiment_sum(experiment, side, row);

	return sum > 0 ? sum / experiment_sample_weight(experiment, side, row) : 0;
}

/* Writes the row's sums, base and head scaled, to `result`. */
void experiment_scale(const struct experiment *experiment, size_t row, struct row_result *result);
