/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"
#include "diff/probability/probability.h"

double evidence_latency_p(double effect, double variance, bool is_tail, double load)
{
	double spread = is_tail ? evidence_latencies.tail : 1,
	       narrow = evidence_square(spread * evidence_latencies.sd) +
			evidence_square(evidence_latencies.load * load) + variance,
	       wide = evidence_square(evidence_latencies.wide_sd) + variance;

	return (1 - evidence_latencies.wide_part) * tail_two_sided(effect / sqrt(narrow), INFINITY) +
	       evidence_latencies.wide_part * tail_two_sided(effect / sqrt(wide), INFINITY);
}
