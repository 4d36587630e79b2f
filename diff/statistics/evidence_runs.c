/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence_runs.h"

#include "diff/statistics/moderate.h"
#include "diff/statistics/small.h"
#include "diff/statistics/tails.h"

#include <math.h>

/*
 * On a machine whose speed varies, rows scatter together: they agree more with each other than with the truth, so the
 * prior is trusted no further than this.
 */
static const double max_noisy_freedom = 30;

/*
 * A run's total varies by about this much on machines that others use too; worth so many degrees of freedom a side
 * where fewer than `ENOUGH_RUNS` were made.
 */
static const double assumed_rsd = 0.04, assumed_freedom = 0.5;
enum { ENOUGH_RUNS = 5 };

/* What a machine's speed differs by between two sessions, where the runs of one side were all made before the other's.
 */
static const double session_rsd = 0.02;

/* Values that are equal in all runs, as things that were counted, have a variance all the same. */
static const double least_variance = 1e-9;

/* A row's regression on the runs' sizes. */
struct fit {
	double slope;
	struct dispersion dispersion;
	double freedom; /* of the dispersion */
	bool small;
};

struct model {
	const struct experiment *experiment;
	const struct speed *speed;
	enum speed_use use;
	struct fit *fits; /* [row] */
	double freedom;   /* of a row's residuals */
};

/* Mean of the row's values in a side's runs, in samples. */
static double samples_per_run(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment_samples(experiment, side, row) / (double)experiment->sides[side].unit_count;
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
	/* Counts are tested as they are. A slope would explain the one run that has all of a row. */
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
	return fit;
}

/* Nodes say nothing that functions do not say already. */
static bool fit_prior(const struct model *model, struct moderation *moderation, struct error *err)
{
	const struct experiment *experiment = model->experiment;
	CLEANUP(cleanup_free) struct dispersion *rows = malloc((experiment->row_count + 1) * sizeof(*rows));
	size_t count = 0;

	if (!rows)
		return error_set_memory(err);
	for (size_t row = 1; row < experiment->row_count; row++) {
		/* Without a count of samples there is nothing that rows of equal size have in common. */
		if (model->fits[row].dispersion.poisson > 0 && !row_is_node(&experiment->rows[row]) &&
			experiment->rows[row].twin == row && !model->fits[row].small)
			rows[count++] = model->fits[row].dispersion;
	}
	if (!moderation_fit(rows, count, model->freedom, moderation, err))
		return false;
	/* From few runs a row of two modes looks like any other. The exponent was chosen on recordings of unchanged
	 * programs. */
	moderation->prior_freedom = fmin(moderation->prior_freedom, pow(model->freedom, 3) / 6);
	if (!model->speed->quiet)
		moderation->prior_freedom = fmin(moderation->prior_freedom, max_noisy_freedom);
	return true;
}

/* What is uncertain about a row for want of knowing how fast the machine was. */
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
 * Borrowed from other rows; but a row that goes by tier may have two modes, and is then not like the others: it is
 * known by its own runs alone. Few runs do not show modes, see chance_of_modes().
 */
static double row_variance(const struct model *model, const struct moderation *moderation, size_t row, double *freedom)
{
	const struct fit *fit = &model->fits[row];
	double variance = moderation_posterior(moderation, &fit->dispersion, model->freedom, freedom);

	if (!model->experiment->rows[row].by_tier || has_few_runs(model->experiment))
		return variance;
	*freedom = fmin(*freedom, model->freedom);
	return fmax(variance, fit->dispersion.variance);
}

static void test_row(
	const struct model *model, const struct moderation *moderation, size_t row, struct row_result *result)
{
	const struct experiment *experiment = model->experiment;
	const struct fit *fit = &model->fits[row];
	double freedom, variance = row_variance(model, moderation, row, &freedom);
	double extra = speed_variance(model, fit->slope, variance), sampling = 0;
	double runs = (double)(experiment->sides[DIFF_BASE].unit_count + experiment->sides[DIFF_HEAD].unit_count);

	/* Each side's own counting noise, and what is beyond it, which both share. */
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
	/* Welch and Satterthwaite: each part brings its own degrees of freedom. */
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
	double runs = 1 / (double)experiment->sides[DIFF_BASE].unit_count +
		      1 / (double)experiment->sides[DIFF_HEAD].unit_count;
	double variance = fmax(excess, 0) * runs;

	variance += model->use == SPEED_NOISE || model->use == SPEED_BESIDE ? model->speed->delta_variance
									    : model->speed->delta_error;
	variance += row_outer_variance(&experiment->rows[row]);
	small_test(experiment, row, variance, result);
	/* A few runs that have all of it do not stand for their side. */
	if ((experiment->has_modes && !has_few_runs(experiment)) ||
		moderation_is_outlier(moderation, own, model->fits[row].freedom))
		result->p = fmax(result->p, small_p_of_means(experiment, row));
}

