/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"
#include "diff/evidence/spreads.h"
#include "diff/probability/probability.h"

#include <stdlib.h>
#include <string.h>

struct sums {
	double samples, work;
};

static struct sums factor_sums(const struct evidence_counts *side)
{
	return (struct sums){ evidence_sum(side, side->samples), evidence_sum(side, side->work) };
}

/* ---- Of a profile within its side ---- */

/* Returns how many samples of a row its side has for one unit of work; 0: too few to tell a factor. */
static double profile_rate(const struct evidence_counts *counts)
{
	struct sums sums = factor_sums(counts);

	return sums.samples >= evidence_profile_samples * (double)counts->count ? sums.samples / sums.work : 0;
}

/* Finds the weighted median of how much more than their side's mean the rows have in a profile. rates: [row] */
static double profile_factor(const struct evidence_row *rows, const double *rates, size_t count, int side,
	size_t profile, struct weighted_value *values)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const struct evidence_counts *counts = &rows[i].sides[side];
		double mean = rates[i] * counts->work[profile];

		if (mean > 0 && counts->samples[profile] > 0)
			values[used++] = (struct weighted_value){ log(counts->samples[profile] / mean), sqrt(mean) };
	}
	return (double)used >= evidence_factor_rows ? weighted_median(values, used) : 0;
}

bool evidence_profile_factors(const struct evidence_row *rows, size_t count, double *factors[EVIDENCE_SIDES])
{
	bool any = false;
	CLEANUP(cleanup_free) struct weighted_value *values = memory_alloc((count + 1) * sizeof(*values));
	CLEANUP(cleanup_free) double *rates = memory_alloc((count + 1) * sizeof(*rates));

	for (int side = 0; side < EVIDENCE_SIDES && count > 0; side++) {
		size_t profiles = rows[0].sides[side].count;
		double sum = 0;

		for (size_t i = 0; i < count; i++)
			rates[i] = profiles > 0 ? profile_rate(&rows[i].sides[side]) : 0;
		for (size_t i = 0; i < profiles; i++)
			sum += factors[side][i] = profile_factor(rows, rates, count, side, i, values);
		for (size_t i = 0; i < profiles; i++)
			factors[side][i] -= sum / (double)profiles;
		for (size_t i = 0; i < profiles; i++)
			any |= factors[side][i] != 0;
	}
	return any;
}

/* ---- Of head ---- */

/*
 * The grid of values of D, and how far that goes which is about its best value: others, of a posterior with several
 * summits, leave it alone, and widen it.
 */
enum { FACTOR_CELLS = 400 };
static const double factor_reach = 4, factor_near = .35;
/* No more rows are asked: the largest tell enough. */
enum { FACTOR_MOST_ROWS = 400 };

/* What a row tells of D: its difference, and the variance of that by counting. */
struct factor_row {
	double difference, counting, size;
	double same;                                                  /* the probability that it did not change */
	double weights[EVIDENCE_SPREADS], variance[EVIDENCE_SPREADS]; /* of each spread */
};

static int by_falling_size(const void *a, const void *b)
{
	const struct factor_row *x = a, *y = b;

	return x->size != y->size ? ORDER(y->size, x->size) : ORDER(x->difference, y->difference);
}

static size_t choose_factor_rows(const struct evidence_row *rows, size_t count, struct factor_row *chosen)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct sums base = factor_sums(&rows[i].sides[0]), head = factor_sums(&rows[i].sides[1]);

		if (fmin(base.samples, head.samples) < evidence_factor_samples)
			continue;
		chosen[used] = (struct factor_row){ log(head.samples * base.work / (base.samples * head.work)),
			1 / base.samples + 1 / head.samples + rows[i].further,
			base.samples / base.work + head.samples / head.work,
			rows[i].is_same_code ? evidence_factor_same_code : evidence_factor_same, { 0 }, { 0 } };
		spreads_weigh(&rows[i], spreads_priors(&rows[i]), chosen[used].weights);
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			chosen[used].variance[k] = spreads_variance(&rows[i], spreads_at(rows[i].class, k));
		used++;
	}
	if (used > 0)
		qsort(chosen, used, sizeof(*chosen), by_falling_size);
	return used < FACTOR_MOST_ROWS ? used : FACTOR_MOST_ROWS;
}

static double session_variance(const struct evidence_load *load)
{
	return load->is_apart ? evidence_square(evidence_session_sd) : 0;
}

