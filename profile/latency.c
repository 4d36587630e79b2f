/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of requests: their buckets, and quantiles of what is in these. */
#include "profile/model.h"

#include <math.h>
#include <string.h>

/* ---- Buckets ---- */

/* Latencies below 2^LINEAR_BITS have a bucket each; so many are in each power of two above. */
enum { LINEAR_BITS = 4, BUCKETS_OF_POWER = 1 << LINEAR_BITS };

uint64_t profile_latency_bucket_start(uint16_t bucket)
{
	int shift = bucket / BUCKETS_OF_POWER - 1;

	if (bucket < BUCKETS_OF_POWER)
		return bucket;
	return (uint64_t)(BUCKETS_OF_POWER + bucket % BUCKETS_OF_POWER) << shift;
}

uint64_t profile_latency_bucket_end(uint16_t bucket)
{
	return bucket + 1 < PROFILE_LATENCY_BUCKETS ? profile_latency_bucket_start((uint16_t)(bucket + 1)) : UINT64_MAX;
}

/* ---- Sums ---- */

void profile_latency_counts(
	const struct profile *profile, enum profile_exchange_kind kind, uint64_t counts[static PROFILE_LATENCY_BUCKETS])
{
	const struct profile_requests *requests = &profile->requests;

	memset(counts, 0, PROFILE_LATENCY_BUCKETS * sizeof(*counts));
	for (size_t i = 0; i < requests->latency_count; i++) {
		const struct profile_latency *latency = &requests->latencies[i];

		if (requests->exchanges[latency->exchanges].kind == kind)
			counts[latency->bucket] = saturating_add_unsigned(counts[latency->bucket], latency->count);
	}
}

double profile_latency_mean(const uint64_t counts[static PROFILE_LATENCY_BUCKETS])
{
	double total = 0, sum = 0;

	for (int i = 0; i < PROFILE_LATENCY_BUCKETS; i++) {
		double start = (double)profile_latency_bucket_start((uint16_t)i),
		       end = (double)profile_latency_bucket_end((uint16_t)i);

		total += (double)counts[i];
		sum += (double)counts[i] * (start + end) / 2;
	}
	return total > 0 ? sum / total : NAN;
}

double profile_latency_quantile(const uint64_t counts[static PROFILE_LATENCY_BUCKETS], double part)
{
	double total = 0, before = 0;
	uint16_t last = 0;

	for (int i = 0; i < PROFILE_LATENCY_BUCKETS; i++) {
		total += (double)counts[i];
		last = counts[i] ? (uint16_t)i : last;
	}
	if (!(total > 0))
		return NAN;
	for (uint16_t i = 0; i <= last; i++) {
		double count = (double)counts[i], start = (double)profile_latency_bucket_start(i),
		       width = (double)profile_latency_bucket_end(i) - start;

		if (count > 0 && (before + count >= part * total || i == last))
			return start + width * fmin(fmax((part * total - before) / count, 0), 1);
		before += count;
	}
	return NAN;
}
