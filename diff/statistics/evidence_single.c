/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence_single.h"

#include "diff/probability/probability.h"
#include "diff/statistics/mix.h"
#include "diff/statistics/modes.h"
#include "diff/statistics/small.h"

#include <math.h>

/* An estimated relative standard deviation between processes, and its degrees of freedom: INFINITY if it is assumed. */
struct floor_guess {
	double rsd, freedom;
};

/*
 * Share of the whole time. A function of this share is assumed to vary by the square root of 2 more than a large one.
 */
static const double small_share = 0.005;

/* Units of a side that replicate each other: values of a row, and what each is measured by (NULL: all are of one size).
 */
struct replicates {
	const double *values, *sizes;
	size_t count;
};

/* Blocks of time are measured by the requests that were answered in each, or by its whole time (as_share). */
static struct replicates blocks_of(const struct experiment *experiment, enum diff_side side, size_t row, bool as_share)
{
	const struct experiment_side *s = &experiment->sides[side];

	return (struct replicates){ experiment_values(experiment, side, row),
		s->work    ? s->work
		: as_share ? experiment_whole(experiment, side)
			   : NULL,
		s->unit_count };
}

static struct replicates workers_of(const struct experiment *experiment, enum diff_side side, size_t row)
{
	const struct workers *workers = &experiment->sides[side].workers;

	return (struct replicates){ workers->values ? workers->values + row * workers->count : NULL, workers->work,
		workers->count };
}

/* Returns the sum for each unit of size without one of the replicates, relative to that with all. */
static double without(const struct replicates *r, size_t left_out, double sum, double all)
{
	double left = all - (r->sizes ? r->sizes[left_out] : 1);

	return left > 0 ? (sum - r->values[left_out]) / left / (sum / all) : 0;
}

/* Returns the relative variance of the sum for each unit of size, by the delete-one jackknife. */
static double jackknife(const struct replicates *r)
{
	double n = (double)r->count, sum = 0, all = 0, mean = 0, squares = 0;

	for (size_t i = 0; i < r->count; i++) {
		sum += r->values[i];
		all += r->sizes ? r->sizes[i] : 1;
	}
	if (r->count < 2 || !(sum > 0))
		return 0;
	for (size_t i = 0; i < r->count; i++)
		mean += without(r, i, sum, all) / n;
	for (size_t i = 0; i < r->count; i++)
		squares += pow(without(r, i, sum, all) - mean, 2);
	return (n - 1) / n * squares;
}

/* Returns what the experiment's whole, or the part that it is of, consists of. */
static struct mix mix_of_whole(const struct experiment *experiment, const struct process_floor *floor)
{
	struct row_result whole, part;
	struct mix mix = { 0 };

	experiment_scale(experiment, 0, &whole);
	for (size_t row = 1; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];

		if (r->kind != ROW_SELF)
			continue;
		experiment_scale(experiment, row, &part);
		mix_add(&mix,
			r->by_tier && floor->by_tier > 0 ? MIX_BY_TIER
			: r->changed                     ? MIX_CHANGED
							 : MIX_OTHERS,
			(part.base + part.head) / (whole.base + whole.head), r->waits);
	}
	return mix;
}

static double evidence_single_share_of(double whole, const struct row_result *row)
{
	return (row->base + row->head) / whole;
}

/*
 * Returns the floor for a row: small functions vary more, because the placement of code decides on which of two
 * neighbouring instructions a sample lands, and a function of few instructions gains or loses much of its time by that.
 */
static double floor_at(double whole, const struct row_result *row, double floor)
{
	return floor * sqrt(1 + small_share / evidence_single_share_of(whole, row));
}

/* The variance of a row within its recordings, relative to the row. */
struct evidence_single_spread {
	double own;    /* variance of the logarithm of head over base */
	double excess; /* the part of it beyond counting noise */
	double parts;  /* sum for the degrees of freedom (Satterthwaite 1946) */
};

/* The replicates that vary more decide: a burst is in all workers, and a worker of its own kind in all blocks. */
static struct evidence_single_spread single_measure_spread(
	const struct experiment *experiment, size_t row, bool as_share)
{
	struct evidence_single_spread spread = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct replicates blocks = blocks_of(experiment, side, row, as_share),
				  workers = workers_of(experiment, side, row);
		double by_block = jackknife(&blocks), by_worker = jackknife(&workers);
		double samples = experiment_samples(experiment, side, row);
		double counting = samples > 0 ? 1 / samples : 0, own = fmax(fmax(by_block, by_worker), counting);
		size_t count = by_worker > by_block ? workers.count : blocks.count;

		spread.own += own;
		spread.excess += own - counting;
		if (count > 1)
			spread.parts += own * own / ((double)count - 1);
	}
	return spread;
}

/* Returns the variance from outside the program. For functions of changed code the floor includes it already. */
static double outside(const struct row *row)
{
	return row->changed ? row->load_variance : row_outer_variance(row);
}

static void evidence_single_test_row(const struct experiment *experiment, size_t row,
	const struct evidence_single_spread *spread, const struct floor_guess *floor, struct row_result *result)
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
struct evidence_single_control {
	double squared, own;
};

static size_t collect_controls(const struct experiment *experiment, const struct evidence_single_spread *spreads,
	const struct row_result *results, struct evidence_single_control *controls)
{
	double whole = experiment_whole_size(experiment);
	size_t count = 0;

	for (size_t row = 1; row < experiment->row_count; row++) {
		if (!experiment->rows[row].control || experiment->rows[row].by_tier || small_counts(experiment, row) ||
			evidence_single_share_of(whole, &results[row]) < small_share)
			continue;
		double effect = log(results[row].head / results[row].base) - experiment->load.typical;

		controls[count++] = (struct evidence_single_control){ effect * effect, spreads[row].own };
	}
	return count;
}

