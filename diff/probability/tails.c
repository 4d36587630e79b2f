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
