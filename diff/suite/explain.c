/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the functions of one benchmark, or of all together, at the rate of tests that is left for them. */
#include "diff/suite.h"

#include "diff/probability/probability.h"
#include "diff/statistics/measured.h"
#include "diff/suite/work.h"

#include <math.h>
#include <stdlib.h>

/* The rate at which functions are tested where no benchmark is proven to differ. */
static const double rate_of_unproven = 1e-9;

void diff_part_deinit(struct diff_part *part)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		profile_destroy(part->profiles[side]);
	diff_destroy(part->diff);
	*part = (struct diff_part){ 0 };
}

/* ---- Factors ---- */

struct iterations_key {
	uint32_t benchmark, execution;
};

/* The iterations of benchmarks, or rounds in place of them, by execution. */
struct iterations {
	struct hash_map known; /* owned: key -> index in `sums` */
	double *sums;          /* owned */
	size_t capacity;
	double *targets;    /* owned: [benchmark] iterations that an execution is scaled to */
	size_t *executions; /* owned: [benchmark] how many executions the target is the mean of */
	bool *unknown;      /* owned: [benchmark] it is not scaled */
};

static void iterations_deinit(struct iterations *it)
{
	hash_map_deinit(&it->known);
	free(it->sums);
	free(it->targets);
	free(it->executions);
	free(it->unknown);
}

static void iterations_init(struct iterations *it, size_t benchmarks)
{
	hash_map_init(&it->known, sizeof(struct iterations_key));
	it->targets = memory_zeroed(benchmarks + 1, sizeof(*it->targets));
	it->executions = memory_zeroed(benchmarks + 1, sizeof(*it->executions));
	it->unknown = memory_zeroed(benchmarks + 1, sizeof(*it->unknown));
}

static bool is_chosen(const struct diff_suite *suite, enum diff_side side, size_t run, uint32_t benchmark)
{
	uint32_t of_run = suite->details->benchmarks[side][run];

	if (of_run == PROFILE_NONE || benchmark != DIFF_ALL_BENCHMARKS)
		return of_run != PROFILE_NONE && of_run == benchmark;
	return suite->benchmarks[of_run].presence == DIFF_IN_BOTH ||
	       suite->added + suite->removed == suite->benchmark_count;
}

/* Returns whether executions of a benchmark are scaled to what this side makes: base, if it has the benchmark. */
static bool is_target(const struct diff_suite *suite, enum diff_side side, uint32_t benchmark)
{
	return side == DIFF_BASE || suite->sides == 1 || suite->benchmarks[benchmark].presence == DIFF_ADDED;
}

/* Sums up the iterations of a side. `is_first`: of this side for the first time, which finds what is scaled to. */
static void sum_iterations(
	const struct diff_suite *suite, enum diff_side side, uint32_t benchmark, bool is_first, struct iterations *it)
{
	const struct profile *profile = suite->profiles[side];

	hash_map_deinit(&it->known);
	hash_map_init(&it->known, sizeof(struct iterations_key));
	for (size_t i = 0; i < profile->run_count; i++) {
		struct iterations_key key = { suite->details->benchmarks[side][i],
			suite->details->executions[side][i] };
		uint64_t iterations;
		uint32_t *value;
		bool added;

		if (!is_chosen(suite, side, i, benchmark))
			continue;
		iterations = suite_times(suite, key.benchmark, &profile->runs[i]);
		ARRAY_GROW(&it->sums, &it->capacity, it->known.count + 1);
		value = hash_map_enter(&it->known, &key, (uint32_t)it->known.count, &added);
		it->sums[*value] = (added ? 0 : it->sums[*value]) + (double)iterations;
		it->unknown[key.benchmark] |= iterations == 0;
		if (!is_first || !is_target(suite, side, key.benchmark))
			continue;
		it->targets[key.benchmark] += (double)iterations;
		it->executions[key.benchmark] += added;
	}
}

