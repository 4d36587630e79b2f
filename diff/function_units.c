/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/function_units.h"

#include "diff/build.h"
#include "diff/statistics/sums.h"
#include "diff/statistics/units.h"
#include "diff/statistics/work.h"
#include "diff/totals.h"

#include <stdlib.h>
#include <string.h>

void diff_function_units_destroy(struct diff_function_units *units)
{
	if (!units)
		return;
	diff_destroy(units->diff);
	free(units->whole);
	free(units->self);
	free(units->total);
	free(units->work);
	free(units->fingerprint);
	free(units);
}

/* A function has a fingerprint where all that was sampled of it is one piece of code. */
static void function_units_fingerprint(const struct diff_build *build, struct diff_function_units *units)
{
	const struct profile *profile = build->profiles[DIFF_HEAD];
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) bool *has_several = memory_zeroed(count + 1, sizeof(*has_several));

	units->fingerprint = memory_zeroed(count + 1, sizeof(*units->fingerprint));
	for (uint32_t i = 0; i < profile->function_count; i++) {
		uint32_t id = build_function(build, DIFF_HEAD, i);
		uint64_t fingerprint = profile->functions[i].fingerprint;

		if (id == PROFILE_NONE || fingerprint == 0)
			continue;
		has_several[id] |= units->fingerprint[id] && units->fingerprint[id] != fingerprint;
		units->fingerprint[id] = fingerprint;
	}
	for (size_t i = 0; i < count; i++)
		units->fingerprint[i] = has_several[i] ? 0 : units->fingerprint[i];
}

/* Row 0 is the whole; then the functions' own times, and their totals. */
static void function_units_choose_rows(const struct diff *diff, struct experiment *experiment)
{
	uint32_t functions = (uint32_t)diff->function_count;

	experiment->rows = memory_zeroed(1 + 2 * (size_t)functions, sizeof(*experiment->rows));
	experiment->rows[experiment->row_count++].kind = ROW_WHOLE;
	for (uint32_t i = 0; i < functions; i++)
		experiment->rows[experiment->row_count++] = (struct row){ .kind = ROW_SELF, .id = i };
	for (uint32_t i = 0; i < functions; i++)
		experiment->rows[experiment->row_count++] = (struct row){ .kind = ROW_TOTAL, .id = i };
}

static void function_units_divide(
	const struct profile *profile, struct diff_function_units *units, uint32_t **of_thread)
{
	size_t blocks = units_blocks(profile);

	units->are_runs = profile->run_count >= UNITS_MIN_RUNS;
	units->count = units->are_runs ? profile->run_count : blocks ? blocks : 1;
	if (!units->are_runs)
		return;
	*of_thread = memory_alloc((profile->thread_count + 1) * sizeof(**of_thread));
	for (size_t i = 0; i < profile->thread_count; i++)
		(*of_thread)[i] = profile->threads[i].run;
}

static void function_units_copy(const double *values, size_t count, double **copy)
{
	*copy = memory_alloc((count + 1) * sizeof(**copy));
	memcpy(*copy, values, count * sizeof(**copy));
}

static void function_units_sum(const struct diff_build *build, struct diff_function_units *units)
{
	CLEANUP(experiment_deinit) struct experiment experiment = { 0 };
	CLEANUP(row_index_cleanup) struct row_index *index = NULL;
	CLEANUP(cleanup_free) uint32_t *of_thread = NULL;
	CLEANUP(cleanup_free) double *values = NULL;
	struct sums_division division;
	size_t cells;

	function_units_choose_rows(build->diff, &experiment);
	row_index_create(build->diff, &experiment, &index);
	function_units_divide(build->profiles[DIFF_HEAD], units, &of_thread);
	division = (struct sums_division){ units->count, units->count > 1 && !units->are_runs, of_thread };
	sums_fill(build, index, DIFF_HEAD, &division, experiment.row_count, &values);
	cells = build->diff->function_count * units->count;
	function_units_copy(values, units->count, &units->whole);
	function_units_copy(values + units->count, cells, &units->self);
	function_units_copy(values + units->count + cells, cells, &units->total);
}

static void function_units_count_work(const struct diff_build *build, struct diff_function_units *units)
{
	if (!(build->diff->requests[DIFF_HEAD].count > 0) || !work_is_of_requests(build->profiles[DIFF_HEAD]))
		return;
	units->work = memory_zeroed(units->count, sizeof(*units->work));
	work_sum_units(build, DIFF_HEAD, units->count, units->count > 1 && !units->are_runs, units->work);
}

bool diff_function_units_create(const struct profile *profile, const struct diff_options *options,
	struct diff_function_units **units, struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { NULL, profile }, .is_for_comparison = true };
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *made = memory_zeroed(1, sizeof(*made));

	build_init(&build, options);
	if (!build_sum_up(&build, err))
		return false;
	build_release_trees(&build);
	totals_scale(build.diff);
	made->sample_weight = build.sample_weight[DIFF_HEAD];
	function_units_fingerprint(&build, made);
	function_units_sum(&build, made);
	function_units_count_work(&build, made);
	made->diff = TAKE(build.diff);
	*units = TAKE(made);
	return true;
}
