/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One model of evidence: what is proven to differ between two sides of profiles.
 *
 * A row is anything that is compared: the total, a function, a place, a benchmark, a wait. In profile i it has k_i
 * samples for an amount of work w_i (requests, runs, iterations, else seconds):
 *
 *	k_i ~ Poisson(w_i exp(a + m_i + u_i + x_i d)),	x_i = 0 in base and 1 in head
 *
 * u_i is what a start of the program decides, normal with a standard deviation s that is not known: it has a prior on
 * a grid, which profiles of one side refine. m_i is what all rows have in common: e_i of a profile within its side, and
 * D of head. d is what the program changed: 0, or normal with a wide standard deviation. constants.h has the numbers.
 *
 * Samples are real numbers: time over the period, so that a weighted sample counts as what it is worth.
 */

enum evidence_class {
	EVIDENCE_OTHER,
	EVIDENCE_COMPILED, /* at run time, where each start inlines and optimises anew */
	EVIDENCE_WAITING,
	EVIDENCE_BENCHMARK, /* an iteration, which a harness repeats and times */
	EVIDENCE_BENCHMARK_COMPILED,
	EVIDENCE_EXACT,       /* counted by a simulator, of which nothing was sampled */
	EVIDENCE_EXACT_TOTAL, /* the same with all that it calls */
	/* All that a program does: its cost varies between starts by what all rows have in common. */
	EVIDENCE_TOTAL,
	EVIDENCE_TOTAL_COMPILED, /* where most code is compiled at run time */
	EVIDENCE_TOTAL_COMMAND,  /* of whole commands, from start to exit */
	EVIDENCE_TOTAL_SUITE,    /* of executions of a suite of benchmarks */
};
enum { EVIDENCE_CLASSES = 11, EVIDENCE_SPREADS = 15, EVIDENCE_KINDS = 4, EVIDENCE_SIDES = 2 };

/* What the profiles of one side have of a row. Arrays are borrowed. */
struct evidence_counts {
	const double *samples; /* [profile] */
	const double *work;    /* [profile] more than 0 */
	size_t count;          /* of profiles */
	const double *parts;   /* [profile] how far it counts, in (0, 1]; NULL: all do wholly */
};

struct evidence_row {
	enum evidence_class class;
	struct evidence_counts sides[EVIDENCE_SIDES];
	/* The second half of each recording; a count of 0: there is no time line. */
	struct evidence_counts late[EVIDENCE_SIDES];
	/*
	 * Of EVIDENCE_COMPILED: the row with what inlining leaves its time in, which is its caller and the callees that
	 * it shares with that; a count of 0: it is not known.
	 */
	struct evidence_counts conserved[EVIDENCE_SIDES];
	/* A side lacks the function, or a callee whose time it may have there: one may be inlined into the other. */
	bool is_inlined;
	/*
	 * Profile i of base and profile i of head were made one after the other, and share a factor, which is what the
	 * machine did to both. It cancels in their ratio.
	 */
	bool in_pairs;
	bool is_same_code;    /* the code that ran is the same on both sides: a control of the common factor */
	double part;          /* of EVIDENCE_EXACT and the like: of the whole, of which its spreads are parts */
	double further;       /* variance of the logarithm of the ratio that profiles do not show, as of placement */
	const double *priors; /* [spread] by evidence_learn_priors() and the like; NULL: those of the class; borrowed */
};

/* What all rows have in common. */
struct evidence_factor {
	double mean, variance; /* D: the logarithm by which head costs more, and how well that is known */
	double load;           /* the logarithm of head's work for each second over base's; 0: as much, or not known */
};

/* The evidence of one row. Values are natural logarithms of head over base, beyond the common factor. */
struct evidence {
	double samples[EVIDENCE_SIDES];
	double offset; /* the logarithm of the ratio that no change would have */
	double effect; /* as counted, with half a sample more where a side has none */
	/* How probable each spread is, by the prior and the profiles; what is left of 1 is what inlining explains. */
	double weights[EVIDENCE_SPREADS];
	double variance[EVIDENCE_SPREADS]; /* of `effect` beyond counting */
	double p;                          /* of no change, two-sided */
	bool is_exact;                     /* nothing was sampled: counts have no noise of that */
};

/* Weighs one row. Sides with no samples at all together have a p of 1. */
void evidence_weigh_row(
	const struct evidence_row *row, const struct evidence_factor *factor, struct evidence *evidence);

/*
 * Fills the samples and the work of a side whose profiles were measured, and not counted: a profile has as many samples
 * as the variances are worth, and the ratio of the sums is the geometric mean of the values, as far as each counts.
 * logarithms, variances of these, parts: [count]; variances NULL: nothing is known to make them inexact; parts as
 * evidence_counts.parts.
 */
void evidence_count_values(const double *logarithms, const double *variances, const double *parts, size_t count,
	double *samples, double *work);

/*
 * Multiplies the samples of both sides by one number, so that counting is no noise of them: how many samples a profile
 * has in all is no matter of chance, as which of them a function has is. samples: [side][profile]; counts: [side] of
 * profiles.
 */
