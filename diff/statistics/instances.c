/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/instances.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"
#include "diff/statistics/run_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer runs their median says little of what is usual. */
enum { MIN_RUNS = 5 };

struct statistics_instances {
	struct diff_build *build;
	struct diff_instances *out;
	double *costs[DIFF_SIDES]; /* [run] per request, per second or per run; owned */
	double *units[DIFF_SIDES]; /* [run] requests, seconds or 1; owned */
	size_t outlier_capacity, cpu_capacity;
};

static void instances_cleanup(struct statistics_instances *in)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(in->costs[side]);
		free(in->units[side]);
	}
}

/* ---- What each run takes ---- */

static double statistics_instances_unit_of(const struct profile *profile, enum diff_scale_mode per, uint32_t run)
{
	switch (per) {
	case DIFF_SCALE_PER_REQUEST:
		return profile_requests_between(profile, run, PROFILE_EXCHANGE_ANSWERED, 0, INT64_MAX);
	case DIFF_SCALE_RATE:
		return (double)profile->runs[run].duration_ns / 1e9;
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_PER_RUN:
	case DIFF_SCALE_ROBUST:
	case DIFF_SCALE_SHARE:
	case DIFF_SCALE_WORK:
		return 1;
	}
	return 1;
}

/* Returns whether every run of both sides says how much of the unit it has. */
static bool all_have(struct statistics_instances *in, enum diff_scale_mode per)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		for (uint32_t run = 0; run < in->build->profiles[side]->run_count; run++) {
			in->units[side][run] = statistics_instances_unit_of(in->build->profiles[side], per, run);
			if (!(in->units[side][run] > 0))
				return false;
		}
	return true;
}

static void choose_unit(struct statistics_instances *in)
{
	enum diff_scale_mode scale = in->build->diff->scale.mode;

	in->out->per = DIFF_SCALE_PER_REQUEST;
	if (scale == DIFF_SCALE_PER_REQUEST && all_have(in, DIFF_SCALE_PER_REQUEST))
		return;
	in->out->per = DIFF_SCALE_RATE;
	if (scale != DIFF_SCALE_PER_RUN && all_have(in, DIFF_SCALE_RATE))
		return;
	in->out->per = DIFF_SCALE_PER_RUN;
	(void)all_have(in, DIFF_SCALE_PER_RUN);
}

/* Returns the function that has a sample as its self time; PROFILE_NONE: none, or it is an interrupt. */
static uint32_t statistics_instances_function_of(const struct diff_build *build, enum diff_side side, size_t sample)
{
	uint32_t node = build->diff->sample_nodes[side][sample];

	return node == 0 || (build->diff->nodes[node].flags & DIFF_NODE_INTERRUPT) ? PROFILE_NONE
										   : build_owner(build, node);
}

static uint32_t run_of(const struct profile *profile, size_t sample)
{
	return profile->threads[profile->samples[sample].thread].run;
}

static void statistics_instances_sum_runs(struct statistics_instances *in)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = in->build->profiles[side];

		in->costs[side] = memory_zeroed(profile->run_count + 1, sizeof(*in->costs[side]));
		in->units[side] = memory_zeroed(profile->run_count + 1, sizeof(*in->units[side]));
		for (size_t i = 0; i < profile->sample_count; i++)
			if (statistics_instances_function_of(in->build, (enum diff_side)side, i) != PROFILE_NONE)
				in->costs[side][run_of(profile, i)] += build_value(in->build, (enum diff_side)side, i);
	}
	choose_unit(in);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t run = 0; run < in->build->profiles[side]->run_count; run++)
			in->costs[side][run] /= in->units[side][run];
}

/* ---- Outliers ---- */

/* Returns whether a run is the only one of its instance on its side. */
static bool is_only_one(const struct profile *profile, size_t run, const char *name)
{
	for (size_t i = 0; i < profile->run_count; i++)
		if (i != run && strcmp(profile_run_instance(profile, i), name) == 0)
			return false;
	return true;
}

static void name_run(struct diff_build *build, enum diff_side side, size_t run, uint32_t *name)
{
	const char *instance = profile_run_instance(build->profiles[side], run);

	if (instance[0] == '\0') {
		build_text(build->diff, name, "run %zu", run + 1);
		return;
	}
	if (is_only_one(build->profiles[side], run, instance))
		build_text(build->diff, name, "%s", instance);
	else
		build_text(build->diff, name, "%s (run %zu)", instance, run + 1);
}