/* Makes, for each [run], the factor by which the values of a side's runs are multiplied. */
static void make_factors(const struct diff_suite *suite, enum diff_side side, uint32_t benchmark, struct iterations *it,
	double **factors)
{
	const struct profile *profile = suite->profiles[side];

	*factors = memory_zeroed(profile->run_count + 1, sizeof(**factors));
	for (size_t i = 0; i < profile->run_count; i++) {
		struct iterations_key key = { suite->details->benchmarks[side][i],
			suite->details->executions[side][i] };

		if (!is_chosen(suite, side, i, benchmark))
			continue;
		(*factors)[i] = it->unknown[key.benchmark] || it->executions[key.benchmark] == 0
					? 1
					: it->targets[key.benchmark] / (double)it->executions[key.benchmark] /
						  it->sums[hash_map_get(&it->known, &key)];
	}
}

/* ---- Profiles ---- */

static const char *part_name(const struct diff_suite *suite, uint32_t benchmark)
{
	return benchmark == DIFF_ALL_BENCHMARKS ? "the benchmarks"
						: diff_suite_string(suite, suite->benchmarks[benchmark].name);
}

static bool choose_side(const struct diff_suite *suite, enum diff_side side, uint32_t benchmark, struct iterations *it,
	struct profile **chosen, struct error *err)
{
	static const char *const of_side[DIFF_SIDES] = { " of base", " of head" };
	CLEANUP(cleanup_free) double *factors = NULL;

	make_factors(suite, side, benchmark, it, &factors);
	if (profile_choose_phases(suite->profiles[side], factors, chosen, err))
		return true;
	if (err->code != ERROR_EMPTY)
		return false;
	return error_set(err, ERROR_EMPTY,
		"no sample%s fell into %.200s; run it for longer, or record with a higher -F",
		suite->sides == 1 ? "" : of_side[side], part_name(suite, benchmark));
}

static bool has_side(const struct diff_suite *suite, enum diff_side side, uint32_t benchmark)
{
	if (!suite->profiles[side])
		return false;
	return benchmark == DIFF_ALL_BENCHMARKS || suite->benchmarks[benchmark].executions[side] > 0;
}

static bool choose_profiles(
	const struct diff_suite *suite, uint32_t benchmark, struct diff_part *part, struct error *err)
{
	CLEANUP(iterations_deinit) struct iterations it = { 0 };
	bool is_compared = has_side(suite, DIFF_BASE, benchmark) && has_side(suite, DIFF_HEAD, benchmark);

	iterations_init(&it, suite->benchmark_count);
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!has_side(suite, (enum diff_side)side, benchmark))
			continue;
		sum_iterations(suite, (enum diff_side)side, benchmark, true, &it);
	}
	/* What is not known on one side is not scaled on the other, so both are needed before either is chosen. */
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!has_side(suite, (enum diff_side)side, benchmark))
			continue;
		sum_iterations(suite, (enum diff_side)side, benchmark, false, &it);
		if (!choose_side(suite, (enum diff_side)side, benchmark, &it,
			    &part->profiles[is_compared ? side : DIFF_HEAD], err))
			return false;
	}
	return true;
}

/* ---- The diff ---- */

/* Returns whether the chosen phases are of the same executions on both sides. */
static bool executions_agree(const struct diff_suite *suite, uint32_t benchmark)
{
	size_t b = 0, h = 0;
	uint32_t before = PROFILE_NONE;

	for (;;) {
		size_t *runs[DIFF_SIDES] = { &b, &h };
		uint32_t execution[DIFF_SIDES];

		for (int side = 0; side < DIFF_SIDES; side++) {
			size_t count = suite->profiles[side]->run_count;

			while (*runs[side] < count &&
				(!is_chosen(suite, (enum diff_side)side, *runs[side], benchmark) ||
					suite->details->executions[side][*runs[side]] == before))
				++*runs[side];
			execution[side] =
				*runs[side] < count ? suite->details->executions[side][*runs[side]] : PROFILE_NONE;
		}
		if (execution[DIFF_BASE] != execution[DIFF_HEAD])
			return false;
		if (execution[DIFF_BASE] == PROFILE_NONE)
			return true;
		before = execution[DIFF_BASE];
	}
}