/*
 * Does one step of an M-estimate of scale (Huber 1981, proposal 2): the variance between processes that explains the
 * differences of the controls. Differences beyond `most_sigmas` count as if they were that large, since some functions
 * really take more time. The prior is worth `prior_freedom` controls.
 */
static struct floor_guess refine_once(
	const struct evidence_single_control *controls, size_t count, double prior, double now)
{
	static const double most_sigmas = 4, prior_freedom = 3;
	double top = 0, bottom = 0, freedom, variance;
	struct floor_guess guess;

	for (size_t i = 0; i < count; i++) {
		const struct evidence_single_control *c = &controls[i];
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
static void refine_floor(const struct experiment *experiment, const struct evidence_single_spread *spreads,
	double assumed, const struct row_result *results, struct floor_guess *guess)
{
	double prior = sqrt(assumed * assumed + experiment->rows[0].machine_variance / DIFF_SIDES);
	enum { STEPS = 20 };
	CLEANUP(cleanup_free)
	struct evidence_single_control *controls = memory_alloc((experiment->row_count + 1) * sizeof(*controls));
	size_t count;

	count = collect_controls(experiment, spreads, results, controls);
	*guess = (struct floor_guess){ prior, INFINITY };
	for (int step = 0; step < STEPS && count > 0; step++)
		*guess = refine_once(controls, count, prior, guess->rsd);
}

/* Returns the floor of a row, by its waits and its size; `guess` is that of a large one without waits. */
static struct floor_guess floor_of_row(const struct row *row, struct floor_guess guess,
	const struct process_floor *floor, double whole_size, const struct row_result *result)
{
	if (row->waits > 0)
		guess.rsd = hypot((1 - row->waits) * guess.rsd, row->waits * floor->waits);
	guess.rsd *= floor_at(whole_size, result, 1);
	return guess;
}

/* Returns the floor of a group of samples, by the functions that its time is in. */
static struct floor_guess floor_of_mix(
	const struct mix *mix, const struct process_floor *floor, double whole_size, const struct row_result *result)
{
	struct floor_guess guess;

	guess.rsd = mix_rsd(mix, floor, &guess.freedom);
	guess.rsd *= floor_at(whole_size, result, 1);
	return guess;
}

/*
 * Tests a row that depends on what a run-time compiler decides. It varies between processes by the floor `by_tier` as
 * far as decisions move time (modes.h); what lies beyond varies by the floor `compiled`.
 */
static void test_tiered(const struct experiment *experiment, size_t row, const struct evidence_single_spread *spread,
	const struct floor_guess *by_tier, const struct floor_guess *compiled, struct row_result *result)
{
	struct row_result beyond = modes_without_shift(*result, experiment->rows[row].shift), tiered = *result;

	evidence_single_test_row(experiment, row, spread, by_tier, &tiered);
	if (beyond.head == beyond.base) {
		*result = tiered;
		return;
	}
	evidence_single_test_row(experiment, row, spread, compiled, &beyond);
	evidence_single_test_row(experiment, row, spread, compiled, result);
	result->p = fmax(result->p, beyond.p);
	if (result->p >= tiered.p)
		*result = tiered;
}

void evidence_single(
	const struct experiment *experiment, bool as_share, struct process_floor *floor, struct row_result *results)
{
	struct floor_guess whole, changed = { floor->changed, experiment->is_part ? floor->changed_freedom : INFINITY };
	double whole_size = experiment_whole_size(experiment);
	struct mix mix;
	CLEANUP(cleanup_free)
	struct evidence_single_spread *spreads = memory_alloc((experiment->row_count + 1) * sizeof(*spreads));

	for (size_t row = 0; row < experiment->row_count; row++) {
		size_t twin = experiment->rows[row].twin;

		results[row] = (struct row_result){ .q = NAN };
		experiment_scale(experiment, row, &results[row]);
		spreads[row] = twin < row ? spreads[twin] : single_measure_spread(experiment, row, as_share);
	}
	if (floor->changed > 0 && !(experiment->is_part))
		refine_floor(experiment, spreads, floor->changed, results, &changed);
	floor->changed = changed.rsd;
	floor->changed_freedom = changed.freedom;
	mix = mix_of_whole(experiment, floor);
	if (!experiment->is_part)
		floor->whole = mix_whole_rsd(&mix, floor);
	whole = (struct floor_guess){ floor->whole, INFINITY };
	if (experiment->is_part && !experiment_is_whole(experiment, 0))
		whole = floor_of_mix(&mix, floor, whole_size, &results[0]);
	for (size_t row = 0; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];
		struct floor_guess others = { floor->others, INFINITY }, by_tier = { floor->by_tier, INFINITY },
				   compiled = { floor->compiled, INFINITY };

		if (r->kind == ROW_WHOLE) {
			evidence_single_test_row(experiment, row, &spreads[row], &whole, &results[row]);
			continue;
		}
		if (r->mix) {
			others = floor_of_mix(r->mix, floor, whole_size, &results[row]);
			evidence_single_test_row(experiment, row, &spreads[row], &others, &results[row]);
			continue;
		}
		others = floor_of_row(r, r->changed ? changed : others, floor, whole_size, &results[row]);
		by_tier = floor_of_row(r, by_tier, floor, whole_size, &results[row]);
		compiled = floor_of_row(r, compiled, floor, whole_size, &results[row]);
		if (r->by_tier && floor->by_tier > 0 && !r->changed)
			test_tiered(experiment, row, &spreads[row], &by_tier, &compiled, &results[row]);
		else
			evidence_single_test_row(experiment, row, &spreads[row], &others, &results[row]);
	}
}