void evidence_make_certain(double *const samples[EVIDENCE_SIDES], const size_t counts[EVIDENCE_SIDES]);

/*
 * Finds how far each profile of a row counts (evidence_counts.parts), [side][profile], or each pair of them: how
 * probable it is that nothing else disturbed the row in it, as another program does that runs for a while. A row of a
 * profile that was has a variance of its own (constants.h), so that one far from the others does not tell how these
 * vary.
 */
void evidence_find_disturbed(const struct evidence_row *row, double *parts[EVIDENCE_SIDES]);

/*
 * Fills the priors of spreads of rows of one class that were measured together, [row][spread], and makes them theirs:
 * those of the class, refined by what all other rows with several profiles show.
 */
void evidence_learn_priors(struct evidence_row *rows, size_t count, double (*priors)[EVIDENCE_SPREADS]);

/* The priors of spreads of a program that was simulated: of what functions have themselves, and with all they call. */
struct evidence_exact_priors {
	double self[EVIDENCE_SPREADS], total[EVIDENCE_SPREADS];
};

/*
 * Fills the priors of a program that was simulated: the mixture over kinds of programs, of which some repeat themselves
 * to the last digit and others do not. Each is as probable as rows of EVIDENCE_EXACT make it, none of which contains
 * another: by how far profiles of one side differ, and both sides, of which most functions did not change. Small parts
 * of the whole tell nothing.
 */
void evidence_learn_kind(const struct evidence_row *rows, size_t count, struct evidence_exact_priors *priors);

static inline bool evidence_is_exact(enum evidence_class class)
{
	return class == EVIDENCE_EXACT || class == EVIDENCE_EXACT_TOTAL;
}

/* Returns the logarithm of how much better a change explains a row's counts than none does. */
double evidence_gain(const struct evidence *evidence);

/* The 95 % interval of a row's change: quantiles of its posterior, on the logarithmic scale, so always possible. */
void evidence_interval(const struct evidence *evidence, double *low, double *high);

/* The same at the look of a number, so that the intervals of all looks together hold the change. */
void evidence_interval_at_look(const struct evidence *evidence, unsigned int look, double *low, double *high);

/*
 * Returns how many profiles a side prove a change of `effect`, a logarithm, in 80 % of tries, where a row is found at a
 * p of `level`: at each spread by the variance that it has with so many, and by their probabilities. 0: more than
 * `most`.
 */
size_t evidence_profiles_needed(
	const struct evidence_row *row, const struct evidence *evidence, double effect, double level, size_t most);

/* The variance of a row's effect has four sources. */
struct evidence_parts {
	double counting; /* of samples: less in longer recordings */
	double starts;   /* between starts of an unchanged program: less in more of them */
	double load;     /* what another load does, or one that nobody knows */
	double session;  /* that one side was made before the other */
};

/* ---- Common factors ---- */

/* What is known of head's load before any row is looked at. */
struct evidence_load {
	double change;              /* as evidence_factor.load */
	double variance;            /* of that; 0: the work of both sides was counted */
	bool is_flat;               /* nothing but the rows decides */
	bool is_apart;              /* all profiles of one side were made before those of the other */
	enum evidence_class totals; /* EVIDENCE_TOTAL and the like */
	/*
	 * The factors of the profiles as a row of that class, which tells how far the machine varies from one to the
	 * next; NULL: they tell none. Borrowed.
	 */
	const struct evidence_row *total;
};

/* Returns the variance of the logarithm of a load that nobody knows (evidence_load.variance). */
double evidence_unknown_load_variance(void);

/* Returns that of a change of a program, which what rows have in common may be instead of a load. */
double evidence_change_variance(void);

/*
 * Finds the factor of each profile within its side, as logarithms: factors[side][profile]. Rows are self times, none
 * of which contains another. Returns whether any row told one; false: all are 0.
 */
bool evidence_profile_factors(const struct evidence_row *rows, size_t count, double *factors[EVIDENCE_SIDES]);

/* Finds D from rows of self times. Returns how many of them had samples enough to tell it. */
size_t evidence_common_factor(const struct evidence_row *rows, size_t count, const struct evidence_load *load,
	struct evidence_factor *factor);

/* The factor that a total is judged by: what its load makes of it, since D is what is asked there. */
struct evidence_factor evidence_factor_of_load(const struct evidence_load *load);

/* Returns the parts of the variance of a total that is judged by that factor. */
struct evidence_parts evidence_parts_of_total(const struct evidence_row *row, const struct evidence_load *load);

/* ---- Latencies ---- */

/*
 * Returns the p of no change of a quantile of latencies. effect: the logarithm of head's over base's, with its sampling
 * variance; is_tail: of the rare ones, such as p99; load: as evidence_factor.load.
 */
double evidence_latency_p(double effect, double variance, bool is_tail, double load);

/* ---- Families ---- */

/*
 * Returns whether a row is tested at all. samples: of both sides together; part: its share of the side where that is
 * larger.
 */
bool evidence_is_hypothesis(double samples, double part);

