/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the values of each benchmark in each execution: times of iterations, or totals. */
#include "diff/suite/work.h"

#include "diff/build.h"
#include "diff/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The metric ---- */

static bool has_measured(const struct profile *profile)
{
	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].name && profile->runs[i].measured.rounds > 0)
			return true;
	return false;
}

static void suite_values_intern(struct diff_suite *suite, const char *text, uint32_t *id)
{
	*id = string_table_enter(suite->strings, text, strlen(text));
}

/* Chooses the metric as diff_create() does. */
static bool choose_total(struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { suite->profiles[0], suite->profiles[1] } };
	const struct diff *diff;

	build_init(&build, &suite->options.diff);
	if (!metric_choose(&build, err))
		return false;
	diff = build.diff;
	suite->is_exact = diff->is_exact;
	work->suite->is_counted = diff->is_counted;
	for (int side = 0; side < DIFF_SIDES; side++) {
		work->metric[side] = build.metric[side];
		work->counts[side] = build_is_counted(&build) && !diff->is_exact ? build.counts[side] : PROFILE_NONE;
	}
	suite_values_intern(suite, diff_string(diff, diff->metric), &suite->metric);
	suite_values_intern(suite, diff_string(diff, diff->metric_words), &suite->metric_words);
	suite_values_intern(suite, diff_string(diff, diff->unit), &suite->unit);
	return true;
}

static bool choose_metric(struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;

	suite->is_measured = suite->options.diff.metric == NULL && has_measured(suite->profiles[DIFF_HEAD]) &&
			     (suite->sides == 1 || has_measured(suite->profiles[DIFF_BASE]));
	if (!suite->is_measured)
		return choose_total(work, err);
	suite_values_intern(suite, "time", &suite->metric);
	suite_values_intern(suite, "time per iteration", &suite->metric_words);
	suite_values_intern(suite, "nanoseconds", &suite->unit);
	return true;
}

/* ---- Values ---- */

/* The contribution of a run to the value of its benchmark in its execution: sums over the runs of both. */
struct suite_sum {
	uint32_t benchmark, execution;
	double weight, weighted;   /* of values */
	double variance;           /* of `weighted` */
	double time, cpu, samples; /* that were recorded */
	double measured;           /* the mean time of an iteration, times `weight` */
};

/*
 * Returns the standard error of the lower quartile of the rounds. That of the mean is made larger by each round that
 * was interrupted; the quartile has that of a normal distribution as wide as the rounds are between quartile and
 * median.
 */
static double quartile_error(const struct profile_measured *measured)
{
	/* of a quartile over that of a mean, and the distance of quartile and median in standard deviations */
	static const double cost = 1.3626, distance = 0.6745;
	double core = (measured->median_ns - measured->quartile_ns) / distance;

	if (!(measured->quartile_ns > 0) || !(measured->stdev_ns > 0))
		return measured->error_ns;
	return measured->error_ns * cost * fmin(core / measured->stdev_ns, 1);
}

/*
 * Other programs only add to the time of a round, so the lower quartile of the rounds varies less between processes
 * than their median, and far less than their mean (decision 63). `times`: how often the run did what this is the time
 * of; 0: not known.
 */
static struct suite_sum sum_measured(const struct profile_measured *measured, uint64_t times)
{
	double weight = (double)times;
	double time_ns = measured->quartile_ns > 0 ? measured->quartile_ns : measured->median_ns;

	if (times == 0 || !(time_ns > 0))
		return (struct suite_sum){ 0 };
	return (struct suite_sum){ .weight = weight,
		.weighted = weight * time_ns,
		.variance = pow(weight * quartile_error(measured), 2),
		.measured = weight * (measured->mean_ns > 0 ? measured->mean_ns : time_ns) };
}

