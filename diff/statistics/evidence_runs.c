/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence_runs.h"

#include "diff/probability/probability.h"
#include "diff/statistics/modes.h"
#include "diff/statistics/pairs.h"
#include "diff/statistics/small.h"

#include <math.h>

/*
 * On a machine whose speed varies, rows vary together and agree more with each other than with the true values. This is
 * the most degrees of freedom that the prior made of them may have.
 */
static const double max_noisy_freedom = 30;

/*
 * The relative standard deviation that is assumed of a run's total on a machine that others use too. It counts as this
 * many degrees of freedom on each side with fewer than `ENOUGH_RUNS` runs.
 */
static const double assumed_rsd = 0.04, assumed_freedom = 0.5;
enum { ENOUGH_RUNS = 5 };

/*
 * Relative standard deviation of the machine's speed between two sessions, added if all runs of one side were made
 * before those of the other.
 */
static const double session_rsd = 0.02;

/* Values that are equal in all runs, such as counts of things, are given this variance. */
static const double least_variance = 1e-9;

/* A row that is waits to more than this part varies as waits do. */
static const double mostly = 0.5;

/* A run with less than this part of a row's mean over its side lacks it. */
static const double lacking = 0.25;

/* A row's regression on the runs' sizes. */
struct fit {
	double slope;
	struct dispersion dispersion;
	double freedom; /* degrees of freedom of the dispersion */
	double greater; /* relative variance between the runs of the side where it is the greater */
	bool small;
};

struct model {
	const struct experiment *experiment;
	const struct speed *speed;
	enum speed_use use;
	struct fit *fits; /* [row] */
	double freedom;   /* degrees of freedom of a row's residuals */
};

/* Returns the mean of the row's values in a side's runs, in samples. */
static double samples_per_run(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment_samples(experiment, side, row) / (double)experiment->sides[side].unit_count;
}

static double greater_variance(const struct experiment *experiment, size_t row)
{
	double greater = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const double *values = experiment_values(experiment, side, row);
		double runs = (double)experiment->sides[side].unit_count, squares = 0;
		double mean = experiment_sum(experiment, side, row) / runs;

		for (size_t run = 0; mean > 0 && run < experiment->sides[side].unit_count; run++)
			squares += pow(values[run] / mean - 1, 2);
		greater = fmax(greater, squares / (runs - 1));
	}
	return greater;
}

/* Returns whether a run of the side lacks a row that its other runs have: it shows two modes. */
static bool lacks_in_a_run(const struct experiment *experiment, enum diff_side side, size_t row)
{
	const double *values = experiment_values(experiment, side, row);
	size_t runs = experiment->sides[side].unit_count;
	double mean = experiment_sum(experiment, side, row) / (double)runs;

	for (size_t run = 0; run < runs; run++)
		if (values[run] < lacking * mean)
			return true;
	return false;
}

static void sum_products(const struct model *model, size_t row, double *products, double *squares, double *sizes)
{
	*products = *squares = *sizes = 0;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const double *values = experiment_values(model->experiment, side, row), *x = model->speed->x[side];
		size_t runs = model->experiment->sides[side].unit_count;
		double mean = experiment_sum(model->experiment, side, row) / (double)runs;

		if (!(mean > 0))
			continue;
		for (size_t run = 0; run < runs; run++) {
			double u = values[run] / mean - 1;

			*products += u * x[run];
			*squares += u * u;
			*sizes += x[run] * x[run];
		}
	}
}

static struct fit fit_row(const struct model *model, size_t row)
{
	const struct experiment *experiment = model->experiment;
	struct fit fit = { .slope = 1, .small = small_counts(experiment, row) };
	/* Small counts are tested as they are: a slope would attribute all of a row to the one run that has it. */
	bool has_slope = !model->speed->quiet && !fit.small;
	double products, squares, sizes, freedom = has_slope ? -1 : 0, poisson = 0, weight = 0;

