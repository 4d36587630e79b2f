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
static bool function_units_fingerprint(
	const struct diff_build *build, struct diff_function_units *units, struct error *err)
{
	const struct profile *profile = build->profiles[DIFF_HEAD];
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) bool *has_several = calloc(count + 1, sizeof(*has_several));

	units->fingerprint = calloc(count + 1, sizeof(*units->fingerprint));
	if (!has_several || !units->fingerprint)
		return error_set_memory(err);
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
	return true;
}

/* Row 0 is the whole; then the functions' own times, and their totals. */
static bool function_units_choose_rows(const struct diff *diff, struct experiment *experiment, struct error *err)
{
	uint32_t functions = (uint32_t)diff->function_count;

	if (!ARRAY_ZEROED(&experiment->rows, 1 + 2 * (size_t)functions, err))
		return false;
	experiment->rows[experiment->row_count++].kind = ROW_WHOLE;
	for (uint32_t i = 0; i < functions; i++)
		experiment->rows[experiment->row_count++] = (struct row){ .kind = ROW_SELF, .id = i };
	for (uint32_t i = 0; i < functions; i++)
		experiment->rows[experiment->row_count++] = (struct row){ .kind = ROW_TOTAL, .id = i };
	return true;
}

static bool function_units_divide(
	const struct profile *profile, struct diff_function_units *units, uint32_t **of_thread, struct error *err)
{
	size_t blocks = units_blocks(profile);

	units->are_runs = profile->run_count >= UNITS_MIN_RUNS;
	units->count = units->are_runs ? profile->run_count : blocks ? blocks : 1;
	if (!units->are_runs)
		return true;
	*of_thread = malloc((profile->thread_count + 1) * sizeof(**of_thread));
	if (!*of_thread)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->thread_count; i++)
		(*of_thread)[i] = profile->threads[i].run;
	return true;
}

static bool function_units_copy(const double *values, size_t count, double **copy, struct error *err)
{
	*copy = malloc((count + 1) * sizeof(**copy));
	if (!*copy)
		return error_set_memory(err);
	memcpy(*copy, values, count * sizeof(**copy));
	return true;
}

static bool function_units_sum(const struct diff_build *build, struct diff_function_units *units, struct error *err)
{
	CLEANUP(experiment_deinit) struct experiment experiment = { 0 };
	CLEANUP(row_index_cleanup) struct row_index *index = NULL;
	CLEANUP(cleanup_free) uint32_t *of_thread = NULL;
	CLEANUP(cleanup_free) double *values = NULL;
	struct sums_division division;
	size_t cells;

	if (!function_units_choose_rows(build->diff, &experiment, err))
		return false;
	row_index_create(build->diff, &experiment, &index);
	if (!function_units_divide(build->profiles[DIFF_HEAD], units, &of_thread, err))
		return false;
	division = (struct sums_division){ units->count, units->count > 1 && !units->are_runs, of_thread };
	sums_fill(build, index, DIFF_HEAD, &division, experiment.row_count, &values);
	cells = build->diff->function_count * units->count;
	return function_units_copy(values, units->count, &units->whole, err) &&
	       function_units_copy(values + units->count, cells, &units->self, err) &&
	       function_units_copy(values + units->count + cells, cells, &units->total, err);
}

static bool function_units_count_work(
	const struct diff_build *build, struct diff_function_units *units, struct error *err)
{
	if (!(build->diff->requests[DIFF_HEAD].count > 0) || !work_is_of_requests(build->profiles[DIFF_HEAD]))
		return true;
	if (!ARRAY_ZEROED(&units->work, units->count, err))
		return false;
	work_sum_units(build, DIFF_HEAD, units->count, units->count > 1 && !units->are_runs, units->work);
	return true;
}

bool diff_function_units_create(const struct profile *profile, const struct diff_options *options,
	struct diff_function_units **units, struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { NULL, profile }, .is_for_comparison = true };
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	if (!build_init(&build, options, err) || !build_sum_up(&build, err))
		return false;
	build_release_trees(&build);
	totals_scale(build.diff);
	made->sample_weight = build.sample_weight[DIFF_HEAD];
	if (!function_units_fingerprint(&build, made, err) || !function_units_sum(&build, made, err) ||
		!function_units_count_work(&build, made, err))
		return false;
	made->diff = TAKE(build.diff);
	*units = TAKE(made);
	return true;
}
