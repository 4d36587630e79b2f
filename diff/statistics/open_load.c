/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/open_load.h"

#include "diff/probability/probability.h"
#include "diff/statistics/basis.h"

#include <math.h>

/* Returns the variance of the logarithm of the totals' ratio that counting alone gives. */
static double counting_variance(const struct experiment *experiment)
{
	double variance = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		variance += 1 / experiment_samples(experiment, (enum diff_side)side, 0);
	return variance;
}

/* A load that head may have had, and the variance of its logarithm. */
struct open_load_reading {
	double load, variance;
};

static void open_load_widen(struct load_range *range, double *variance, const struct open_load_reading *reading)
{
	if (reading->load >= range->low && reading->load <= range->high)
		return;
	range->low = fmin(range->low, reading->load);
	range->high = fmax(range->high, reading->load);
	*variance = fmax(*variance, reading->variance);
}

/* Where functions disagree about the load, any of them may be right: all that they say bounds it. */
static void widen_by_functions(const struct load *load, struct load_range *range, double *variance)
{
	double half = tail_normal_95 * sqrt(load->variance);
	struct open_load_reading typical = { range->typical, load->variance }, low = { range->typical - half, 0 },
				 high = { range->typical + half, 0 };

	if (load->doubt == LOAD_KNOWN) {
		open_load_widen(range, variance, &typical);
	} else {
		open_load_widen(range, variance, &low);
		open_load_widen(range, variance, &high);
	}
}

/*
 * Returns the factor by which all runs of both sides count alike, whatever their lengths, for what their samples stand
 * for.
 */
static double per_run_factor(const struct diff_build *build)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	double runs = (double)(base->run_count ? base->run_count : 1) / (double)(head->run_count ? head->run_count : 1);

	return build->sample_ratio > 0 ? runs * build->sample_ratio : runs;
}

static void open_load_find_range(
	const struct diff_build *build, const struct experiment *experiment, struct load_range *range, double *variance)
{
	struct row_result whole;
	struct open_load_reading by_share;

	*variance = 0;
	experiment_scale(experiment, 0, &whole);
	by_share = (struct open_load_reading){ log(whole.head / whole.base), counting_variance(experiment) };
	range->is_open = true;
	if (build->diff->scale.length_is_unknown)
		open_load_widen(range, variance,
			&(struct open_load_reading){ log(experiment->factor / per_run_factor(build)), 0 });
	/* Chance is not known then, so the functions' ratios bound nothing. */
	if (!build_is_counted(build))
		return;
	/* The factor multiplies head: a load of twice base's has the factor 1/2. */
	range->typical = log(experiment->factor / build->load.factor);
	open_load_widen(range, variance, &by_share);
	widen_by_functions(&build->load, range, variance);
}

/*
 * Returns whether a row is judged as the whole is. All of a part is none: it has a share of the whole, as a function
 * has.
 */
static bool open_load_is_whole(const struct experiment *experiment, size_t row)
{
	return row == 0 && (!experiment->is_part || experiment_is_whole(experiment, row));
}

void open_load_weigh_rows(const struct diff_build *build, struct experiment *experiment)
{
	struct basis *own = basis_own(build);

	if (!diff_load_is_open(build->diff))
		return;
	if (own)
		open_load_find_range(build, experiment, &own->range, &own->range_variance);
	experiment->load = basis_of(build->diff)->range;
	for (size_t row = 0; row < experiment->row_count; row++)
		if (!open_load_is_whole(experiment, row))
			experiment->rows[row].load_variance = basis_of(build->diff)->range_variance;
}

static void open_load_judge_row(const struct load_range *load, struct row_result *result)
{
	double least = result->judged - load->high, most = result->judged - load->low;
	double nearest = least > 0 ? least : most < 0 ? most : 0;

	result->less_by_load = load->high;
	result->more_by_load = -load->low;
	result->p = fmax(result->p, tail_two_sided(nearest / sqrt(result->variance), result->freedom));
}

static void judge_whole(struct row_result *result)
{
	double beyond = fmax(0, fabs(result->judged) - log((double)OPEN_LOAD_RANGE));

	result->p = tail_two_sided(beyond / sqrt(result->variance), result->freedom);
}

void open_load_judge(const struct experiment *experiment, struct row_result *results)
{
	if (!experiment->load.is_open)
		return;
	for (size_t row = 0; row < experiment->row_count; row++) {
		/* Small counts have been tested at both ends of the range (small.c). */
		if (!results[row].tested || results[row].small_error > 0)
			continue;
		if (open_load_is_whole(experiment, row))
			judge_whole(&results[row]);
		else
			open_load_judge_row(&experiment->load, &results[row]);
	}
}
