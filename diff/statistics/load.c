/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/load.h"

#include "diff/constants.h"
#include "diff/evidence/evidence.h"
#include "diff/statistics/basis.h"

#include <gsl/gsl_sf_psi.h>
#include <math.h>
#include <string.h>

/* Functions in which threads wait: their cost depends on how often the threads wake up. */
static const char *const *const waits =
	GLOBS("*sys_epoll_*wait*", "*sys_*poll", "*sys_*poll_time*", "*sys_*select*", "*sys_*nanosleep*", "*sys_futex*",
		"*sys_rt_sigtimedwait*", "*sys_io_uring_enter", "*sys_pause", "*sys_wait*", "*sys_accept*",
		"epoll_wait", "epoll_pwait*", "poll", "ppoll", "select", "pselect", "nanosleep", "clock_nanosleep*");

double load_seconds(const struct profile *profile)
{
	double seconds = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		if (profile->runs[i].duration_ns <= 0)
			return 0;
		seconds += (double)profile->runs[i].duration_ns / 1e9;
	}
	return seconds;
}

/* ---- Waiting ---- */

static bool waits_in(const struct diff *diff, const struct diff_function *f)
{
	const char *name = diff_string(diff, f->name);

	if (diff_wait_class(diff, f) != PROFILE_WAIT_NONE)
		return true;
	return f->origin == PROFILE_ORIGIN_SYSTEM && glob_matches_any(waits, name);
}

static void statistics_load_find_waits(const struct diff *diff, bool **is_wait)
{
	*is_wait = memory_alloc((diff->function_count + 1) * sizeof(**is_wait));
	for (size_t i = 0; i < diff->function_count; i++)
		(*is_wait)[i] = waits_in(diff, &diff->functions[i]);
}

/* Makes [node]: whether the node is a wait for work or lies below one, as epoll_wait(). Owned by the caller. */
static void load_find_waiting(const struct diff *diff, bool **waiting)
{
	CLEANUP(cleanup_free) bool *is_wait = NULL;

	*waiting = memory_zeroed(diff->node_count + 1, sizeof(**waiting));
	statistics_load_find_waits(diff, &is_wait);
	for (uint32_t node = 1; node < diff->node_count; node++)
		(*waiting)[node] = (*waiting)[diff->nodes[node].parent] || is_wait[diff->nodes[node].function];
}

/* ---- The factor ---- */

/* Returns the raw value of a sample. Where nobody knows it, values are as good as counts. */
static double load_sample_value(const struct diff_build *build, enum diff_side side)
{
	return build->sample_weight[side] > 0 ? build->sample_weight[side] : 1;
}

/*
 * Sums up the samples of functions: of each by itself, or (`by_owner`) of the user's code with all library and system
 * code up to the next function of the user's. Waits and interrupts are no function's work.
 */
static void load_sum_samples(const struct diff_build *build, bool by_owner, double *const samples[DIFF_SIDES])
{
	const struct diff *diff = build->diff;
	CLEANUP(cleanup_free) uint32_t *owners = memory_alloc((diff->node_count + 1) * sizeof(*owners));
	CLEANUP(cleanup_free) bool *waiting = NULL;

	load_find_waiting(diff, &waiting);
	owners[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		const struct diff_node *n = &diff->nodes[node];
		bool is_user = diff->functions[n->function].origin == PROFILE_ORIGIN_USER;

		owners[node] = is_user || !by_owner ? n->function : owners[n->parent];
		if (waiting[node] || (n->flags & DIFF_NODE_INTERRUPT) || owners[node] == PROFILE_NONE)
			continue;
		for (int side = 0; side < DIFF_SIDES; side++)
			samples[side][owners[node]] +=
				diff->node_self[side][node] / load_sample_value(build, (enum diff_side)side);
	}
}