	sum_products(model, row, &products, &squares, &sizes);
	for (int side = 0; side < DIFF_SIDES; side++) {
		double samples = samples_per_run(experiment, side, row),
		       own = (double)experiment->sides[side].unit_count - 1;

		if (!(samples > 0))
			continue;
		freedom += own;
		poisson += own / samples;
		weight += own;
	}
	if (has_slope && sizes > 0) {
		fit.slope = products / sizes;
		squares -= products * fit.slope;
	}
	fit.dispersion.poisson = weight > 0 ? poisson / weight : 0;
	fit.freedom = freedom;
	fit.dispersion.variance = freedom > 0 ? fmax(squares, least_variance) / freedom : 0;
	fit.greater = greater_variance(experiment, row);
	return fit;
}

/* Fits the prior to functions; nodes would repeat the same information. */
static void fit_prior(const struct model *model, struct moderation *moderation)
{
	const struct experiment *experiment = model->experiment;
	CLEANUP(cleanup_free) struct dispersion *rows = memory_alloc((experiment->row_count + 1) * sizeof(*rows));
	size_t count = 0;

	for (size_t row = 1; row < experiment->row_count; row++) {
		/* If samples are not counted, the noise of rows with equal values is not comparable. */
		if (model->fits[row].dispersion.poisson > 0 && !row_is_node(&experiment->rows[row]) &&
			experiment->rows[row].twin == row && !model->fits[row].small)
			rows[count++] = model->fits[row].dispersion;
	}
	moderation_fit(rows, count, model->freedom, moderation);
	/*
	 * With few runs a row that has two modes cannot be told from others. The exponent was chosen on recordings of
	 * unchanged programs.
	 */
	moderation->prior_freedom = fmin(moderation->prior_freedom, pow(model->freedom, 3) / 6);
	if (!model->speed->quiet)
		moderation->prior_freedom = fmin(moderation->prior_freedom, max_noisy_freedom);
}

/* Returns the uncertainty of a row that is due to not knowing how fast the machine was. */
static double speed_variance(const struct model *model, double slope, double row_variance)
{
	const struct speed *speed = model->speed;
	double off = 1 - slope;

	switch (model->use) {
	case SPEED_ADJUST:
	case SPEED_BESIDE:
		return speed->delta_error +
		       (speed->sum_squares > 0 ? row_variance * speed->delta * speed->delta / speed->sum_squares : 0);
	case SPEED_DIVIDED:
		return speed->delta_error + off * off * speed->delta_variance;
	case SPEED_NOISE:
		return slope * slope * speed->delta_variance;
	}
	return 0;
}

static bool has_few_runs(const struct experiment *experiment)
{
	return experiment->sides[DIFF_BASE].unit_count < ENOUGH_RUNS ||
	       experiment->sides[DIFF_HEAD].unit_count < ENOUGH_RUNS;
}

/*
 * Returns a row's variance, moderated by that of the other rows. A row that depends on the tier of compiled code may
 * have two modes, so its own runs show how much it varies. Few runs may not show modes: see p_despite_modes(). So it is
 * with waits, which do not vary alike: a timer always takes the same time, and threads that meet at a lock never do.
 * Their tails are heavy, so that the side that varies more by chance shows how much both may. Nor do functions vary
 * alike between layouts: a tight loop by a fifth, and most functions hardly.
 */
static double row_variance(const struct model *model, const struct moderation *moderation, size_t row, double *freedom)
{
	const struct fit *fit = &model->fits[row];
	double variance = moderation_posterior(moderation, &fit->dispersion, model->freedom, freedom);
	bool is_waits = model->experiment->rows[row].waits > mostly;

	if (is_waits)
		variance = fmax(variance, fit->greater);
	else if (!model->experiment->rows[row].by_tier && !model->experiment->units_are_layouts)
		return variance;
	*freedom = fmin(*freedom, model->freedom);
	return fmax(variance, fit->dispersion.variance);
}