/* Makes, for each [run], the sums of a value type, and of the samples that it is of. */
static void suite_values_sum_runs(
	const struct profile *profile, uint32_t metric, uint32_t counts, double **totals, double **samples)
{
	size_t width = profile->value_type_count;

	*totals = memory_zeroed(profile->run_count + 1, sizeof(**totals));
	*samples = memory_zeroed(profile->run_count + 1, sizeof(**samples));
	for (size_t i = 0; metric != PROFILE_NONE && i < profile->sample_count; i++) {
		uint32_t run = profile->threads[profile->samples[i].thread].run;
		double value = (double)profile->values[i * width + metric];

		(*totals)[run] += value;
		if (value > 0 && counts != PROFILE_NONE)
			(*samples)[run] += (double)profile->values[i * width + counts];
	}
}

/* ---- Rounds in place of iterations ---- */

/* The exit status of an execution that a signal ended, or of which it is not known how it ended. */
static bool is_cut_short(int32_t exit_status)
{
	return exit_status < 0 || exit_status > 128;
}

/*
 * Looks at the runs of a side: what each benchmark has so far is in `rounds` ([benchmark]; 0: nothing). Rounds count
 * where nothing else does and all runs have as many: then these are what the suite makes, and not how far it came.
 */
static void find_rounds(struct suite_work *work, enum diff_side side, uint64_t *rounds)
{
	const struct profile *profile = work->sides[side].profile;
	int32_t exit_status = -1;

	for (size_t i = 0; profile && i < profile->run_count; i++) {
		const struct profile_measured *measured = &profile->runs[i].measured;
		uint32_t benchmark = work->suite->details->benchmarks[side][i];
		bool *by_rounds;

		if (benchmark == PROFILE_NONE) {
			exit_status = profile->runs[i].exit_status;
			continue;
		}
		by_rounds = &work->suite->benchmarks[benchmark].by_rounds;
		if (rounds[benchmark] == 0) {
			rounds[benchmark] = measured->rounds;
			*by_rounds = measured->rounds > 1;
		}
		*by_rounds &= measured->iterations == 0 && measured->rounds == rounds[benchmark] &&
			      !is_cut_short(exit_status);
	}
}

static void choose_rounds(struct suite_work *work)
{
	CLEANUP(cleanup_free) uint64_t *rounds = memory_zeroed(work->suite->benchmark_count + 1, sizeof(*rounds));

	for (int side = 0; side < DIFF_SIDES; side++)
		find_rounds(work, (enum diff_side)side, rounds);
}

/* ---- Totals ---- */

/* Where it is not known how often a run did the work of its benchmark, totals are not of one iteration. */
static void find_uncounted(struct suite_work *work)
{
	work->uncounted = memory_zeroed(work->suite->benchmark_count + 1, sizeof(*work->uncounted));
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = work->sides[side].profile;

		for (size_t i = 0; profile && i < profile->run_count; i++) {
			uint32_t benchmark = work->suite->details->benchmarks[side][i];

			if (benchmark != PROFILE_NONE && suite_times(work->suite, benchmark, &profile->runs[i]) == 0)
				work->uncounted[benchmark] = true;
		}
	}
}

static struct suite_sum sum_total(double total, double samples, double iterations)
{
	return (struct suite_sum){
		.weight = iterations, .weighted = total, .variance = samples > 0 ? total * total / samples : 0
	};
}