static void find_outliers(struct statistics_instances *in, enum diff_side side)
{
	size_t count = in->build->profiles[side]->run_count;
	CLEANUP(cleanup_free) struct weighted_value *values = memory_zeroed(count + 1, sizeof(*values));
	CLEANUP(cleanup_free) double *costs = memory_zeroed(count + 1, sizeof(*costs));
	struct diff_instances *out = in->out;
	struct run_spread spread;

	for (size_t i = 0; i < count; i++)
		costs[i] = log(in->costs[side][i]);
	spread = run_spread_of(costs, count, values);
	for (size_t run = 0; isfinite(spread.median) && run < count; run++) {
		struct diff_instance found = {
			.side = side, .run = run, .ratio = exp(costs[run] - spread.median), .function = PROFILE_NONE
		};

		if (fabs(costs[run] - spread.median) < log(instances_least_ratio) || !run_is_far(&spread, costs[run]))
			continue;
		name_run(in->build, side, run, &found.name);
		ARRAY_PUSH(&out->outliers, &in->outlier_capacity, &out->outlier_count, found);
	}
}

/* Returns an array: [function * runs + run] what the function itself takes, in the unit of the runs' costs. */
static double *statistics_instances_sum_functions(const struct statistics_instances *in, enum diff_side side)
{
	const struct profile *profile = in->build->profiles[side];
	size_t runs = profile->run_count, functions = in->build->diff->function_count;
	double *table =
		functions < instances_max_cells / runs ? memory_zeroed(functions * runs + 1, sizeof(*table)) : NULL;

	for (size_t i = 0; table && i < profile->sample_count; i++) {
		uint32_t function = statistics_instances_function_of(in->build, side, i), run = run_of(profile, i);

		if (function != PROFILE_NONE)
			table[function * runs + run] += build_value(in->build, side, i) / in->units[side][run];
	}
	return table;
}

/* Names the function in which most of an outlier's difference from the median run lies. `medians`: [function] */
static void statistics_instances_find_function(const struct statistics_instances *in, const double *table,
	const double *medians, struct diff_instance *outlier)
{
	size_t runs = in->build->profiles[outlier->side]->run_count;
	double own = in->costs[outlier->side][outlier->run], differs = own - own / outlier->ratio, most = 0;

	for (uint32_t i = 0; i < in->build->diff->function_count; i++) {
		double part = (table[i * runs + outlier->run] - medians[i]) / differs;

		if (!(part > most))
			continue;
		most = part;
		outlier->function = part >= instances_mostly ? i : PROFILE_NONE;
	}
}

static void statistics_instances_name_functions(struct statistics_instances *in, enum diff_side side)
{
	size_t runs = in->build->profiles[side]->run_count, functions = in->build->diff->function_count;
	CLEANUP(cleanup_free) double *table = statistics_instances_sum_functions(in, side);
	CLEANUP(cleanup_free) double *medians = memory_zeroed(functions + 1, sizeof(*medians));
	CLEANUP(cleanup_free) struct weighted_value *values = memory_zeroed(runs + 1, sizeof(*values));

	for (size_t i = 0; table && i < functions; i++) {
		for (size_t run = 0; run < runs; run++)
			values[run] = (struct weighted_value){ table[i * runs + run], 1 };
		medians[i] = weighted_median(values, runs);
	}
	for (size_t i = 0; table && i < in->out->outlier_count; i++)
		if (in->out->outliers[i].side == side && in->out->outliers[i].ratio > 0)
			statistics_instances_find_function(in, table, medians, &in->out->outliers[i]);
}

static void statistics_instances_collect_outliers(struct statistics_instances *in, enum diff_side side)
{
	size_t before = in->out->outlier_count;

	if (in->build->profiles[side]->run_count < MIN_RUNS)
		return;
	find_outliers(in, side);
	if (in->out->outlier_count != before)
		statistics_instances_name_functions(in, side);
}

/* ---- CPU models ---- */

static struct diff_cpu *find_cpu(struct statistics_instances *in, const char *model)
{
	struct diff_instances *out = in->out;
	uint32_t id;

	build_text(in->build->diff, &id, "%s", model);
	for (size_t i = 0; i < out->cpu_count; i++)
		if (out->cpus[i].model == id)
			return &out->cpus[i];
	ARRAY_GROW(&out->cpus, &in->cpu_capacity, out->cpu_count + 1);
	out->cpus[out->cpu_count] = (struct diff_cpu){ .model = id, .cost = NAN };
	return &out->cpus[out->cpu_count++];
}

/* Counts the runs on each model, and sums what they take to sums[side][cpu]. */
static void count_cpus(struct statistics_instances *in, double *sums[DIFF_SIDES])
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = in->build->profiles[side];

		sums[side] = memory_zeroed(
			in->build->profiles[0]->run_count + in->build->profiles[1]->run_count + 1, sizeof(*sums[side]));
		for (size_t run = 0; run < profile->run_count; run++) {
			struct diff_cpu *cpu = find_cpu(in, profile_run_cpu_model(profile, run));

			cpu->runs[side]++;
			sums[side][cpu - in->out->cpus] += in->costs[side][run];
		}
	}
}

