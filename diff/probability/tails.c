/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/probability/tails.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

double tail_two_sided(double t, double freedom)
{
	if (isinf(freedom))
		return erfc(fabs(t) / M_SQRT2);
	return fmin(1, 2 * gsl_cdf_tdist_Q(fabs(t), freedom));
}

double tail_quantile(double upper, double freedom)
{
	upper = fmax(upper, 1e-12);
	return isinf(freedom) ? gsl_cdf_ugaussian_Qinv(upper) : gsl_cdf_tdist_Qinv(upper, freedom);
}

static double log_beta(double a, double b)
{
	return lgamma(a) + lgamma(b) - lgamma(a + b);
}

/* Returns the logarithm of the probability of exactly x of n. */
static double log_probability(double x, double n, double share, double strength)
{
	double a = share * strength, b = (1 - share) * strength;
	double choose = -log(n + 1) - log_beta(x + 1, n - x + 1);

	if (isinf(strength))
		return choose + x * log(share) + (n - x) * log1p(-share);
	return choose + log_beta(x + a, n - x + b) - log_beta(a, b);
}

/* Returns the probability of at most x of n. The sum ends early when further terms make no difference. */
static double lower_tail(double x, double n, double share, double strength)
{
	double sum = 0;

	for (double i = x; i >= 0; i--) {
		double term = exp(log_probability(i, n, share, strength));

		sum += term;
		if (term < sum * 1e-12 && i < n * share)
			break;
	}
	return fmin(1, sum);
}

double tail_exact(double base, double head, double share, double variance)
{
	/* Above this strength the beta distribution is practically a point, and its logarithms would cancel. */
	double strength = variance > 1e-7 ? 1 / (variance * share * (1 - share)) : INFINITY;
	double n = base + head;

	if (n <= 0)
		return 1;
	if (head < n * share)
		return fmin(1, 2 * lower_tail(head, n, share, strength));
	return fmin(1, 2 * lower_tail(base, n, 1 - share, strength));
}

double tail_mean_of_squares(double part)
{
	/* x times the density of a chi-squared variable with 1 degree of freedom is that of one with 3. */
	return part >= 1 ? 1 : gsl_cdf_chisq_P(gsl_cdf_chisq_Pinv(part, 1), 3) / part;
}