/* Makes, for each [run], the sum that it adds. */
static void make_sums(const struct suite_work *work, enum diff_side side, struct suite_sum *sums)
{
	const struct profile *profile = work->sides[side].profile;
	const struct diff_suite *suite = work->suite;
	const struct suite_side *from = &work->sides[side];
	CLEANUP(cleanup_free) double *totals = NULL;
	CLEANUP(cleanup_free) double *samples = NULL;

	if (!suite->is_measured)
		suite_values_sum_runs(profile, work->metric[side], work->counts[side], &totals, &samples);
	for (size_t i = 0; i < profile->run_count; i++) {
		uint32_t benchmark = suite->details->benchmarks[side][i];
		uint64_t times = benchmark == PROFILE_NONE ? 0 : suite_times(suite, benchmark, &profile->runs[i]);

		if (suite->is_measured)
			sums[i] = sum_measured(&profile->runs[i].measured, times);
		else if (benchmark != PROFILE_NONE)
			sums[i] = sum_total(totals[i], samples[i], work->uncounted[benchmark] ? 1 : (double)times);
		sums[i].time = (double)profile->runs[i].duration_ns;
		sums[i].cpu = from->run_cpu[i];
		sums[i].samples = from->run_samples[i];
		sums[i].benchmark = benchmark;
		sums[i].execution = suite->details->executions[side][i];
	}
}

static int by_benchmark(const void *left, const void *right)
{
	const struct suite_sum *a = left, *b = right;

	return a->benchmark != b->benchmark ? ORDER(a->benchmark, b->benchmark) : ORDER(a->execution, b->execution);
}

/*
 * Returns the value of the sums of one benchmark in one execution. A total without iterations is that of all runs
 * together, so its weights do not divide it.
 */
static struct suite_value make_value(const struct suite_work *work, const struct suite_sum *sum, bool is_divided)
{
	bool is_known = sum->weight > 0 && (sum->weighted > 0 || work->suite->is_exact);
	bool has_cpu = is_known && work->suite->is_measured && sum->samples > 0 && sum->time > 0;

	return (struct suite_value){
		.benchmark = sum->benchmark,
		.execution = sum->execution,
		.value = !is_known    ? NAN
			 : is_divided ? sum->weighted / sum->weight
				      : sum->weighted,
		.error = is_known && sum->weighted > 0 ? sqrt(sum->variance) / sum->weighted : 0,
		.cpu = has_cpu ? sum->measured / sum->weight * sum->cpu / sum->time : 0,
		.cpu_error = has_cpu ? 1 / sqrt(sum->samples) : 0,
		.weight = sum->weight,
	};
}

/* Adds up the sums of each benchmark in each execution. Runs that are no phases come last, and are left out. */
static void join_sums(struct suite_work *work, enum diff_side side, const struct suite_sum *sums, size_t count)
{
	struct diff_suite *suite = work->suite;
	struct suite_side *into = &work->sides[side];
	struct suite_sum sum = { 0 };

	into->values = memory_zeroed(count + 1, sizeof(*into->values));
	into->firsts = memory_zeroed(suite->benchmark_count + 2, sizeof(*into->firsts));
	for (size_t i = 0; i < count && sums[i].benchmark != PROFILE_NONE; i++) {
		bool ends = i + 1 == count || by_benchmark(&sums[i], &sums[i + 1]) != 0;
		uint32_t benchmark = sums[i].benchmark;

		sum.benchmark = benchmark;
		sum.execution = sums[i].execution;
		sum.weight += sums[i].weight;
		sum.weighted += sums[i].weighted;
		sum.variance += sums[i].variance;
		sum.time += sums[i].time;
		sum.cpu += sums[i].cpu;
		sum.samples += sums[i].samples;
		sum.measured += sums[i].measured;
		if (!ends)
			continue;
		suite->benchmarks[benchmark].executions[side]++;
		into->values[into->value_count] =
			make_value(work, &sum, suite->is_measured || !work->uncounted[benchmark]);
		if (!isnan(into->values[into->value_count].value)) {
			into->value_count++;
			into->firsts[benchmark + 1]++;
		}
		sum = (struct suite_sum){ 0 };
	}
	for (size_t i = 0; i < suite->benchmark_count; i++)
		into->firsts[i + 1] += into->firsts[i];
}

/* Returns the mean over executions, of times the geometric one. NAN: it is not known of each. */
static double average(const double *values, size_t count, bool is_exact)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_exact && !(values[i] > 0))
			return NAN;
		sum += (is_exact ? values[i] : log(values[i])) / (double)count;
	}
	return is_exact ? sum : exp(sum);
}

