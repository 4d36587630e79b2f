/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence_single.h"

#include "diff/statistics/modes.h"
#include "diff/statistics/small.h"
#include "diff/statistics/tails.h"
#include "diff/statistics/units.h"

#include <math.h>

/* An estimated relative standard deviation between processes, and its degrees of freedom: INFINITY if it is assumed. */
struct floor_guess {
	double rsd, freedom;
};

/*
 * Share of the whole time. A function of this share is assumed to vary by the square root of 2 more than a large one.
 */
static const double small_share = 0.005;

/* The relative variance of a side's sum by the delete-one jackknife on its blocks. */
static double jackknife(const struct experiment *experiment, enum diff_side side, size_t row, bool as_share)
{
	const double *values = experiment_values(experiment, side, row),
		     *sizes = experiment_values(experiment, side, 0);
	size_t blocks = experiment->sides[side].unit_count;
	double n = (double)blocks, sum = experiment_sum(experiment, side, row),
	       size = experiment_sum(experiment, side, 0);
	double estimates[UNITS_MAX_BLOCKS], mean = 0, squares = 0;

	if (blocks < 2 || !(sum > 0))
		return 0;
	for (size_t block = 0; block < blocks; block++) {
		double left = as_share ? size - sizes[block] : n - 1, all = as_share ? size : n;

		estimates[block] = left > 0 ? (sum - values[block]) / left / (sum / all) : 0;
		mean += estimates[block] / n;
	}
	for (size_t block = 0; block < blocks; block++)
		squares += (estimates[block] - mean) * (estimates[block] - mean);
	return (n - 1) / n * squares;
}

/*
 * The relative standard deviation of the whole between processes. Functions vary independently, so the whole varies
 * less than they do: by the root of the sum of the squares.
 */
static double whole_floor(const struct experiment *experiment, const struct process_floor *floor)
{
	struct row_result whole, part;
	double squares[] = { 0, 0 }, waits = 0;

	experiment_scale(experiment, 0, &whole);
	for (size_t row = 1; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];
		double share;

		if (r->kind != ROW_SELF)
			continue;
		experiment_scale(experiment, row, &part);
		share = (part.base + part.head) / (whole.base + whole.head);
		squares[r->by_tier && floor->by_tier > 0] += pow(share * (1 - r->waits), 2);
		waits += pow(share * r->waits, 2);
	}
	return sqrt(pow(floor->others, 2) * fmin(squares[0], 1) + pow(floor->by_tier, 2) * fmin(squares[1], 1) +
		    pow(floor->waits, 2) * fmin(waits, 1));
}

static double share_of(const struct row_result *whole, const struct row_result *row)
{
	return (row->base + row->head) / (whole->base + whole->head);
}

/*
 * The floor for a row: small functions vary more, because the placement of code decides on which of two neighbouring
 * instructions a sample lands, and a function of few instructions gains or loses much of its time by that.
 */
static double floor_at(const struct row_result *whole, const struct row_result *row, double floor)
{
	return floor * sqrt(1 + small_share / share_of(whole, row));
}

/* The variance of a row within its recordings, relative to the row. */
struct spread {
	double own;    /* variance of the logarithm of head over base */
	double excess; /* the part of it beyond counting noise */
	double parts;  /* sum for the degrees of freedom (Satterthwaite 1946) */
};

static struct spread single_measure_spread(const struct experiment *experiment, size_t row, bool as_share)
{
	struct spread spread = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++) {
		double samples = experiment_samples(experiment, side, row);
		double counting = samples > 0 ? 1 / samples : 0,
		       own = fmax(jackknife(experiment, side, row, as_share), counting);

		spread.own += own;
		spread.excess += own - counting;
		if (experiment->sides[side].unit_count > 1)
			spread.parts += own * own / ((double)experiment->sides[side].unit_count - 1);
	}
	return spread;
}

/* The variance from outside the program. For functions of changed code the floor includes it already. */
static double outside(const struct row *row)
{
	return row->changed ? row->load_variance : row_outer_variance(row);
}

static void test_row(const struct experiment *experiment, size_t row, const struct spread *spread,
	const struct floor_guess *floor, struct row_result *result)
{
	double between = 2 * floor->rsd * floor->rsd, outer = outside(&experiment->rows[row]);
	double variance = between + outer + spread->own, parts = spread->parts + between * between / floor->freedom;

	/* Each side has one number made of an unknown number of samples: nothing can be tested. */
	if (!(experiment->sides[DIFF_BASE].sample_weight > 0))
		return;
	if (small_counts(experiment, row)) {
		small_test(experiment, row, between + outer + spread->excess, result);
		return;
	}
	result->tested = true;
	result->effect = result->judged = log(result->head / result->base);
	result->variance = variance;
	result->freedom = parts > 0 ? variance * variance / parts : INFINITY;
	result->p = tail_two_sided(result->effect / sqrt(variance), result->freedom);
}

/* ---- The floor of functions whose code changed ---- */

/*
 * A function of unchanged code: its difference, and the variance that its recordings explain. Small functions are left
 * out, and the others are assumed to vary alike, so that their floor is too high rather than too low.
 */
struct control {
	double squared, own;
};

static size_t collect_controls(const struct experiment *experiment, const struct spread *spreads,
	const struct row_result *results, struct control *controls)
{
	size_t count = 0;

	for (size_t row = 1; row < experiment->row_count; row++) {
		if (!experiment->rows[row].control || experiment->rows[row].by_tier || small_counts(experiment, row) ||
			share_of(&results[0], &results[row]) < small_share)
			continue;
		double effect = log(results[row].head / results[row].base);

		controls[count++] = (struct control){ effect * effect, spreads[row].own };
	}
	return count;
}