/* `any`: a row of the profiles that are compared; NULL: there is none. */
static double factor_prior(const struct evidence_load *load, const struct evidence_row *any,
	const double weights[static EVIDENCE_SPREADS], double d)
{
	struct evidence_factor known = evidence_factor_of_load(load);
	double density = 0;

	if (load->is_flat)
		return 1;
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double spread = spreads_at(load->totals, k),
		       variance = any ? spreads_variance(any, spread) : 2 * evidence_square(spread);

		density += weights[k] * evidence_density(d - known.mean, variance + known.variance);
	}
	return density;
}

/* `further`: the variance by which rows follow D and the load differently. */
static double factor_row_likelihood(const struct factor_row *row, double further, double d)
{
	double sum = 0;

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double variance = row->variance[k] + row->counting + further;

		sum += row->weights[k] * evidence_change_density(row->difference - d, variance, row->same);
	}
	return log(fmax(sum, 1e-300));
}

/* D is told by rows and by the load. */
struct factor_search {
	const struct evidence_load *load;
	const struct evidence_row *any;  /* a row of the profiles that are compared; NULL: there is none */
	const struct factor_row *chosen; /* [count] */
	size_t count;
	double weights[EVIDENCE_SPREADS]; /* how probable the spreads of a total are */
};

/* The posterior of D over a range: its mean and variance, and where it is greatest. */
struct factor_posterior {
	double mean, variance, top;
};

/* Returns the logarithm of the likelihood of a D by the rows. */
static double factor_log_rows(const struct factor_search *search, double d)
{
	double temper = evidence_temper(search->count), sum = 0;
	double further = search->load->is_flat ? 0
					       : evidence_square(evidence_follow * d) +
							 evidence_square(evidence_load_scatter * search->load->change);

	for (size_t i = 0; i < search->count; i++)
		sum += temper * factor_row_likelihood(&search->chosen[i], further, d);
	return sum;
}

static double factor_log_prior(const struct factor_search *search, double d)
{
	return log(fmax(factor_prior(search->load, search->any, search->weights, d), 1e-300));
}

static void factor_integrate(
	const struct factor_search *search, double from, double to, struct factor_posterior *posterior)
{
	double values[FACTOR_CELLS + 1], sum = 0, mean = 0, squares = 0, cell = (to - from) / FACTOR_CELLS;
	int top = 0;

	for (int i = 0; i <= FACTOR_CELLS; i++) {
		values[i] = factor_log_prior(search, from + i * cell) + factor_log_rows(search, from + i * cell);
		if (values[i] > values[top])
			top = i;
	}
	for (int i = 0; i <= FACTOR_CELLS; i++) {
		double weight = exp(values[i] - values[top]), beyond = (i - top) * cell;

		sum += weight;
		mean += weight * beyond;
		squares += weight * beyond * beyond;
	}
	posterior->top = from + top * cell;
	posterior->mean = posterior->top + mean / sum;
	posterior->variance = fmax(squares / sum - evidence_square(mean / sum), 0);
}

static void find_factor_of_program(const struct factor_search *search, struct evidence_factor *factor)
{
	double cell = 2 * factor_reach / FACTOR_CELLS;
	struct factor_posterior all, near;

	factor_integrate(search, -factor_reach, factor_reach, &all);
	factor_integrate(search, all.top - factor_near, all.top + factor_near, &near);
	factor->mean = near.mean;
	factor->variance = all.variance + evidence_square(all.mean - near.mean);
	/* Thousands of samples tell D within a few cells. */
	if (all.variance < evidence_square(2 * cell))
		factor->variance = near.variance;
}

/* ---- Of a suite ---- */

/* A value of D, and the part of its range that it stands for. */
struct factor_cell {
	double value, width, rows; /* rows: the logarithm of their likelihood */
};

static int by_cell_value(const void *a, const void *b)
{
	const struct factor_cell *x = a, *y = b;

	return ORDER(x->value, y->value);
}

static double factor_median(const struct factor_search *search)
{
	CLEANUP(cleanup_free) struct weighted_value *values = memory_alloc((search->count + 1) * sizeof(*values));

	for (size_t i = 0; i < search->count; i++)
		values[i] = (struct weighted_value){ search->chosen[i].difference, search->chosen[i].same };
	return search->count > 0 ? weighted_median(values, search->count) : 0;
}

/*
 * Fills the cells. They are narrow around 0 and around the rows' median, where D may be known to a part of a thousand,
 * and wider in proportion to how far they are from there.
 */
