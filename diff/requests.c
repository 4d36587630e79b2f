/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/requests.h"

#include "diff/probability/probability.h"
#include "diff/statistics/load.h"

#include <math.h>

/*
 * The thresholds of the model in requests.h. They are assumptions about services, not estimates from data: medians
 * within a quarter and tails within a factor of two are what two starts of one version show without a reason.
 */
static const double apart_p50 = 1.25, apart_p99 = 2, same_factor = 1.1;
/* The least number of answers that lie beyond a quantile which is judged. */
static const double least_beyond = 10;
static const double least_answers = 100;

/* ---- Sides ---- */

static void diff_requests_collect_side(struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	struct diff_requests *requests = &build->diff->requests[side];
	uint64_t counts[PROFILE_LATENCY_BUCKETS];
	double seconds = load_seconds(profile);

	requests->source = profile->requests.source;
	requests->one_in = profile->requests.one_in;
	requests->count = (double)profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED);
	requests->calls_out = (double)profile_requests_total(profile, PROFILE_EXCHANGE_CALLED_OUT);
	requests->per_s = seconds > 0 ? requests->count / seconds : 0;
	requests->calls_out_per_s = seconds > 0 ? requests->calls_out / seconds : 0;
	profile_latency_counts(profile, PROFILE_EXCHANGE_CALLED_OUT, counts);
	requests->calls_out_p50_ns = profile_latency_quantile(counts, 0.5);
	requests->calls_out_p99_ns = profile_latency_quantile(counts, 0.99);
	profile_latency_counts(profile, PROFILE_EXCHANGE_ANSWERED, counts);
	requests->p50_ns = profile_latency_quantile(counts, 0.5);
	requests->p90_ns = profile_latency_quantile(counts, 0.9);
	requests->p99_ns = profile_latency_quantile(counts, 0.99);
	build_text(build->diff, &requests->event, "%s", profile_string(profile, profile->requests.event));
}

/* ---- Latencies ---- */

/* An interval of a quantile on each side. */
struct quantile_intervals {
	double low[DIFF_SIDES], high[DIFF_SIDES];
	bool is_known;
};

static struct quantile_intervals quantile_intervals(uint64_t counts[DIFF_SIDES][PROFILE_LATENCY_BUCKETS], double part)
{
	struct quantile_intervals intervals = { .is_known = true };

	for (int side = 0; side < DIFF_SIDES; side++) {
		double answers = 0, error;

		for (size_t i = 0; i < PROFILE_LATENCY_BUCKETS; i++)
			answers += (double)counts[side][i];
		error = answers > 0 ? tail_normal_95 * sqrt(part * (1 - part) / answers) : 1;
		intervals.low[side] = profile_latency_quantile(counts[side], fmax(part - error, 0));
		intervals.high[side] = profile_latency_quantile(counts[side], fmin(part + error, 1));
		intervals.is_known &= answers >= least_answers && answers * (1 - part) >= least_beyond;
	}
	return intervals;
}

static enum diff_state quantile_state(const struct quantile_intervals *intervals, double apart)
{
	const double *low = intervals->low, *high = intervals->high;

	if (!intervals->is_known)
		return DIFF_STATE_UNPROVEN;
	if (low[DIFF_HEAD] > high[DIFF_BASE] * apart)
		return DIFF_STATE_MORE;
	if (low[DIFF_BASE] > high[DIFF_HEAD] * apart)
		return DIFF_STATE_LESS;
	if (fmax(high[DIFF_BASE], high[DIFF_HEAD]) <= same_factor * fmin(low[DIFF_BASE], low[DIFF_HEAD]))
		return DIFF_STATE_SAME;
	return DIFF_STATE_UNPROVEN;
}

static enum diff_state both_states(enum diff_state p50, enum diff_state p99)
{
	bool more = p50 == DIFF_STATE_MORE || p99 == DIFF_STATE_MORE,
	     less = p50 == DIFF_STATE_LESS || p99 == DIFF_STATE_LESS;

	if (more != less)
		return more ? DIFF_STATE_MORE : DIFF_STATE_LESS;
	/* The tail of equal services seldom shows that it is equal. */
	return !more && p50 == DIFF_STATE_SAME ? DIFF_STATE_SAME : DIFF_STATE_UNPROVEN;
}

static void judge_latency(struct diff_build *build)
{
	struct diff_latency *latency = &build->diff->latency;
	uint64_t counts[DIFF_SIDES][PROFILE_LATENCY_BUCKETS];
	struct quantile_intervals p50, p99;

	for (int side = 0; side < DIFF_SIDES; side++)
		profile_latency_counts(build->profiles[side], PROFILE_EXCHANGE_ANSWERED, counts[side]);
	p50 = quantile_intervals(counts, 0.5);
	p99 = quantile_intervals(counts, 0.99);
	for (int side = 0; side < DIFF_SIDES; side++) {
		latency->p50_low_ns[side] = p50.low[side];
		latency->p50_high_ns[side] = p50.high[side];
		latency->p99_low_ns[side] = p99.low[side];
		latency->p99_high_ns[side] = p99.high[side];
	}
	latency->is_known = p50.is_known;
	latency->p50 = quantile_state(&p50, apart_p50);
	latency->p99 = quantile_state(&p99, apart_p99);
	latency->state = both_states(latency->p50, latency->p99);
}

void requests_collect(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side])
			diff_requests_collect_side(build, (enum diff_side)side);
	if (build_two_sided(build))
		judge_latency(build);
}
