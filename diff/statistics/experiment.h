/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * What the statistics see of a comparison: rows (the whole, a function's self or total time, a node's total time) and,
 * on either side, what each row cost in every unit of replication (a run, or a block of time).
 */

enum row_kind { ROW_WHOLE, ROW_SELF, ROW_TOTAL, ROW_NODE };

struct row {
	enum row_kind kind;
	uint32_t id;  /* function or node */
	bool changed; /* its function's code differs: tested in a family of its own */
	bool control; /* self time of a function whose code is the same */
	bool by_tier; /* how much of it a process has is decided by what is compiled at run time, anew in every process
			 (floor.h) */
	/* Of the logarithm of head over base, by what lies outside the program: */
	double load_variance;    /* how uncertain the load factor is (load.h) */
	double machine_variance; /* what the machine's other work did beside interrupting it (units.c) */
	uint32_t twin; /* the first row of its group with the very same values, as a leaf's total and its self time;
			  itself: none */
};

struct experiment_side {
	size_t unit_count;
	double *values;       /* [row * unit_count + unit] raw; owned */
	double *sums;         /* [row] of all units; owned */
	double sample_weight; /* mean raw value of a sample; 0: not known, on either side */
};

struct experiment {
	struct row *rows; /* owned; row 0 is the whole */
	size_t row_count;
	struct experiment_side sides[DIFF_SIDES];
	double factor;          /* head's sums times this are comparable with base's */
	bool whole_is_measured; /* all the noise of the whole is what runs differ by: the factor is given */
	bool has_modes;         /* processes of the program run in one of several ways: compiled at run time */
	bool in_turn;           /* the runs of both sides were made in turn: what the machine did meanwhile met both */
	double *design_effect;  /* [row] so many of its samples are worth one of equal weights (weights.h); owned; NULL:
				   they are  equal */
};

/* What the model says of a row. Relative values are logarithms of head over base, both scaled. */
struct row_result {
	bool tested;
	double effect; /* head over base, relative */
	double judged; /* what p is about: the effect beside what all functions follow of the machine's speed; as a rule
			  the same */
	double variance;        /* of judged */
	double common_variance; /* of effect beyond that: what the machine's speed may have done to all functions alike
				 */
	double freedom;         /* degrees of freedom of the variance; INFINITY where it is known */
	double p, q;            /* q: NAN until adjusted */
	double base, head;      /* scaled sums */
	double small_error;     /* absolute standard error, where counts are too small for a relative one; 0 else */
};

void experiment_deinit(struct experiment *experiment);

/* Of the logarithm of head over base, by all that lies outside the program. */
static inline double row_outer_variance(const struct row *row)
{
	return row->load_variance + row->machine_variance;
}

static inline const double *experiment_values(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment->sides[side].values + row * experiment->sides[side].unit_count;
}

/* Nodes are tested as a group of their own, beside functions and the whole. */
static inline bool row_is_node(const struct row *row)
{
	return row->kind == ROW_NODE;
}

/* When all values are there: sums them up and finds rows with the very same ones, which are one test, not two (fills
 * twin). */
COMMON_MUST_CHECK
bool experiment_finish(struct experiment *experiment, struct error *err);

/* Sum over a side's units. */
static inline double experiment_sum(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment->sides[side].sums[row];
}

/* The raw value of one sample, as far as a row's noise of counting goes. */
static inline double experiment_sample_weight(const struct experiment *experiment, enum diff_side side, size_t row)
{
	double weight = experiment->sides[side].sample_weight;

	return experiment->design_effect ? weight * experiment->design_effect[row] : weight;
}

/* How many samples of equal weight a side's row is worth; INFINITY where nobody knows: no noise of counting can be
 * computed. */
static inline double experiment_samples(const struct experiment *experiment, enum diff_side side, size_t row)
{
	double sum = experiment_sum(experiment, side, row);

	return sum > 0 ? sum / experiment_sample_weight(experiment, side, row) : 0;
}

/* The row's sums, base and head scaled, into `result`. */
void experiment_scale(const struct experiment *experiment, size_t row, struct row_result *result);
