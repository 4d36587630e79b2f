/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/workers.h"

#include <stdlib.h>

/* A worker answers at least this part of the requests that the busiest one does. */
static const double least_part = 1.0 / 3;

static bool answers(const struct profile_exchanges *e)
{
	return e->kind == PROFILE_EXCHANGE_ANSWERED && e->pid != 0 && e->count > 0;
}

static const struct profile_exchanges *busiest(const struct profile_requests *requests)
{
	const struct profile_exchanges *most = NULL;

	for (size_t i = 0; i < requests->exchange_count; i++)
		if (answers(&requests->exchanges[i]) && (!most || requests->exchanges[i].count > most->count))
			most = &requests->exchanges[i];
	return most;
}

static bool is_worker(const struct profile_exchanges *e, const struct profile_exchanges *most)
{
	return answers(e) && e->process_name == most->process_name &&
	       (double)e->count >= least_part * (double)most->count;
}

/* Fills, for each of [exchanges], the unit of the worker that they are of, or `units`. */
static void number_workers(const struct profile_requests *requests, const struct profile_exchanges *most, size_t units,
	uint32_t *unit_of, double *work)
{
	size_t workers = 0;

	for (size_t i = 0; i < requests->exchange_count; i++) {
		unit_of[i] = (uint32_t)units;
		if (!is_worker(&requests->exchanges[i], most))
			continue;
		unit_of[i] = (uint32_t)(workers++ % units);
		work[unit_of[i]] += (double)requests->exchanges[i].count;
	}
}

static int by_process(const void *key, const void *member)
{
	const struct profile_thread *thread = key;
	const struct profile_exchanges *e = member;

	if (thread->run != e->run)
		return thread->run < e->run ? -1 : 1;
	return thread->pid != e->pid ? ORDER(thread->pid, e->pid) : ORDER((int)PROFILE_EXCHANGE_ANSWERED, (int)e->kind);
}

/* Gives the threads of each worker their unit, and counts the requests of each. `*units` 0: there are too few workers.
 */
static void assign_units(const struct profile *profile, uint32_t *of_thread, double *work, size_t *units)
{
	const struct profile_requests *requests = &profile->requests;
	const struct profile_exchanges *most = busiest(requests);
	CLEANUP(cleanup_free) uint32_t *unit_of = memory_alloc((requests->exchange_count + 1) * sizeof(*unit_of));
	size_t workers = 0;

	*units = 0;
	for (size_t i = 0; most && i < requests->exchange_count; i++)
		workers += is_worker(&requests->exchanges[i], most);
	if (workers < WORKERS_LEAST)
		return;
	*units = workers < WORKERS_MOST ? workers : WORKERS_MOST;
	number_workers(requests, most, *units, unit_of, work);
	for (size_t i = 0; i < profile->thread_count; i++) {
		/* Exchanges are in order of run, process and kind. */
		const struct profile_exchanges *e = bsearch(
			&profile->threads[i], requests->exchanges, requests->exchange_count, sizeof(*e), by_process);

		of_thread[i] = e ? unit_of[e - requests->exchanges] : (uint32_t)*units;
	}
}

void workers_fill(const struct diff_build *build, const struct row_index *index, enum diff_side side,
	struct experiment *experiment)
{
	const struct profile *profile = build->profiles[side];
	struct workers *workers = &experiment->sides[side].workers;
	CLEANUP(cleanup_free) uint32_t *of_thread = NULL;
	struct sums_division division;

	if (build->diff->scale.mode != DIFF_SCALE_PER_REQUEST || build->diff->evidence.mode != DIFF_EVIDENCE_SINGLE)
		return;
	of_thread = memory_alloc((profile->thread_count + 1) * sizeof(*of_thread));
	workers->work = memory_zeroed(WORKERS_MOST, sizeof(*workers->work));
	assign_units(profile, of_thread, workers->work, &workers->count);
	division = (struct sums_division){ .units = workers->count, .of_thread = of_thread };
	if (workers->count != 0)
		sums_fill(build, index, side, &division, experiment->row_count, &workers->values);
}
