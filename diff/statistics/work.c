/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/work.h"

#include "diff/constants.h"
#include "diff/statistics/sums.h"
#include "diff/statistics/units.h"

#include <math.h>
#include <string.h>

/* ---- Whether costs can be compared per request ---- */

/* All requests that a side answered. */
struct answered {
	double count, bytes, connections;
};

static struct answered sum_answered(const struct profile *profile)
{
	const struct profile_requests *requests = &profile->requests;
	struct answered sum = { 0 };

	for (size_t i = 0; i < requests->exchange_count; i++) {
		const struct profile_exchanges *e = &requests->exchanges[i];

		if (e->kind != PROFILE_EXCHANGE_ANSWERED)
			continue;
		sum.count += (double)e->count;
		sum.bytes += (double)e->received_bytes;
		sum.connections += (double)e->connections;
	}
	return sum;
}

/* Returns whether both values are known, and differ by more than a ratio. */
static bool statistics_work_differs(double base, double head, double most_ratio)
{
	return base > 0 && head > 0 && fabs(log(head / base)) > log(most_ratio);
}

/*
 * Returns whether one side has connections of few requests and the other has not. Logging in is exchanges, too, which
 * would count as the requests of such a connection.
 */
static bool connects_otherwise(const struct answered *base, const struct answered *head)
{
	double of_base = base->count / base->connections, of_head = head->count / head->connections;

	return fmin(of_base, of_head) < work_few_per_connection &&
	       statistics_work_differs(of_base, of_head, work_most_connection_ratio);
}

/* Returns the time in nanoseconds for which requests were in progress: the sum of their latencies; NAN: not known. */
static double time_in_progress(const struct profile *profile)
{
	uint64_t counts[PROFILE_LATENCY_BUCKETS];
	double sum = 0, all = 0;

	profile_latency_counts(profile, PROFILE_EXCHANGE_ANSWERED, counts);
	for (size_t i = 0; i < PROFILE_LATENCY_BUCKETS; i++) {
		sum += (double)counts[i] *
		       ((double)profile_latency_bucket_start((uint16_t)i) +
			       (double)profile_latency_bucket_end((uint16_t)i)) /
		       2;
		all += (double)counts[i];
	}
	return all > 0 ? sum : NAN;
}

/* Returns the CPU time of a side in nanoseconds; NAN: the profile does not tell. */
static double cpu_time(const struct profile *profile)
{
	uint32_t cpu = profile_wait_values(profile).cpu;

	return cpu == PROFILE_NONE ? NAN : (double)profile_sum(profile, cpu);
}

bool work_is_of_requests(const struct profile *profile)
{
	double progress = time_in_progress(profile), cpu = cpu_time(profile);

	return isnan(progress) || isnan(cpu) || progress >= work_least_in_progress * cpu;
}

static bool counts_the_same(const struct profile *base, const struct profile *head)
{
	return base->requests.source == head->requests.source &&
	       strcmp(profile_string(base, base->requests.event), profile_string(head, head->requests.event)) == 0;
}

static void find_doubt(struct diff_build *build)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	struct answered of_base = sum_answered(base), of_head = sum_answered(head);
	double base_bytes = of_base.bytes / of_base.count, head_bytes = of_head.bytes / of_head.count;
	uint32_t *doubt = &build->diff->requests_doubt;

	if (!counts_the_same(base, head)) {
		build_text(build->diff, doubt, "base and head count different things as requests");
		return;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (build->diff->requests[side].count < diff_min_requests) {
			build_text(build->diff, doubt,
				"%s answered %.0f requests only, too few to compare costs per request",
				diff_side_name(side), build->diff->requests[side].count);
			return;
		}
	}
	if (statistics_work_differs(base_bytes, head_bytes, work_most_bytes_ratio)) {
		build_text(build->diff, doubt,
			"a request had %.3g bytes in base and %.3g in head: these are other requests, or bursts of several requests",
			base_bytes, head_bytes);
		return;
	}
	if (connects_otherwise(&of_base, &of_head)) {
		build_text(build->diff, doubt,
			"a connection had %.3g requests in base and %.3g in head: what belongs to making one may count as requests",
			of_base.count / of_base.connections, of_head.count / of_head.connections);
		return;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!work_is_of_requests(build->profiles[side])) {
			build_text(build->diff, doubt,
				"requests were in progress for %.2g %% of the CPU time of %s only: the program mostly works on something else",
				100 * time_in_progress(build->profiles[side]) / cpu_time(build->profiles[side]),
				diff_side_name(side));
			return;
		}
	}
}

void work_compare(struct diff_build *build, bool *usable)
{
	*usable = false;
	build->diff->requests_doubt = 0;
	if (!(build->diff->requests[DIFF_BASE].count > 0) || !(build->diff->requests[DIFF_HEAD].count > 0))
		return;
	find_doubt(build);
	*usable = build->diff->requests_doubt == 0;
}

/* ---- The requests of each unit ---- */

static void fill_runs(const struct profile *profile, size_t units, double *work)
{
	for (uint32_t run = 0; run < profile->run_count; run++)
		work[units > 1 ? run : 0] +=
			profile_requests_between(profile, run, PROFILE_EXCHANGE_ANSWERED, 0, INT64_MAX);
}

/* The blocks cut the runs, one after the other, into pieces of equal length, as sums.c does. */
static void fill_blocks(const struct diff_build *build, enum diff_side side, size_t blocks, double *work)
{
	const struct profile *profile = build->profiles[side];
	CLEANUP(cleanup_free) int64_t *lengths = sums_lengths_of_runs(build, side);
	double block_ns, offset = 0;

	block_ns = (double)sums_length(profile, lengths) / (double)blocks;
	for (uint32_t run = 0; run < profile->run_count; run++) {
		for (size_t block = 0; block < blocks; block++) {
			double from = fmax((double)block * block_ns - offset, 0);
			double until = fmin((double)(block + 1) * block_ns - offset, (double)lengths[run]);

			if (from < until)
				work[block] += profile_requests_between(
					profile, run, PROFILE_EXCHANGE_ANSWERED, (int64_t)from, (int64_t)until);
		}
		offset += (double)lengths[run];
	}
}

void work_fill(const struct diff_build *build, struct experiment *experiment)
{
	enum diff_evidence_mode mode = build->diff->evidence.mode;

	if (build->diff->scale.mode != DIFF_SCALE_PER_REQUEST ||
		(mode != DIFF_EVIDENCE_RUNS && mode != DIFF_EVIDENCE_SINGLE))
		return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct experiment_side *s = &experiment->sides[side];

		s->work = memory_zeroed(s->unit_count + 1, sizeof(*s->work));
		if (mode == DIFF_EVIDENCE_SINGLE)
			fill_blocks(build, (enum diff_side)side, s->unit_count, s->work);
		else
			fill_runs(build->profiles[side], s->unit_count, s->work);
	}
}
