/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/counts.h"

#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"

#include <gsl/gsl_cdf.h>
#include <stdlib.h>
#include <string.h>

/* The positive half of the nodes of Gauss and Hermite's quadrature for the standard normal distribution, 24 nodes. */
enum { HALF_NODES = 12 };
static const struct {
	double x, weight;
} nodes[HALF_NODES] = {
	{ 0.31737009662945237, 0.2408701155466404 },
	{ 0.95342192293210903, 0.16145951286700011 },
	{ 1.5934804298164202, 0.072069364017178228 },
	{ 2.2404678516917524, 0.021126344408967556 },
	{ 2.8977286432233136, 0.0039766089291813069 },
	{ 3.5693067640735601, 0.00046471871877939644 },
	{ 4.2603836050199053, 3.2095005652746016e-05 },
	{ 4.9780413746391199, 1.2176597454425883e-06 },
	{ 5.7327471752512009, 2.2674616734806501e-08 },
	{ 6.5416750050986341, 1.7186649279648716e-10 },
	{ 7.437890666021663, 3.7149741527624003e-13 },
	{ 8.5078035191952566, 9.3901936890420398e-17 },
};

/* Returns log(1 + exp(x)). */
static double softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

/* Returns the logarithm of the likelihood of log-odds, but for the binomial coefficient. */
static double counts_log_likelihood(const struct evidence *e, double odds)
{
	return -e->samples[1] * softplus(-odds) - e->samples[0] * softplus(odds);
}

static bool counts_are_normal(const struct evidence *e)
{
	return e->is_exact || fmin(e->samples[0], e->samples[1]) >= evidence_normal_samples;
}

static double counts_variance(const struct evidence *e)
{
	return e->is_exact ? 0 : 1 / e->samples[0] + 1 / e->samples[1];
}

/* Finds the t with the greatest product of likelihood and density, by Newton's method with bounded steps. */
static double counts_find_mode(const struct evidence *e, double variance)
{
	enum { STEPS = 12 };
	double base = e->samples[0] + .5, head = e->samples[1] + .5, n = e->samples[0] + e->samples[1];
	double t = fmin(fmax(log(head / base) - e->offset, -12), 12) * variance / (variance + 1 / head + 1 / base);

	for (int i = 0; i < STEPS; i++) {
		double p = logistic(e->offset + t), slope = e->samples[1] - n * p - t / variance;

		t += fmin(fmax(slope / (n * p * (1 - p) + 1 / variance), -1), 1);
	}
	return t;
}

/* Quadrature around the mode (Liu and Pierce 1994), which holds for counts of any size. */
static double counts_integrate(const struct evidence *e, double variance)
{
	double n = e->samples[0] + e->samples[1], mode = counts_find_mode(e, variance);
	double p = logistic(e->offset + mode), width = 1 / sqrt(n * p * (1 - p) + 1 / variance), sum = 0, top;

	top = counts_log_likelihood(e, e->offset + mode) - .5 * mode * mode / variance;
	for (int i = 0; i < 2 * HALF_NODES; i++) {
		double x = i % 2 == 0 ? nodes[i / 2].x : -nodes[i / 2].x, t = mode + width * x;

		sum += nodes[i / 2].weight *
		       exp(counts_log_likelihood(e, e->offset + t) - .5 * t * t / variance + .5 * x * x - top);
	}
	return top + log(sum * width / sqrt(variance)) + lgamma(n + 1) - lgamma(e->samples[0] + 1) -
	       lgamma(e->samples[1] + 1);
}

/* Returns the logarithm of the ratio beyond what no change would make, where it has a normal distribution. */
static double counts_difference(const struct evidence *e)
{
	return e->is_exact ? e->effect : log(e->samples[1] / e->samples[0]) - e->offset;
}