static void place_cells(const struct factor_search *search, struct factor_cell cells[static FACTOR_CELLS + 1])
{
	static const double narrow = .0005;
	double centres[] = { 0, factor_median(search) };

	for (int i = 0; i <= FACTOR_CELLS; i++) {
		double at = ((double)i / FACTOR_CELLS - .5) * 2;

		cells[i].value = centres[i % 2] + narrow * sinh(at * asinh(factor_reach / narrow));
	}
	qsort(cells, FACTOR_CELLS + 1, sizeof(*cells), by_cell_value);
	for (int i = 0; i <= FACTOR_CELLS; i++) {
		cells[i].width = (cells[i < FACTOR_CELLS ? i + 1 : i].value - cells[i > 0 ? i - 1 : i].value) / 2;
		cells[i].rows = factor_log_rows(search, cells[i].value);
	}
}

/*
 * A change of a program may be one of all benchmarks alike. What they have in common is then no matter of the machine,
 * and all D are as probable by them.
 */
static void share_change(struct factor_cell cells[static FACTOR_CELLS + 1])
{
	double top = -INFINITY, sum = 0, shared;

	for (int i = 0; i <= FACTOR_CELLS; i++)
		top = fmax(top, cells[i].rows);
	for (int i = 0; i <= FACTOR_CELLS; i++)
		sum += cells[i].width * exp(cells[i].rows - top);
	shared = evidence_factor_shared * evidence_density(0, evidence_square(evidence_change_sd)) * sum;
	for (int i = 0; i <= FACTOR_CELLS; i++)
		cells[i].rows = top + log((1 - evidence_factor_shared) * exp(cells[i].rows - top) + shared);
}

static void find_factor_of_suite(const struct factor_search *search, struct evidence_factor *factor)
{
	struct factor_cell cells[FACTOR_CELLS + 1];
	double posterior[FACTOR_CELLS + 1], top = -INFINITY, sum = 0, mean = 0, squares = 0;

	place_cells(search, cells);
	share_change(cells);
	for (int i = 0; i <= FACTOR_CELLS; i++) {
		posterior[i] = factor_log_prior(search, cells[i].value) + cells[i].rows;
		top = fmax(top, posterior[i]);
	}
	for (int i = 0; i <= FACTOR_CELLS; i++) {
		double weight = cells[i].width * exp(posterior[i] - top);

		sum += weight;
		mean += weight * cells[i].value;
		squares += weight * evidence_square(cells[i].value);
	}
	factor->mean = mean / sum;
	factor->variance = fmax(squares / sum - evidence_square(factor->mean), 0);
}

/* ---- */

size_t evidence_common_factor(
	const struct evidence_row *rows, size_t count, const struct evidence_load *load, struct evidence_factor *factor)
{
	CLEANUP(cleanup_free) struct factor_row *chosen = memory_alloc((count + 1) * sizeof(*chosen));
	struct factor_search search = { load, count > 0 ? rows : NULL, chosen, choose_factor_rows(rows, count, chosen),
		{ 0 } };

	*factor = (struct evidence_factor){ .load = load->change };
	if (load->is_flat && search.count == 0)
		return 0;
	memcpy(search.weights, evidence_spread_priors[load->totals], sizeof(search.weights));
	if (load->total)
		spreads_weigh(load->total, evidence_spread_priors[load->totals], search.weights);
	if (load->totals == EVIDENCE_TOTAL_SUITE)
		find_factor_of_suite(&search, factor);
	else
		find_factor_of_program(&search, factor);
	factor->variance += session_variance(load);
	return search.count;
}

double evidence_change_variance(void)
{
	return evidence_square(evidence_change_sd);
}

double evidence_unknown_load_variance(void)
{
	return evidence_square(evidence_unknown_load_sd);
}

static double load_variance(const struct evidence_load *load)
{
	return evidence_square(evidence_load_cost.sd * load->change) + load->variance;
}

struct evidence_factor evidence_factor_of_load(const struct evidence_load *load)
{
	struct evidence_factor factor = { .mean = -evidence_load_cost.mean * load->change,
		.variance = load_variance(load) + session_variance(load),
		.load = load->change };

	return factor;
}

struct evidence_parts evidence_parts_of_total(const struct evidence_row *row, const struct evidence_load *load)
{
	struct evidence_parts parts = { .load = load_variance(load), .session = session_variance(load) };
	double weights[EVIDENCE_SPREADS];

	spreads_weigh(row, spreads_priors(row), weights);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		parts.starts += weights[k] * spreads_variance(row, spreads_at(row->class, k));
	for (int side = 0; side < EVIDENCE_SIDES; side++)
		parts.counting += 1 / fmax(factor_sums(&row->sides[side]).samples, .5);
	return parts;
}
