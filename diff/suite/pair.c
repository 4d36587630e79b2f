/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the benchmarks of both sides and pairs them by URI, and numbers the executions. */
#include "diff/suite/work.h"

#include "diff/statistics/layouts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Benchmarks and executions ---- */

/* Which layout each execution is of, in the order of their numbers. */
static void number_layouts(struct suite_work *work, enum diff_side side)
{
	struct suite_side *s = &work->sides[side];
	CLEANUP(layouts_division_deinit) struct layouts_division division = { 0 };

	s->layouts = layouts_count(s->profile);
	s->layout_of = memory_zeroed(s->executions + 1, sizeof(*s->layout_of));
	if (s->layouts < 2)
		return;
	layouts_divide(s->profile, &division);
	for (size_t i = 0; i < s->profile->run_count; i++)
		s->layout_of[work->suite->details->executions[side][i]] = division.of_run[i];
}

/* Numbers the executions that profile_execution() tells, in one pass, and counts those that have phases. */
static void number_executions(struct suite_work *work, enum diff_side side)
{
	const struct profile *profile = work->sides[side].profile;
	struct diff_suite *suite = work->suite;
	uint32_t *executions = memory_alloc((profile->run_count + 1) * sizeof(*executions)), number = 0;
	uint32_t counted = PROFILE_NONE;
	bool has_execution = false;

	suite->details->executions[side] = executions;
	for (size_t i = 0; i < profile->run_count; i++) {
		number += i > 0 && (profile->runs[i].name == 0 || !has_execution);
		has_execution |= profile->runs[i].name == 0;
		executions[i] = number;
		if (profile->runs[i].name && counted != number) {
			suite->executions[side]++;
			counted = number;
		}
	}
	work->sides[side].executions = profile->run_count ? number + 1 : 0;
	number_layouts(work, side);
}

/* Finds the benchmark of a run, or adds it. */
static void find_benchmark(
	struct suite_work *work, struct hash_map *known, enum diff_side side, size_t run, size_t *capacity)
{
	const struct profile *profile = work->sides[side].profile;
	struct diff_suite *suite = work->suite;
	uint32_t name = profile->runs[run].name, uri, *value;
	size_t root = suite_root_bytes(suite, side, profile_string(profile, name));
	bool added;

	suite->details->benchmarks[side][run] = PROFILE_NONE;
	if (name == 0)
		return;
	uri = string_table_enter(
		suite->strings, profile_string(profile, name) + root, string_table_size(profile->strings, name) - root);
	ARRAY_GROW(&suite->benchmarks, capacity, suite->benchmark_count + 1);
	value = hash_map_enter(known, &uri, (uint32_t)suite->benchmark_count, &added);
	if (added)
		suite->benchmarks[suite->benchmark_count++] = (struct diff_benchmark){ .uri = uri,
			.presence = suite->sides == 1   ? DIFF_IN_BOTH
				    : side == DIFF_BASE ? DIFF_REMOVED
							: DIFF_ADDED,
			.value = { NAN, NAN },
			.change = NAN,
			.change_low = NAN,
			.change_high = NAN,
			.cpu = { NAN, NAN },
			.cpu_share = { NAN, NAN },
			.cpu_change = NAN,
			.cpu_change_low = NAN,
			.cpu_change_high = NAN,
			.layout_rsd = NAN,
			.p = NAN,
			.q = NAN,
			.verdict = suite->sides == 1 ? DIFF_UNCHANGED : DIFF_INCONCLUSIVE };
	else if (side == DIFF_HEAD && suite->benchmarks[*value].presence == DIFF_REMOVED)
		suite->benchmarks[*value].presence = DIFF_IN_BOTH;
	suite->details->benchmarks[side][run] = *value;
}

/* Pairs the benchmarks of both sides by their URIs, relative to their checkouts. */
static void pair_benchmarks(struct suite_work *work, size_t *common)
{
	struct diff_suite *suite = work->suite;
	struct hash_map known;
	size_t capacity = suite->benchmark_count;

	hash_map_init(&known, sizeof(uint32_t));
	suite->benchmark_count = 0;
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t runs = suite->profiles[side] ? suite->profiles[side]->run_count : 0;

		for (size_t run = 0; run < runs; run++)
			find_benchmark(work, &known, (enum diff_side)side, run, &capacity);
	}
	hash_map_deinit(&known);
	*common = 0;
	for (size_t i = 0; i < suite->benchmark_count; i++)
		*common += suite->benchmarks[i].presence == DIFF_IN_BOTH;
}

static bool find_benchmarks(struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = suite->profiles[side];

		work->sides[side].profile = profile;
		if (!profile)
			continue;
		if (!profile_has_phases(profile))
			return error_set(err, ERROR_EMPTY,
				"%s has no benchmarks; 'kelvin record --benchmarks' and 'kelvin bench --benchmarks' record suites",
				suite->sides == 1 ? "the profile" : diff_side_name(side));
		suite->details->benchmarks[side] =
			memory_zeroed(profile->run_count + 1, sizeof(*suite->details->benchmarks[side]));
		number_executions(work, (enum diff_side)side);
	}
	return true;
}

/*
 * Outside of a repository harnesses write whole paths, so that two checkouts have no URI in common. What most pairs of
 * benchmarks of the same name, in files of the same name, have in front of what their folders share, is where the
 * checkouts are.
 */
bool suite_pair(struct suite_work *work, struct error *err)
{
	size_t common;

	if (!find_benchmarks(work, err))
		return false;
	pair_benchmarks(work, &common);
	if (work->suite->sides == 1 || common > 0)
		return true;
	suite_find_roots(work);
	pair_benchmarks(work, &common);
	return true;
}