double counts_log_probability(const struct evidence *e, double variance)
{
	double all, density;

	if (!counts_are_normal(e))
		return counts_integrate(e, variance);
	all = variance + counts_variance(e);
	density = log(evidence_density(0, all)) - .5 * evidence_square(counts_difference(e)) / all;
	return e->is_exact ? density : density + log(counts_variance(e));
}

/* ---- Tails ---- */

/* Cells of t, narrow where counts of fewer than evidence_normal_samples decide, and wide beyond. */
enum { NARROW_CELLS = 30, WIDE_CELLS = 20, TAIL_CELLS = NARROW_CELLS + WIDE_CELLS };
static const double narrow_cell = .1, wide_cell = .5;

/* Returns the upper end of a cell of the positive half. */
static double cell_end(int i)
{
	return i < NARROW_CELLS ? (i + 1) * narrow_cell
				: NARROW_CELLS * narrow_cell + (i + 1 - NARROW_CELLS) * wide_cell;
}

/* Fills the probability of each cell of the positive half, under the mixture of all spreads. */
static void fill_cells(const struct evidence *e, double cells[static TAIL_CELLS])
{
	memset(cells, 0, TAIL_CELLS * sizeof(*cells));
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double weight = e->weights[k], sd = sqrt(e->variance[k]), before = .5;

		for (int i = 0; i < TAIL_CELLS && before < 1 && weight > 0; i++) {
			double below = i + 1 < TAIL_CELLS ? gsl_cdf_ugaussian_P(cell_end(i) / sd) : 1;

			cells[i] += weight * (below - before);
			before = below;
		}
	}
}

/* Adds both tails at a value of t. */
static void add_tails_at(const struct evidence *e, double t, double weight, double *upper, double *lower)
{
	double p = logistic(e->offset + t), head = e->samples[1], base = e->samples[0];

	*upper += weight * (head > 0 ? gsl_cdf_beta_P(p, head, base + 1) : 1);
	*lower += weight * (base > 0 ? gsl_cdf_beta_Q(p, head + 1, base) : 1);
}

static void normal_tails(const struct evidence *e, double *upper, double *lower)
{
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double z = counts_difference(e) / sqrt(e->variance[k] + counts_variance(e));

		*upper += e->weights[k] * gsl_cdf_ugaussian_Q(z);
		*lower += e->weights[k] * gsl_cdf_ugaussian_P(z);
	}
}

void counts_tails(const struct evidence *e, double *upper, double *lower)
{
	double cells[TAIL_CELLS], from = 0;

	*upper = *lower = 0;
	if (counts_are_normal(e)) {
		normal_tails(e, upper, lower);
		return;
	}
	fill_cells(e, cells);
	for (int i = 0; i < TAIL_CELLS; i++) {
		double t = (from + cell_end(i)) / 2;

		from = cell_end(i);
		if (cells[i] < 1e-12)
			continue;
		add_tails_at(e, t, cells[i], upper, lower);
		add_tails_at(e, -t, cells[i], upper, lower);
	}
}

/* ---- Quantiles ---- */

/* The posterior of a change: a mixture of normal distributions. */
struct mixture {
	double weights[EVIDENCE_SPREADS], means[EVIDENCE_SPREADS], sds[EVIDENCE_SPREADS];
};

static double mixture_below(const struct mixture *mixture, double x)
{
	double sum = 0;

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		sum += mixture->weights[k] * gsl_cdf_ugaussian_P((x - mixture->means[k]) / mixture->sds[k]);
	return sum;
}