/*
 * Returns by what the p of the total, or of a latency, is multiplied: each is a question of its own beside that of all
 * functions.
 */
double evidence_question_adjustment(void);

/*
 * Returns by what the p at the look of a number is multiplied, from 1 on, where profiles go on to be made until what is
 * seen of them decides: 0: there is no other look. Looks together keep the rate, whichever is the last (a union bound
 * with weights of 1 / (k (k + 1)), which add up to 1).
 */
double evidence_look_adjustment(unsigned int look);

/* A test of a family of tests. */
struct evidence_member {
	double p;
	double samples[EVIDENCE_SIDES]; /* members with equal ones are one hypothesis, with the greatest p of them */
	double part;                    /* of a side: its weight */
	double q;                       /* out: the false discovery rate at which it is found, at least p */
};

/*
 * Fills q by the procedure of Benjamini and Hochberg (1995) with weights (Genovese, Roeder and Wasserman 2006): what a
 * program spends most of its time in is asked first.
 */
void evidence_family(struct evidence_member *members, size_t count);

/* ---- Series of profiles ---- */

/*
 * Profiles of one program in order of time: between which two of them did a row begin to cost more or less?
 *
 * The position of a change is a parameter of the model. The evidence of one position is that of a comparison
 * (evidence_weigh_row()) of all profiles before it with all behind it, back to the row's change before and on to the
 * next one. Positions have probabilities, which add up to 1: a change is more likely where something is known to have
 * begun, and where other functions changed. A position that was looked for pays for that: its p is divided by its
 * probability. Positions at which a row's own code changed are a question of their own, as in a comparison: they pay
 * for each other alone, and rows are a family with those whose code changed too.
 *
 * A single profile on one side tells a change only where something is known to have begun with it, or where it is the
 * newest, which may be the first one of a change. Elsewhere three do, and two at the beginning.
 */

struct evidence_series {
	size_t count; /* of profiles */
	/* [profile] factors that the rows' work has in common (evidence_profile_factors()); NULL: of a load */
	const double *factors;
	const double *loads;        /* [profile] the logarithm of the work for each second; NULL: it is not known */
	const uint32_t *starts;     /* [profile] which start of the program it is of; those of one follow each other */
	const bool *is_known;       /* [profile] something is known to have begun with it: a deploy, a start */
	const bool *is_barred;      /* [profile] no change is looked for before it */
	const double *samples;      /* [profile] of all that the program did */
	enum evidence_class totals; /* EVIDENCE_TOTAL and the like */
};

/* A row over all profiles. Arrays are borrowed. */
struct evidence_series_row {
	enum evidence_class class;
	const double *samples;  /* [profile] */
	const double *work;     /* [profile] more than 0, times the common factor; that of a total without */
	uint32_t group;         /* rows of one function have the same, and follow each other */
	const bool *is_changed; /* [profile] its code is known to be another one than before; NULL: in none */
	bool is_self;           /* none of its time is that of another such row */
	bool is_total;          /* all that the program did, which is a question of its own; its counts are certain */
};

/* Profiles [from, at) and [at, to) of a row. */
struct evidence_split {
	size_t from, at, to;
};

/* A proven change. The logarithms are of what is behind it over what is before it, beyond the common factor. */
struct evidence_change {
	uint32_t row;
	struct evidence_split split;
	double p; /* of the split, with what the search for its position costs */
	double q; /* the false discovery rate over all rows and positions */
	double effect, low, high;
};

/*
 * Finds the changes of all rows that are proven at a false discovery rate, in order of rows and time. Changes share
 * their positions' probabilities, found by expectation maximisation. `changes` is owned by the caller. Returns their
 * number.
 */
size_t evidence_series_search(const struct evidence_series *series, const struct evidence_series_row *rows,
	size_t count, double rate, struct evidence_change **changes);

/*
 * Weighs the newest profile of each row alone, against all since changes[row].split.from: p and q are those of a
 * comparison. Fills changes: [row].
 */
void evidence_series_newest(const struct evidence_series *series, const struct evidence_series_row *rows, size_t count,
	struct evidence_change *changes);

/*
 * Weighs a split as the comparison of its sides. Profiles of one start share what that decided, so that they are one
 * where starts are compared, and their own within one.
 */
void evidence_weigh_split(const struct evidence_series *series, const struct evidence_series_row *row,
	const struct evidence_split *split, struct evidence *evidence);

/*
 * Weighs two stretches of profiles that need not follow each other; the one of `base` lies before. Returns how much
 * better a change explains them than none (evidence_gain()).
 */
double evidence_gain_between(const struct evidence_series *series, const struct evidence_series_row *row,
	const size_t base[2], const size_t head[2]);

/*
 * Returns whether a straight line of the logarithm explains a row better than the changes at `ats`, by the criterion of
 * Schwarz (1978). Finds the logarithm of the cost of one unit of work at both ends.
 */
bool evidence_is_trend(const struct evidence_series *series, const struct evidence_series_row *row, const size_t *ats,
	size_t count, double *first, double *last);