/* Benjamini and Bogomolov (2014): within what was selected, the rate is reduced by the part of all that it is. */
static double rate_within(const struct diff_suite *suite, uint32_t benchmark)
{
	const struct diff_suite_private *details = suite->details;
	bool is_selected = benchmark == DIFF_ALL_BENCHMARKS || suite->benchmarks[benchmark].q <= suite->options.diff.q;

	if (suite->is_exact || suite->sides == 1)
		return suite->options.diff.q;
	if (!is_selected || details->proven == 0)
		return rate_of_unproven;
	return suite->options.diff.q * (double)details->proven / (double)details->tested;
}

/*
 * Takes the time of functions that are all of a benchmark from the harness's clock. Samples are of CPU time, which the
 * clock tells too where the benchmark had one CPU all the time. False: it does not tell.
 */
static bool suite_explain_measure(const struct diff_suite *suite, uint32_t benchmark, struct diff_measured *measured)
{
	/* by how much a share of the time may differ from all of it */
	static const double tolerance = 0.05;
	const struct diff_benchmark *b;

	if (benchmark == DIFF_ALL_BENCHMARKS || !suite->is_measured || suite->is_exact)
		return false;
	b = &suite->benchmarks[benchmark];
	if (b->is_contradicted || !isfinite(b->p))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (!(fabs(b->cpu_share[side] - 1) <= tolerance))
			return false;
	measured->effect = log1p(b->change);
	measured->error =
		(log1p(b->change_high) - log1p(b->change_low)) / 2 / tail_quantile(tail_of_interval, INFINITY);
	measured->p = b->p;
	measured->adjustment = b->p > 0 ? b->q / b->p * rate_within(suite, benchmark) / suite->options.diff.q : 1;
	return isfinite(measured->effect) && isfinite(measured->error);
}

static bool compare_part(const struct diff_suite *suite, uint32_t benchmark, struct diff_part *part, struct error *err)
{
	struct diff_options options = suite->options.diff;
	struct diff_measured measured;
	CLEANUP(cleanup_free) struct diff_gate *gates = memory_zeroed(options.gate_count + 1, sizeof(*gates));
	size_t gate_count = 0;

	for (size_t i = 0; i < options.gate_count; i++)
		if (options.gates[i].subject == DIFF_GATE_FUNCTION)
			gates[gate_count++] = options.gates[i];
	options.scale = DIFF_SCALE_PER_RUN;
	options.q = rate_within(suite, benchmark);
	options.gates = gates;
	options.gate_count = gate_count;
	options.measured = suite_explain_measure(suite, benchmark, &measured) ? &measured : NULL;
	options.runs_in_pairs = options.runs_in_pairs && executions_agree(suite, benchmark);
	return diff_create(part->profiles[DIFF_BASE], part->profiles[DIFF_HEAD], &options, &part->diff, err) &&
	       suite_say_benchmark(suite, benchmark, (const struct profile *const *)part->profiles, part->diff, err);
}

bool diff_suite_explain(const struct diff_suite *suite, uint32_t benchmark, struct diff_part *part, struct error *err)
{
	CLEANUP(diff_part_deinit) struct diff_part made = { 0 };
	bool ok = choose_profiles(suite, benchmark, &made, err);

	if (ok && made.profiles[DIFF_BASE])
		ok = compare_part(suite, benchmark, &made, err);
	else if (ok)
		ok = diff_create_single(made.profiles[DIFF_HEAD],
			&(struct diff_options){ .metric = suite->options.diff.metric }, &made.diff, err);
	if (!ok)
		return false;
	*part = made;
	made = (struct diff_part){ 0 };
	return true;
}
