/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/rates.h"

/* Returns the mean rate, in 1/s, of the runs that last until then. */
static double rate_between(
	const struct profile *profile, enum profile_exchange_kind kind, int64_t from_ns, int64_t until_ns)
{
	double sum = 0;
	int runs = 0;

	for (uint32_t run = 0; run < profile->run_count; run++) {
		if (profile->runs[run].duration_ns < until_ns)
			continue;
		sum += profile_requests_between(profile, run, kind, from_ns, until_ns);
		runs++;
	}
	return runs > 0 ? sum / runs / ((double)(until_ns - from_ns) / 1e9) : 0;
}

size_t diff_request_rates(const struct diff *diff, const struct profile *profile, enum diff_side side,
	double per_s[static DIFF_MOST_RATES], int64_t *length_ns)
{
	static const int64_t least_part_ns = 500000000;
	enum profile_exchange_kind kind =
		diff->requests[side].count > 0 ? PROFILE_EXCHANGE_ANSWERED : PROFILE_EXCHANGE_CALLED_OUT;
	int64_t parts;

	*length_ns = 0;
	for (size_t run = 0; run < profile->run_count; run++)
		if (profile->runs[run].duration_ns > *length_ns)
			*length_ns = profile->runs[run].duration_ns;
	if (profile->requests.reading_count == 0)
		return 0;
	parts = *length_ns / least_part_ns < DIFF_MOST_RATES ? *length_ns / least_part_ns : DIFF_MOST_RATES;
	for (int64_t i = 0; i < parts; i++) {
		int64_t from_ns = i * (*length_ns / parts);

		per_s[i] = rate_between(profile, kind, from_ns, from_ns + *length_ns / parts);
	}
	return (size_t)parts;
}