/* The variance of a side's mean, relative to it. Two or three runs that agree by chance do not vouch for each other
 * alone. */
static double variance_of_mean(const struct experiment *experiment, enum diff_side side, double *freedom)
{
	const double *values = experiment_values(experiment, side, 0);
	size_t count = experiment->sides[side].unit_count;
	double runs = (double)count, mean = experiment_sum(experiment, side, 0) / runs, squares = 0;

	for (size_t run = 0; run < count; run++)
		squares += pow(values[run] / mean - 1, 2);
	squares = fmax(squares, least_variance);
	*freedom = runs - 1;
	/* Things that were counted know no speed of the machine. */
	if (count < ENOUGH_RUNS && experiment->sides[side].sample_weight > 0) {
		squares += assumed_freedom * assumed_rsd * assumed_rsd;
		*freedom += assumed_freedom;
	}
	return (squares / *freedom + pow(samples_per_run(experiment, side, 0), -2)) / runs;
}

/*
 * The whole was measured, not counted: samples come at a fixed distance, so that a run's total is off by one of them at
 * most. All its noise is what runs differ by (Welch 1947, Satterthwaite 1946), and what the machine did between the
 * sides' turns.
 */
static void test_whole(const struct experiment *experiment, struct row_result *result)
{
	double outer = row_outer_variance(&experiment->rows[0]) + (experiment->in_turn ? 0 : session_rsd * session_rsd),
	       parts = 0;

	result->variance = outer;
	for (int side = 0; side < DIFF_SIDES; side++) {
		double freedom, own = variance_of_mean(experiment, (enum diff_side)side, &freedom);

		result->variance += own;
		parts += own * own / freedom;
	}
	result->tested = true;
	result->effect = result->judged = log(result->head / result->base);
	result->freedom = result->variance * result->variance / parts;
	result->p = tail_two_sided(result->effect / sqrt(result->variance), result->freedom);
}

/*
 * A function whose process is in one of two ways by the toss of a coin has all runs of one side in the one, and all of
 * the other side in the other, with this probability. It counts where runs are few.
 */
static double chance_of_modes(const struct experiment *experiment)
{
	size_t base = experiment->sides[DIFF_BASE].unit_count, head = experiment->sides[DIFF_HEAD].unit_count;

	return has_few_runs(experiment) ? ldexp(1, 1 - (int)(base + head)) : 0;
}

bool evidence_runs(const struct experiment *experiment, const struct speed *speed, enum speed_use use,
	struct row_result *results, struct error *err)
{
	CLEANUP(cleanup_free) struct fit *fits = malloc((experiment->row_count + 1) * sizeof(*fits));
	struct model model = { experiment, speed, use, fits, 0 };
	struct moderation moderation;

	if (!fits)
		return error_set_memory(err);
	model.freedom = (double)(experiment->sides[DIFF_BASE].unit_count + experiment->sides[DIFF_HEAD].unit_count) -
			(speed->quiet ? 2 : 3);
	for (size_t row = 0; row < experiment->row_count; row++)
		fits[row] = fit_row(&model, row);
	if (!fit_prior(&model, &moderation, err))
		return false;
	for (size_t row = 0; row < experiment->row_count; row++) {
		results[row] = (struct row_result){ .q = NAN };
		experiment_scale(experiment, row, &results[row]);
		if (fits[row].small)
			test_small_row(&model, &moderation, row, &results[row]);
		else if (experiment->whole_is_measured && experiment->rows[row].twin == 0)
			test_whole(experiment, &results[row]);
		else
			test_row(&model, &moderation, row, &results[row]);
		if (row > 0 && experiment->has_modes)
			results[row].p = fmax(results[row].p, chance_of_modes(experiment));
	}
	return true;
}
