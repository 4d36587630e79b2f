/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/requests.h"

#include "diff/constants.h"
#include "diff/evidence/evidence.h"
#include "diff/probability/probability.h"
#include "diff/statistics/load.h"

#include <math.h>

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
		intervals.is_known &=
			answers >= requests_least_answers && answers * (1 - part) >= requests_least_beyond;
	}
	return intervals;
}

/* Returns the logarithm of head's quantile over base's, and the variance by which their intervals know it. */
static double quantile_effect(const struct quantile_intervals *intervals, double *variance)
{
	double middle[DIFF_SIDES];

	*variance = 0;
	for (int side = 0; side < DIFF_SIDES; side++) {
		double low = log(fmax(intervals->low[side], 1)), high = log(fmax(intervals->high[side], 1));

		middle[side] = (low + high) / 2;
		*variance += pow((high - low) / 2 / tail_normal_95, 2);
	}
	return middle[DIFF_HEAD] - middle[DIFF_BASE];
}

static enum diff_state quantile_state(const struct quantile_intervals *intervals, bool is_tail, double load)
{
	const double *low = intervals->low, *high = intervals->high;
	double variance, effect = quantile_effect(intervals, &variance);

	if (!intervals->is_known)
		return DIFF_STATE_UNPROVEN;
	if (evidence_latency_p(effect, variance, is_tail, load) * evidence_question_adjustment() < step_up_default_q)
		return effect > 0 ? DIFF_STATE_MORE : DIFF_STATE_LESS;
	if (fmax(high[DIFF_BASE], high[DIFF_HEAD]) <= requests_same_factor * fmin(low[DIFF_BASE], low[DIFF_HEAD]))
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
	double load = load_rate_change(build);
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
	latency->p50 = quantile_state(&p50, false, load);
	latency->p99 = quantile_state(&p99, true, load);
	latency->state = both_states(latency->p50, latency->p99);
}

/* ---- Connections ---- */

/* Returns how many exchanges a connection has in which a side answered; NAN: it is not known. */
static double exchanges_in_connection(const struct profile *profile, double *connections)
{
	const struct profile_requests *requests = &profile->requests;
	double count = 0;

	*connections = 0;
	for (size_t i = 0; i < requests->exchange_count; i++) {
		if (requests->exchanges[i].kind != PROFILE_EXCHANGE_ANSWERED)
			continue;
		count += (double)requests->exchanges[i].count;
		*connections += (double)requests->exchanges[i].connections;
	}
	return requests->source == PROFILE_WORK_SOCKETS && *connections > 0 ? count / *connections : NAN;
}

/* A connection of a handshake and one request has three exchanges. */
static bool most_are_handshakes(double exchanges)
{
	return exchanges > 2 && exchanges < 4;
}

static void count_connections(struct diff_build *build)
{
	double connections[DIFF_SIDES] = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side] &&
			!most_are_handshakes(exchanges_in_connection(build->profiles[side], &connections[side])))
			return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		build->diff->requests[side].count = connections[side];
		build->diff->requests[side].is_by_connection = true;
	}
}

void requests_collect(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side])
			diff_requests_collect_side(build, (enum diff_side)side);
	count_connections(build);
	for (int side = 0; side < DIFF_SIDES; side++) {
		double seconds = build->profiles[side] ? load_seconds(build->profiles[side]) : 0;

		build->diff->requests[side].per_s = seconds > 0 ? build->diff->requests[side].count / seconds : 0;
	}
	if (build_two_sided(build))
		judge_latency(build);
}