static void evidence_runs_test_row(
	const struct model *model, const struct moderation *moderation, size_t row, struct row_result *result)
{
	const struct experiment *experiment = model->experiment;
	const struct fit *fit = &model->fits[row];
	double freedom, variance = row_variance(model, moderation, row, &freedom);
	double extra = speed_variance(model, fit->slope, variance), sampling = 0;
	double runs = (double)(experiment->sides[DIFF_BASE].unit_count + experiment->sides[DIFF_HEAD].unit_count);

	/* The counting noise of each side, and the variance beyond it, which both sides share. */
	for (int side = 0; side < DIFF_SIDES; side++)
		sampling += (1 / samples_per_run(experiment, side, row) + variance - fit->dispersion.poisson) /
			    (double)experiment->sides[side].unit_count;
	result->tested = true;
	result->effect = log(result->head / result->base);
	if (model->use == SPEED_ADJUST)
		result->effect += (1 - fit->slope) * model->speed->delta;
	result->judged = result->effect;
	if (model->use == SPEED_BESIDE) {
		result->judged -= fit->slope * model->speed->delta;
		result->common_variance = fit->slope * fit->slope * model->speed->delta_variance;
	}
	result->variance = sampling + extra + row_outer_variance(&experiment->rows[row]);
	/* Welch and Satterthwaite: each part of the variance has its own degrees of freedom. */
	if ((model->use == SPEED_DIVIDED || model->use == SPEED_NOISE) && extra > 0)
		freedom = result->variance * result->variance /
			  (sampling * sampling / freedom + extra * extra / (runs - 2));
	result->freedom = freedom;
	result->p = tail_two_sided(result->judged / sqrt(result->variance), freedom);
}

static void test_small_row(
	const struct model *model, const struct moderation *moderation, size_t row, struct row_result *result)
{
	const struct experiment *experiment = model->experiment;
	const struct dispersion *own = &model->fits[row].dispersion;
	double excess = fmax(moderation_excess(moderation, own->poisson), own->variance - own->poisson);
	enum diff_side larger = result->head > result->base ? DIFF_HEAD : DIFF_BASE;
	double runs = 1 / (double)experiment->sides[DIFF_BASE].unit_count +
		      1 / (double)experiment->sides[DIFF_HEAD].unit_count;
	double variance = fmax(excess, 0) * runs;

	variance += model->use == SPEED_NOISE || model->use == SPEED_BESIDE ? model->speed->delta_variance
									    : model->speed->delta_error;
	variance += row_outer_variance(&experiment->rows[row]);
	small_test(experiment, row, variance, result);
	/* If a few runs hold all of a row, they do not represent their side. */
	if ((experiment->has_modes && !has_few_runs(experiment)) ||
		(experiment->rows[row].by_tier && lacks_in_a_run(experiment, larger, row)) ||
		moderation_is_outlier(moderation, own, model->fits[row].freedom))
		result->p = fmax(result->p, small_p_of_means(experiment, row));
}

/*
 * Returns the variance of a side's mean, relative to the mean. If only two or three runs were made, a variance is
 * assumed in addition, because these may agree by chance.
 */
static double variance_of_mean(const struct experiment *experiment, enum diff_side side, size_t row, double *freedom)
{
	const double *values = experiment_values(experiment, side, row);
	size_t count = experiment->sides[side].unit_count;
	double runs = (double)count, mean = experiment_sum(experiment, side, row) / runs, squares = 0;

	for (size_t run = 0; run < count; run++)
		squares += pow(values[run] / mean - 1, 2);
	squares = fmax(squares, least_variance);
	*freedom = runs - 1;
	/* The assumed variation is that of the machine's speed, which does not affect counts of things. */
	if (count < ENOUGH_RUNS && experiment->sides[side].sample_weight > 0) {
		squares += assumed_freedom * assumed_rsd * assumed_rsd;
		*freedom += assumed_freedom;
	}
	return (squares / *freedom + pow(samples_per_run(experiment, side, row), -2)) / runs;
}

/*
 * Tests the whole by ranks in place of Student's t where pairs of runs vary wildly: its difference is the middle of
 * their interval, less what the result was rid of already (p_despite_modes()).
 */