static bool is_common(const struct diff_cpu *cpu)
{
	return cpu->runs[DIFF_BASE] > 0 && cpu->runs[DIFF_HEAD] > 0;
}

/* Compares the cost of runs on each CPU model with that of the same side on models that both sides have. */
static void compare_cpus(struct diff_instances *out, double *const sums[DIFF_SIDES])
{
	double common[DIFF_SIDES] = { 0 }, weights = 0, base = 0, head = 0;
	size_t counts[DIFF_SIDES] = { 0 }, all[DIFF_SIDES] = { 0 };

	for (size_t i = 0; i < out->cpu_count; i++)
		for (int side = 0; side < DIFF_SIDES; side++) {
			all[side] += out->cpus[i].runs[side];
			counts[side] += is_common(&out->cpus[i]) ? out->cpus[i].runs[side] : 0;
			common[side] += is_common(&out->cpus[i]) ? sums[side][i] : 0;
		}
	for (size_t i = 0; i < out->cpu_count; i++) {
		struct diff_cpu *cpu = &out->cpus[i];
		double shares[DIFF_SIDES], sum = 0;

		weights = 0;
		for (int side = 0; side < DIFF_SIDES; side++) {
			shares[side] = (double)cpu->runs[side] / (double)all[side];
			weights += common[side] > 0 ? (double)cpu->runs[side] : 0;
			sum += common[side] > 0 ? sums[side][i] / (common[side] / (double)counts[side]) : 0;
		}
		cpu->cost = weights > 0 ? sum / weights : NAN;
		base += shares[DIFF_BASE] > 0 ? shares[DIFF_BASE] * cpu->cost : 0;
		head += shares[DIFF_HEAD] > 0 ? shares[DIFF_HEAD] * cpu->cost : 0;
		out->cpu_mix_points += 50 * fabs(shares[DIFF_HEAD] - shares[DIFF_BASE]);
	}
	out->cpu_effect = head / base - 1;
}

static bool statistics_instances_knows_cpu(const struct profile *profile)
{
	for (size_t run = 0; run < profile->run_count; run++)
		if (profile_run_cpu_model(profile, run)[0] != '\0')
			return true;
	return false;
}

/* Sides that are of one model each are compared by their facts, as all other circumstances. */
static void collect_cpus(struct statistics_instances *in)
{
	struct diff_instances *out = in->out;
	CLEANUP(cleanup_free) double *base = NULL;
	CLEANUP(cleanup_free) double *head = NULL;
	double *sums[DIFF_SIDES] = { NULL };
	size_t counts[DIFF_SIDES] = { 0 };

	if (!statistics_instances_knows_cpu(in->build->profiles[DIFF_BASE]) ||
		!statistics_instances_knows_cpu(in->build->profiles[DIFF_HEAD]))
		return;
	count_cpus(in, sums);
	base = sums[DIFF_BASE];
	head = sums[DIFF_HEAD];
	for (size_t i = 0; i < out->cpu_count; i++)
		for (int side = 0; side < DIFF_SIDES; side++)
			counts[side] += out->cpus[i].runs[side] > 0;
	if (counts[DIFF_BASE] < 2 && counts[DIFF_HEAD] < 2)
		out->cpu_count = 0;
	else
		compare_cpus(out, sums);
}

void instances_collect(struct diff_build *build)
{
	CLEANUP(instances_cleanup) struct statistics_instances in = { .build = build, .out = &build->diff->instances };

	/* A simulator's counts have no machine in them, and parts of an execution are no instances. */
	if (build->diff->whole || build->diff->is_exact || profile_has_phases(build->profiles[DIFF_BASE]) ||
		profile_has_phases(build->profiles[DIFF_HEAD]))
		return;
	if (build->profiles[DIFF_BASE]->run_count < 2 && build->profiles[DIFF_HEAD]->run_count < 2)
		return;
	statistics_instances_sum_runs(&in);
	/* Of whole commands there are figures of their own (run_figures.h). */
	for (int side = 0; side < DIFF_SIDES && !build->diff->runs.known[DIFF_RUN_CPU]; side++)
		statistics_instances_collect_outliers(&in, (enum diff_side)side);
	collect_cpus(&in);
}

void instances_reorder(struct diff *diff, const uint32_t *new_ids)
{
	for (size_t i = 0; i < diff->instances.outlier_count; i++) {
		uint32_t *function = &diff->instances.outliers[i].function;

		*function = *function == PROFILE_NONE ? PROFILE_NONE : new_ids[*function];
	}
}