/* Finds what functions have in common whose code is not known to differ. */
static void load_estimate(const struct diff_build *build, bool by_owner, struct load *load)
{
	static const double work = 1;
	static const struct evidence_load unknown = { .is_flat = true };
	const struct diff *diff = build->diff;
	size_t count = diff->function_count, used = 0;
	CLEANUP(cleanup_free) double *base = memory_zeroed(count + 1, sizeof(*base));
	CLEANUP(cleanup_free) double *head = memory_zeroed(count + 1, sizeof(*head));
	CLEANUP(cleanup_free) struct evidence_row *rows = memory_zeroed(count + 1, sizeof(*rows));
	double value = load_sample_value(build, DIFF_BASE) / load_sample_value(build, DIFF_HEAD);
	struct evidence_factor factor;

	load_sum_samples(build, by_owner, (double *const[]){ base, head });
	for (size_t i = 0; i < count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (f->code != DIFF_CODE_CHANGED)
			rows[used++] = (struct evidence_row){ .class = f->by_tier ? EVIDENCE_COMPILED : EVIDENCE_OTHER,
				.sides = { { base + i, &work, 1 }, { head + i, &work, 1 } } };
	}
	load->functions = evidence_common_factor(rows, used, &unknown, &factor);
	load->variance = factor.variance;
	load->factor = load->functions > 0 ? exp(-factor.mean) * value
					   : diff->raw_total[DIFF_BASE] / diff->raw_total[DIFF_HEAD];
	/* They tell it at least twice as well as nobody does. */
	load->is_known =
		load->functions >= load_least_functions && 4 * load->variance < evidence_unknown_load_variance();
}

void load_measure(struct diff_build *build)
{
	if (build->diff->whole) {
		build->load = basis_of(build->diff)->load;
		return;
	}
	load_estimate(build, true, &build->load);
	if (build->load.functions < load_least_functions)
		load_estimate(build, false, &build->load);
	build->diff->basis->load = build->load;
}

bool load_is_apart(const struct profile *const profiles[DIFF_SIDES])
{
	int64_t first[DIFF_SIDES] = { INT64_MAX, INT64_MAX }, last[DIFF_SIDES] = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < profiles[side]->run_count; i++) {
			const struct profile_run *run = &profiles[side]->runs[i];

			if (run->name)
				continue;
			if (run->start_unix_ns == 0)
				return false;
			first[side] = run->start_unix_ns < first[side] ? run->start_unix_ns : first[side];
			last[side] = run->start_unix_ns > last[side] ? run->start_unix_ns : last[side];
		}
	return last[DIFF_BASE] > 0 && last[DIFF_HEAD] > 0 &&
	       (last[DIFF_BASE] < first[DIFF_HEAD] || last[DIFF_HEAD] < first[DIFF_BASE]);
}

/* ---- Rates ---- */

enum { LOAD_MOST_BLOCKS = 600 };

/*
 * Adds for each block the number of its requests times the logarithm of their rate. Of a Poisson number n, the digamma
 * function has the logarithm of its mean as the mean over requests (Johnson, Kemp and Kotz 2005), also where n is
 * small.
 */
static void load_add_run(
	const struct profile *profile, uint32_t run, enum profile_exchange_kind kind, double *sum, double *count)
{
	double duration = (double)profile->runs[run].duration_ns;
	double block = fmax(load_block_ns, duration / LOAD_MOST_BLOCKS);

	for (double from = 0; from < duration; from += block) {
		double until = fmin(from + block, duration);
		double n = profile_requests_between(profile, run, kind, (int64_t)from, (int64_t)until);

		*sum += n > 0 ? n * (gsl_sf_psi(fmax(n, 1)) - log((until - from) / load_block_ns)) : 0;
		*count += n;
	}
}

/* Returns the logarithm of the rate that a request meets; NAN: there are no requests, or no times. */
static double load_met_rate(const struct profile *profile, enum profile_exchange_kind kind)
{
	double sum = 0, count = 0;

	for (uint32_t run = 0; run < profile->run_count; run++)
		load_add_run(profile, run, kind, &sum, &count);
	return count > 0 ? sum / count : NAN;
}

static double load_change(const struct diff_build *build, enum profile_exchange_kind kind)
{
	double change =
		load_met_rate(build->profiles[DIFF_HEAD], kind) - load_met_rate(build->profiles[DIFF_BASE], kind);

	return isfinite(change) ? change : 0;
}

double load_rate_change(const struct diff_build *build)
{
	return load_change(build, PROFILE_EXCHANGE_ANSWERED);
}

double load_calls_change(const struct diff_build *build, bool *is_known)
{
	const struct diff_requests *requests = build->diff->requests;

	*is_known = requests[DIFF_BASE].count == 0 && requests[DIFF_HEAD].count == 0 &&
		    fmin(requests[DIFF_BASE].calls_out, requests[DIFF_HEAD].calls_out) >= diff_min_requests;
	return *is_known ? load_change(build, PROFILE_EXCHANGE_CALLED_OUT) : 0;
}
