/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/fitted.h"
#include "diff/evidence/normal.h"

/*
 * Every number that decides what is proven. Each says its unit, what it is fitted to, and where it is a convention.
 * scripts/calibrate fits those of fitted.h. Those marked "earlier" were fitted to recordings of other services, before
 * these, which are not kept here.
 */

/* The standard deviations, of logarithms, that the costs of a row may have between starts of an unchanged program. */
enum { EVIDENCE_OTHER_SPREADS = 9 };
static const double evidence_spreads[EVIDENCE_OTHER_SPREADS] = { .005, .02, .05, .1, .2, .4, .8, 1.6, 3 };

/*
 * Those of benchmarks, of which a harness times many iterations: closer to each other, as nothing is counted, and so a
 * few executions tell them.
 */
static const double evidence_benchmark_spreads[EVIDENCE_SPREADS] = { .002, .003, .0045, .007, .01, .015, .023, .034,
	.05, .075, .11, .17, .3, .6, 1.5 };

/*
 * Those of counts that a simulator made, as parts of the whole: what differs between runs of an unchanged program, by
 * the seeds of its hashes, addresses, threads, or its environment, is an amount that does not grow with a function.
 */
static const double evidence_exact_spreads[EVIDENCE_SPREADS] = { 1e-9, 1e-7, 1e-6, 5e-6, 2e-5, 5e-5, 1e-4, 2e-4, 4e-4,
	8e-4, .002, .005, .012, .03, .1 };
/* The largest spread that such an amount is of a function: twenty times more or less. */
static const double evidence_exact_most_spread = 3;

static inline bool evidence_is_of_benchmarks(enum evidence_class class)
{
	return class == EVIDENCE_BENCHMARK || class == EVIDENCE_BENCHMARK_COMPILED || class == EVIDENCE_TOTAL_SUITE;
}

/* Returns the spreads that rows of a class may have. */
static inline const double *evidence_spreads_of(enum evidence_class class)
{
	return evidence_is_of_benchmarks(class) ? evidence_benchmark_spreads
	       : evidence_is_exact(class)       ? evidence_exact_spreads
						: evidence_spreads;
}

/* Returns how many of them there are; the others have no probability. */
static inline int evidence_spread_count(enum evidence_class class)
{
	return evidence_is_of_benchmarks(class) || evidence_is_exact(class) ? EVIDENCE_SPREADS : EVIDENCE_OTHER_SPREADS;
}

/* The prior of rows that were measured together is worth as much as so many of them: a convention. */
static const double evidence_known_rows = 4;

/* Clocks and rounding make values equal that are not: a smaller relative variance is not believed. */
static const double evidence_least_variance = 1e-8;

/*
 * The part of all executions in which something else disturbs a benchmark, as another program does for a while, and the
 * standard deviation of the logarithm of what it then takes: conventions.
 */
static const struct {
	double part, sd;
} evidence_disturbances = { .01, 1 };

/* How probable it is that the profiles of a pair have a factor, beside which others of their sides vary: a convention.
 */
static const double evidence_pair_factor = .5;

/* The standard deviation of the logarithm of a change that a program made: a convention, 4.5 times more or less. */
static const double evidence_change_sd = 1.5;

/* That of the prior of an interval, which is nearly flat, so that one exists where a side has no samples. */
static const double evidence_interval_sd = 4;

/* The standard deviation of the logarithm of a load that nobody knows: a convention, 3 times more or less in 19 of 20.
 */
static const double evidence_unknown_load_sd = .6;

/*
 * Where all profiles of one side were made before those of the other, those of one side do not show what the machine
 * did in between: the standard deviation of the logarithm of that.
 */
static const double evidence_session_sd = .03;

/* The part of a common factor by which rows follow it differently: earlier, the spread of rows at other loads. */
static const double evidence_follow = .4;

/*
 * The probability that only the second half of a recording shows what a program costs, as start-up is in the first: a
 * convention.
 */
static const double evidence_late = .1;
/* The part of a total's test that its second half has: a convention. */
static const double evidence_late_total = .3;

/*
 * The logarithm of a median latency varies between starts with this standard deviation, and with `load` times the
 * change of the logarithm of the load; in `wide_part` of all pairs with the other one: neighbours, disks. Earlier; that
 * the tail of a distribution, which holds what is rare, varies twice as much is a convention.
 */
static const struct {
	double sd, load, wide_part, wide_sd, tail;
} evidence_latencies = { .37, .6, .1, 1, 2 };

/*
 * The least p of a function compiled at run time that one side does not have at all, where its callers cost the same:
 * earlier, restarts of node.
 */
static const double evidence_inlined = .03;
/* Such a function's spreads from here on are of what a compiler decides, which leaves the time in its callers. */
static const double evidence_inlining_spread = .8;

/* Rows with fewer samples, or a smaller part of either side, are no hypotheses: conventions. */
static const double evidence_least_samples = 8, evidence_least_part = .01;
/*
 * The total, and the latency of requests, are questions of their own beside that of all functions: they are proven to
 * differ below this p: a convention. With 5 % for functions, 8 % of unchanged pairs may show something, and 13 % where
 * functions whose code differs are a family of their own.
 */
static const double evidence_total_rate = .03;

/* Counts of at least this many on both sides have the normal distribution of their logarithms. */
static const double evidence_normal_samples = 50;
/* Rows with fewer samples do not tell the common factor; nor those with fewer in each profile that of a profile. */
static const double evidence_factor_samples = 10, evidence_profile_samples = 20;
/* How probable it is that a row did not change, before it tells the common factor; and one of the same code:
 * conventions. */
static const double evidence_factor_same = .7, evidence_factor_same_code = .97;
/* How probable it is that a change of the program is one of all benchmarks alike, beside the machine: a convention. */
static const double evidence_factor_shared = .05;
/* Rows of one program are not independent: as many as this count for one factor, and fewer tell none of a profile. */
static const double evidence_factor_rows = 6;

/* Returns what each of so many rows of a program counts for, which are not independent. */
static inline double evidence_temper(size_t rows)
{
	return rows > 0 ? fmin(1, sqrt(evidence_factor_rows / (double)rows)) : 1;
}

/* Returns the density of a difference that is 0 with a probability of `same`, and else a change, beside a variance. */
static inline double evidence_change_density(double difference, double variance, double same)
{
	return same * evidence_density(difference, variance) +
	       (1 - same) * evidence_density(difference, variance + evidence_square(evidence_change_sd));
}

/*
 * Functions of a simulated program tell its kind where they have at least this part of it: what starts a program varies
 * with its environment, and is small. A convention.
 */
static const double evidence_kind_part = .001;

/*
 * Over a series of profiles: how many times as probable a change is where something is known to have begun, as at
 * another profile; how many changes a program has that no row shows yet, which keep positions possible that none has;
 * how many rows changed and did not, as the prior of the part of rows that did; and how many of those changed bit by
 * bit: conventions.
 */
static const double evidence_known_position = 10, evidence_other_changes = 2;
static const struct {
	double changed, same;
} evidence_changed_prior = { 1, 19 };
static const double evidence_trend_part = .05;