static void rank_whole(const struct experiment *experiment, size_t row, struct row_result *result)
{
	const double *base = experiment_values(experiment, DIFF_BASE, row),
		     *head = experiment_values(experiment, DIFF_HEAD, row);
	double differences[SIGNED_RANK_MOST];
	size_t count = experiment->sides[DIFF_BASE].unit_count;
	struct signed_rank ranks;

	for (size_t pair = 0; pair < count && count <= SIGNED_RANK_MOST; pair++) {
		if (!(base[pair] > 0 && head[pair] > 0))
			return;
		differences[pair] = log(head[pair] / base[pair]);
	}
	if (!pairs_by_ranks(differences, count, &ranks))
		return;
	result->by_ranks = true;
	result->freedom = (double)count - 1;
	result->variance = pow((ranks.high - ranks.low) / 2 / tail_quantile(tail_of_interval, result->freedom), 2);
	result->effect += (ranks.low + ranks.high) / 2 -
			  log(experiment_sum(experiment, DIFF_HEAD, row) / experiment_sum(experiment, DIFF_BASE, row));
	result->judged = result->effect;
	result->p = fmax(ranks.p, tail_two_sided(result->effect / sqrt(result->variance), result->freedom));
}

/*
 * Tests the whole, which is measured rather than counted: samples come at a fixed distance, so that a run's total is
 * off by one of them at most. Its noise is the difference between runs (Welch 1947, Satterthwaite 1946), and the
 * machine's change between the turns of both sides.
 */
static void test_whole(const struct experiment *experiment, size_t row, struct row_result *result)
{
	double outer = row_outer_variance(&experiment->rows[row]) +
		       (experiment->in_turn ? 0 : session_rsd * session_rsd),
	       parts = 0;

	result->variance = outer;
	for (int side = 0; side < DIFF_SIDES; side++) {
		double freedom, own = variance_of_mean(experiment, (enum diff_side)side, row, &freedom);

		result->variance += own;
		parts += own * own / freedom;
	}
	result->tested = true;
	result->effect = result->judged = log(result->head / result->base);
	result->freedom = result->variance * result->variance / parts;
	result->p = tail_two_sided(result->effect / sqrt(result->variance), result->freedom);
	if (experiment->in_pairs && outer == 0)
		rank_whole(experiment, row, result);
}

/* Tests a row with the method that fits it, as if the compiler decided alike in all processes. */
static void test_any(
	const struct model *model, const struct moderation *moderation, size_t row, struct row_result *result)
{
	const struct experiment *experiment = model->experiment;

	if (model->fits[row].small)
		test_small_row(model, moderation, row, result);
	else if (experiment->whole_is_measured && experiment_is_whole(experiment, row))
		test_whole(experiment, row, result);
	else
		evidence_runs_test_row(model, moderation, row, result);
}

/*
 * A process may run in one of two modes, each with probability one half. So much is the probability that all runs of
 * one side are in one mode and all runs of the other side in the other, which matters if runs are few. It explains a
 * difference as far as modes can move time (modes.h): what lies beyond has to be as improbable.
 */
static double p_despite_modes(
	const struct model *model, const struct moderation *moderation, size_t row, const struct row_result *result)
{
	const struct experiment *experiment = model->experiment;
	size_t base = experiment->sides[DIFF_BASE].unit_count, head = experiment->sides[DIFF_HEAD].unit_count;
	double chance = ldexp(1, 1 - (int)(base + head)), shift = experiment->rows[row].shift;
	struct row_result beyond = modes_without_shift(*result, shift);

	if (shift == 0 || !has_few_runs(experiment))
		return result->p;
	if (beyond.head == beyond.base)
		return fmax(result->p, chance);
	test_any(model, moderation, row, &beyond);
	return fmax(result->p, fmin(beyond.p, chance));
}

void evidence_runs(const struct experiment *experiment, const struct speed *speed, enum speed_use use,
	struct moderation *moderation, struct row_result *results)
{
	CLEANUP(cleanup_free) struct fit *fits = memory_alloc((experiment->row_count + 1) * sizeof(*fits));
	struct model model = { experiment, speed, use, fits, 0 };

	model.freedom = (double)(experiment->sides[DIFF_BASE].unit_count + experiment->sides[DIFF_HEAD].unit_count) -
			(speed->quiet ? 2 : 3);
	for (size_t row = 0; row < experiment->row_count; row++)
		fits[row] = fit_row(&model, row);
	if (!experiment->is_part)
		fit_prior(&model, moderation);
	for (size_t row = 0; row < experiment->row_count; row++) {
		results[row] = (struct row_result){ .q = NAN };
		experiment_scale(experiment, row, &results[row]);
		test_any(&model, moderation, row, &results[row]);
		results[row].p = p_despite_modes(&model, moderation, row, &results[row]);
	}
}