static void average_values(struct suite_work *work, enum diff_side side)
{
	const struct suite_side *from = &work->sides[side];
	CLEANUP(cleanup_free) double *scratch = memory_alloc((from->value_count + 1) * sizeof(*scratch));

	for (size_t i = 0; i < work->suite->benchmark_count; i++) {
		size_t first = from->firsts[i], count = from->firsts[i + 1] - first;

		if (count == 0)
			continue;
		for (size_t k = 0; k < count; k++)
			scratch[k] = from->values[first + k].value;
		work->suite->benchmarks[i].value[side] = average(scratch, count, work->suite->is_exact);
		for (size_t k = 0; k < count; k++)
			scratch[k] = from->values[first + k].cpu;
		work->suite->benchmarks[i].cpu[side] = work->suite->is_measured ? average(scratch, count, false) : NAN;
	}
}

static void suite_values_collect_side(struct suite_work *work, enum diff_side side)
{
	const struct profile *profile = work->sides[side].profile;
	struct diff_suite *suite = work->suite;
	CLEANUP(cleanup_free) struct suite_sum *sums = memory_zeroed(profile->run_count + 1, sizeof(*sums));

	for (size_t i = 0; i < profile->run_count; i++) {
		const struct profile_measured *measured = &profile->runs[i].measured;
		uint32_t benchmark = suite->details->benchmarks[side][i];

		if (benchmark == PROFILE_NONE)
			continue;
		suite->benchmarks[benchmark].rounds[side] += measured->rounds;
		suite->benchmarks[benchmark].iterations[side] += measured->iterations;
	}
	make_sums(work, side, sums);
	qsort(sums, profile->run_count, sizeof(*sums), by_benchmark);
	join_sums(work, side, sums, profile->run_count);
	average_values(work, side);
}

/* ---- CPU time ---- */

static double suite_values_share_of(double cpu, double time)
{
	return cpu > 0 && time > 0 ? cpu / time : NAN;
}

static void share_cpu(struct suite_work *work, enum diff_side side)
{
	struct suite_side *of = &work->sides[side];
	const struct profile *profile = of->profile;
	const uint32_t *benchmarks = work->suite->details->benchmarks[side];
	size_t all = work->suite->benchmark_count;
	uint32_t cpu = profile_find_metric(profile, "cpu", "nanoseconds");
	CLEANUP(cleanup_free) double *shares = memory_zeroed(all + 1, sizeof(*shares));
	CLEANUP(cleanup_free) double *times = memory_zeroed(all + 1, sizeof(*times));
	double sum = 0, time = 0;

	suite_values_sum_runs(
		profile, cpu, cpu == PROFILE_NONE ? cpu : profile->counts_of[cpu], &of->run_cpu, &of->run_samples);
	for (size_t i = 0; i < profile->run_count; i++)
		if (benchmarks[i] != PROFILE_NONE) {
			shares[benchmarks[i]] += of->run_cpu[i];
			times[benchmarks[i]] += (double)profile->runs[i].duration_ns;
		}
	for (size_t i = 0; i < all; i++) {
		work->suite->benchmarks[i].cpu_share[side] = suite_values_share_of(shares[i], times[i]);
		sum += shares[i];
		time += times[i];
	}
	of->cpu_share = suite_values_share_of(sum, time);
}

bool suite_collect(struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;

	if (!choose_metric(work, err))
		return false;
	choose_rounds(work);
	find_uncounted(work);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (suite->profiles[side]) {
			share_cpu(work, (enum diff_side)side);
			suite_values_collect_side(work, (enum diff_side)side);
		}
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		for (int side = 0; side < DIFF_SIDES; side++)
			if (benchmark->executions[side] > 0 && isnan(benchmark->value[side])) {
				work->unmeasured++;
				break;
			}
	}
	return true;
}