static double mixture_quantile(const struct mixture *mixture, double tail)
{
	enum { STEPS = 60 };
	double low = INFINITY, high = -INFINITY;

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		low = fmin(low, mixture->means[k] - 8 * mixture->sds[k]);
		high = fmax(high, mixture->means[k] + 8 * mixture->sds[k]);
	}
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;

		if (mixture_below(mixture, middle) < tail)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static void normal_quantiles(
	const struct evidence *e, double prior_sd, const double *tails, size_t count, double *values)
{
	double y = counts_difference(e), sum = 0, prior = prior_sd * prior_sd;
	struct mixture mixture;

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double own = e->variance[k] + counts_variance(e), all = own + prior;

		mixture.weights[k] = e->weights[k] * exp(-.5 * y * y / all) / sqrt(all);
		mixture.means[k] = y * prior / all;
		mixture.sds[k] = sqrt(own * prior / all);
		sum += mixture.weights[k];
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		mixture.weights[k] /= sum;
	for (size_t i = 0; i < count; i++)
		values[i] = mixture_quantile(&mixture, tails[i]);
}

/*
 * Cells of equal width, in which few counts are integrated: of changes around the one that was counted, and of log-odds
 * that t reaches from there.
 */
enum { CELLS = 400, MARGIN = 400 };
static const double cell_width = .05;

static double cell_of(int i)
{
	return ((double)i - CELLS / 2.0) * cell_width;
}

/* Fills the probability of each distance in cells between a change and the log-odds that it led to. */
static void fill_kernel(const struct evidence *e, double kernel[static MARGIN + 1])
{
	memset(kernel, 0, (MARGIN + 1) * sizeof(*kernel));
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double weight = e->weights[k], sd = sqrt(e->variance[k]),
		       before = gsl_cdf_ugaussian_P(-.5 * cell_width / sd);

		for (int i = 0; i <= MARGIN && before < 1 && weight > 0; i++) {
			double below = gsl_cdf_ugaussian_P(((double)i + .5) * cell_width / sd);

			kernel[i] += weight * (below - before);
			before = below;
		}
	}
}

/* Adds what log-odds of a likelihood say of each change that may have led to them. */
static void spread_likelihood(
	double likelihood, int at, const double kernel[static MARGIN + 1], double cells[static CELLS + 1])
{
	int last = at < CELLS ? at : CELLS;

	for (int i = at > 2 * MARGIN ? at - 2 * MARGIN : 0; i <= last; i++)
		cells[i] += likelihood * kernel[abs(i + MARGIN - at)];
}

static void cell_quantiles(const double *cells, const double *tails, size_t count, double *values)
{
	double sum = 0, below = 0;
	size_t found = 0;

	for (int i = 0; i <= CELLS; i++)
		sum += cells[i];
	for (int i = 0; i <= CELLS && found < count; i++) {
		for (; found < count && below + cells[i] >= tails[found] * sum; found++)
			values[found] = cell_of(i) +
					(cells[i] > 0 ? (tails[found] * sum - below) / cells[i] - .5 : 0) * cell_width;
		below += cells[i];
	}
	for (; found < count; found++)
		values[found] = cell_of(CELLS);
}

void counts_quantiles(const struct evidence *e, double prior_sd, const double *tails, size_t count, double *values)
{
	static const double negligible = 1e-12;
	double likelihood[CELLS + 1 + 2 * MARGIN], kernel[MARGIN + 1], cells[CELLS + 1] = { 0 }, top = -INFINITY;

	if (counts_are_normal(e)) {
		normal_quantiles(e, prior_sd, tails, count, values);
		return;
	}
	for (int i = 0; i <= CELLS + 2 * MARGIN; i++) {
		likelihood[i] = counts_log_likelihood(e, e->offset + e->effect + cell_of(i - MARGIN));
		top = fmax(top, likelihood[i]);
	}
	fill_kernel(e, kernel);
	for (int i = 0; i <= CELLS + 2 * MARGIN; i++)
		if (likelihood[i] > top + log(negligible))
			spread_likelihood(exp(likelihood[i] - top), i, kernel, cells);
	for (int i = 0; i <= CELLS; i++)
		cells[i] *= evidence_density(e->effect + cell_of(i), prior_sd * prior_sd);
	cell_quantiles(cells, tails, count, values);
	for (size_t i = 0; i < count; i++)
		values[i] += e->effect;
}