/*
 * One step of an M-estimate of scale (Huber 1981, proposal 2): the variance between processes that explains the
 * differences of the controls. Differences beyond `most_sigmas` count as if they were that large, since some functions
 * really take more time. The prior is worth `prior_freedom` controls.
 */
static struct floor_guess refine_once(const struct control *controls, size_t count, double prior, double now)
{
	static const double most_sigmas = 4, prior_freedom = 3;
	double top = 0, bottom = 0, freedom, variance;
	struct floor_guess guess;

	for (size_t i = 0; i < count; i++) {
		const struct control *c = &controls[i];
		double all = 2 * now * now + c->own;
		double squared = fmin(c->squared, most_sigmas * most_sigmas * all);

		top += (squared - c->own) / (all * all);
		bottom += 2 / (all * all);
	}
	/* A control without noise of its own adds one degree of freedom. */
	freedom = 2 * pow(now, 4) * bottom;
	variance = bottom > 0 ? fmax(0, top / bottom) : 0;
	guess.freedom = prior_freedom + freedom;
	guess.rsd = sqrt((prior_freedom * prior * prior + freedom * variance) / guess.freedom);
	return guess;
}

/*
 * Estimates the floor of functions whose code changed from those whose code is the same: the placement of code and
 * data, scheduling and other work on the machine affect both. Without controls, the estimate is `assumed`, and what the
 * interrupts show of that other work.
 */
static bool refine_floor(const struct experiment *experiment, const struct spread *spreads, double assumed,
	const struct row_result *results, struct floor_guess *guess, struct error *err)
{
	double prior = sqrt(assumed * assumed + experiment->rows[0].machine_variance / DIFF_SIDES);
	enum { STEPS = 20 };
	CLEANUP(cleanup_free) struct control *controls = malloc((experiment->row_count + 1) * sizeof(*controls));
	size_t count;

	if (!controls)
		return error_set_memory(err);
	count = collect_controls(experiment, spreads, results, controls);
	*guess = (struct floor_guess){ prior, INFINITY };
	for (int step = 0; step < STEPS && count > 0; step++)
		*guess = refine_once(controls, count, prior, guess->rsd);
	return true;
}

/* The floor of a row, by its waits and its size; `guess` is that of a large one without waits. */
static struct floor_guess floor_of_row(const struct row *row, struct floor_guess guess,
	const struct process_floor *floor, const struct row_result *whole, const struct row_result *result)
{
	if (row->waits > 0)
		guess.rsd = hypot((1 - row->waits) * guess.rsd, row->waits * floor->waits);
	guess.rsd *= floor_at(whole, result, 1);
	return guess;
}

/*
 * Tests a row that depends on what a run-time compiler decides. It varies between processes by the floor `by_tier` as
 * far as decisions move time (modes.h); what lies beyond varies by the floor `compiled`.
 */
static void test_tiered(const struct experiment *experiment, size_t row, const struct spread *spread,
	const struct floor_guess *by_tier, const struct floor_guess *compiled, struct row_result *result)
{
	struct row_result beyond = modes_without_shift(*result, experiment->rows[row].shift), tiered = *result;

	test_row(experiment, row, spread, by_tier, &tiered);
	if (beyond.head == beyond.base) {
		*result = tiered;
		return;
	}
	test_row(experiment, row, spread, compiled, &beyond);
	test_row(experiment, row, spread, compiled, result);
	result->p = fmax(result->p, beyond.p);
	if (result->p >= tiered.p)
		*result = tiered;
}

bool evidence_single(const struct experiment *experiment, bool as_share, struct process_floor *floor,
	struct row_result *results, struct error *err)
{
	struct floor_guess whole = { whole_floor(experiment, floor), INFINITY }, changed = { floor->changed, INFINITY };
	CLEANUP(cleanup_free) struct spread *spreads = malloc((experiment->row_count + 1) * sizeof(*spreads));

	if (!spreads)
		return error_set_memory(err);
	for (size_t row = 0; row < experiment->row_count; row++) {
		size_t twin = experiment->rows[row].twin;

		results[row] = (struct row_result){ .q = NAN };
		experiment_scale(experiment, row, &results[row]);
		spreads[row] = twin < row ? spreads[twin] : single_measure_spread(experiment, row, as_share);
	}
	if (floor->changed > 0 && !refine_floor(experiment, spreads, floor->changed, results, &changed, err))
		return false;
	floor->changed = changed.rsd;
	for (size_t row = 0; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];
		struct floor_guess others = { floor->others, INFINITY }, by_tier = { floor->by_tier, INFINITY },
				   compiled = { floor->compiled, INFINITY };

		if (r->kind == ROW_WHOLE) {
			test_row(experiment, row, &spreads[row], &whole, &results[row]);
			continue;
		}
		others = floor_of_row(r, r->changed ? changed : others, floor, &results[0], &results[row]);
		by_tier = floor_of_row(r, by_tier, floor, &results[0], &results[row]);
		compiled = floor_of_row(r, compiled, floor, &results[0], &results[row]);
		if (r->by_tier && floor->by_tier > 0 && !r->changed)
			test_tiered(experiment, row, &spreads[row], &by_tier, &compiled, &results[row]);
		else
			test_row(experiment, row, &spreads[row], &others, &results[row]);
	}
	return true;
}
