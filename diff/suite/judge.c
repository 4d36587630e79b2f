/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests whether benchmarks changed. Each benchmark is a row: logarithms of its values, less the effects of executions
 * (effects.h), and what is left over around their means. With pairs these are differences of head and base of one pair;
 * else values of both sides.
 *
 * The variance of a row is moderated across rows (Smyth 2004), but not below the row's own. The effects of executions
 * are common to all rows, so that more rows tell no more of them: their variance is added with its own degrees of
 * freedom (Satterthwaite 1946). Decision 63 has the rates at which unchanged suites alarm.
 */
#include "diff/suite/work.h"

#include "diff/probability/probability.h"
#include "diff/statistics/evidence_exact.h"
#include "diff/statistics/placement.h"
#include "diff/statistics/runtime.h"
#include "diff/suite/effects.h"

#include <math.h>
#include <stdlib.h>

/*
 * Relative standard deviations between processes that are assumed where there is one execution a side, by the language.
 * Medians of 200 rounds in 30 processes of five benchmarks each in C and in Python, on a machine with two busy CPUs:
 * four of five pairs differed by less than such a deviation explains (decision 63). Programs that are compiled at run
 * time decide in each process anew what is compiled how.
 */
static const double assumed_rsd = 0.05, assumed_rsd_compiled_at_run_time = 0.10;

/* Clocks and rounding make values equal that are not: a smaller relative variance is not believed. */
static const double least_variance = 1e-8;

/* Further looks than this change nothing that can be seen in a p-value. */
enum { MOST_LOOKS = 30 };

/* A variance with its degrees of freedom. */
struct judge_spread {
	double variance, freedom;
};

struct suite_row {
	uint32_t benchmark;
	double change;   /* logarithm of head over base */
	double variance; /* of one value of the row, from what is left over */
	double freedom;
	double units;               /* the variance of `change` is that of one value times this */
	double rounds;              /* variance of `change` by what was seen within executions */
	double looks;               /* p is multiplied by this */
	struct judge_spread spread; /* of `change` */
	double p;
};

struct suite_test {
	struct suite_work *work;
	struct suite_effects effects;
	struct suite_row *rows; /* owned */
	size_t row_count;
	struct moderation moderation;
	double assumed_variance; /* of one value of each side */
};

static void test_deinit(struct suite_test *t)
{
	effects_deinit(&t->effects);
	free(t->rows);
}

/* ---- Rows ---- */

static int by_point_value(const void *left, const void *right)
{
	const struct effects_point *a = left, *b = right;

	return ORDER(a->value, b->value);
}

/*
 * Adds a trimmed mean, with the winsorized variance (Yuen 1974): values that are left out count as the nearest that are
 * not. The sum of squares over the degrees of freedom is then the variance of one value that is left.
 */
static void add_series(struct suite_row *row, struct effects_point *points, size_t count, double sign, double *squares)
{
	size_t first = suite_trimmed(count), end = count - first;
	double kept = (double)(end - first), mean = 0, winsorized = 0, errors = 0;

	qsort(points, count, sizeof(*points), by_point_value);
	for (size_t i = 0; i < count; i++) {
		errors += points[i].variance / (double)count;
		if (i < first)
			points[i].value = points[first].value;
	}
	for (size_t i = end; i < count; i++)
		points[i].value = points[end - 1].value;
	for (size_t i = first; i < end; i++)
		mean += points[i].value / kept;
	for (size_t i = 0; i < count; i++)
		winsorized += points[i].value / (double)count;
	for (size_t i = 0; i < count; i++)
		*squares += pow(points[i].value - winsorized, 2);
	row->change += sign * mean;
	row->freedom += kept - 1;
	row->units += 1 / kept;
	row->rounds += errors / (double)count;
}

/* Returns the number of looks at a benchmark by its last execution, while executions go on. */
static double looks_of(const struct suite_work *work, uint32_t benchmark)
{
	uint64_t executions = 0;
	unsigned int looks;

	if (!work->suite->options.is_watched)
		return 1;
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct suite_side *side = &work->sides[s];

		for (size_t i = side->firsts[benchmark]; i < side->firsts[benchmark + 1]; i++)
			if (side->values[i].execution >= executions)
				executions = side->values[i].execution + 1u;
	}
	looks = diff_suite_look_after(executions);
	return ldexp(1, (int)(looks < MOST_LOOKS ? looks : MOST_LOOKS));
}

static struct suite_row make_row(const struct suite_test *t, uint32_t benchmark, struct effects_point *points)
{
	struct suite_row row = { .benchmark = benchmark, .looks = looks_of(t->work, benchmark) };
	double squares = 0;

	for (size_t s = 0; s < t->effects.series_count; s++) {
		size_t count = effects_points(&t->effects, benchmark, s, points);

		add_series(&row, points, count, t->effects.series_count == 1 || s == DIFF_HEAD ? 1 : -1, &squares);
	}
	row.variance = row.freedom > 0 ? squares / row.freedom : 0;
	return row;
}

static void make_rows(struct suite_test *t)
{
	size_t count = t->work->suite->benchmark_count;
	CLEANUP(cleanup_free)
	struct effects_point *points = memory_alloc((t->effects.most_points + 1) * sizeof(*points));

	t->rows = memory_alloc((count + 1) * sizeof(*t->rows));
	for (uint32_t i = 0; i < count; i++)
		if (effects_has(&t->effects, i))
			t->rows[t->row_count++] = make_row(t, i, points);
}

/* ---- Variances ---- */

/* The degrees of freedom that most rows have: rows of executions that failed have fewer. */
static void common_freedom(const struct suite_test *t, double *freedom)
{
	size_t most = 2 * t->effects.most_points + 2, best = 0;
	CLEANUP(cleanup_free) size_t *counts = memory_zeroed(most + 1, sizeof(*counts));

	for (size_t i = 0; i < t->row_count; i++)
		counts[(size_t)t->rows[i].freedom]++;
	for (size_t i = 0; i <= most; i++)
		best = counts[i] > counts[best] ? i : best;
	*freedom = (double)best;
}

static struct dispersion row_dispersion(const struct suite_row *row)
{
	return (struct dispersion){ .variance = row->variance, .poisson = least_variance };
}

static void fit_moderation(struct suite_test *t)
{
	CLEANUP(cleanup_free) struct dispersion *fitted = memory_alloc((t->row_count + 1) * sizeof(*fitted));
	double freedom = 0;
	size_t count = 0;

	common_freedom(t, &freedom);
	for (size_t i = 0; i < t->row_count; i++)
		if (t->rows[i].freedom == freedom)
			fitted[count++] = row_dispersion(&t->rows[i]);
	moderation_fit(fitted, count, freedom, &t->moderation);
}

static struct judge_spread add_spreads(struct judge_spread a, struct judge_spread b)
{
	double sum = a.variance + b.variance;

	if (!(b.variance > 0))
		return a;
	return (struct judge_spread){ sum,
		sum * sum / (a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom) };
}

/*
 * Variance of the change by what one execution a side cannot tell: whether a benchmark that had a CPU for another share
 * of its time waited for itself, or because other programs ran.
 */
static double waiting_variance(const struct suite_test *t, uint32_t benchmark)
{
	const struct diff_benchmark *b = &t->work->suite->benchmarks[benchmark];
	double ratio = b->cpu_share[DIFF_HEAD] / b->cpu_share[DIFF_BASE];

	return isfinite(ratio) ? pow(log(ratio), 2) : 0;
}

/* Returns the variance of a row's change, from executions. */
static struct judge_spread row_spread(const struct suite_test *t, const struct suite_row *row)
{
	const struct dispersion dispersion = row_dispersion(row);
	struct judge_spread own = { 0 }, common = { t->effects.variance * row->units, t->effects.freedom };

	/* With pairs, a value is a difference, which has the variance of both sides. */
	if (!(row->freedom > 0))
		return (struct judge_spread){ t->assumed_variance * row->units *
							      (t->effects.series_count == 1 ? 2 : 1) +
						      row->rounds + waiting_variance(t, row->benchmark),
			INFINITY };
	own.variance = moderation_posterior(&t->moderation, &dispersion, row->freedom, &own.freedom);
	/* What other benchmarks show may raise the variance of this one, but a benchmark that varies more does so. */
	own.variance = fmax(own.variance, row->variance) * row->units;
	return add_spreads(own, common);
}

/* Returns what is left of a variance that nobody can see. */
static double least_spread(const struct suite_row *row)
{
	return fmax(row->spread.variance, least_variance * row->units);
}

static double half_interval(const struct suite_row *row)
{
	return tail_quantile(tail_of_interval / row->looks, row->spread.freedom) * sqrt(least_spread(row));
}

static void judge_test_row(struct suite_row *row)
{
	row->p = fmin(1, tail_two_sided(row->change / sqrt(least_spread(row)), row->spread.freedom) * row->looks);
}

/* ---- Placement ---- */

static bool judge_is_same_code(const struct suite_test *t, const struct suite_row *row)
{
	return t->work->relinked[row->benchmark] && t->work->suite->benchmarks[row->benchmark].code == DIFF_CODE_SAME;
}

/* Returns whether placement may have changed the row so: as far as is known, it is no more than that. */
static bool judge_is_placeable(const struct suite_test *t, const struct suite_row *row)
{
	return t->effects.has_layouts ? placement_explains_by_layouts(row->change, sqrt(row->variance))
				      : placement_explains(row->change, half_interval(row));
}

/*
 * Adds to the variance of benchmarks in files that were linked anew how far those of the same code differ beyond
 * executions.
 */
static void widen_by_placement(struct suite_test *t)
{
	struct placement_estimate estimate = { .known_rsd = assumed_rsd };
	struct judge_spread placement;

	if (t->effects.has_layouts || t->effects.of_cpu)
		return;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct suite_row *row = &t->rows[i];

		if (judge_is_same_code(t, row) && judge_is_placeable(t, row))
			placement_estimate_add(&estimate, row->change, row->spread.variance, 1);
	}
	if (!placement_estimate_finish(&estimate, &placement.variance, &placement.freedom))
		return;
	for (size_t i = 0; i < t->row_count; i++)
		if (t->work->relinked[t->rows[i].benchmark] && !judge_is_same_code(t, &t->rows[i]))
			t->rows[i].spread = add_spreads(t->rows[i].spread, placement);
}

/* ---- The family ---- */

/*
 * The same code is no change, whatever its place made of it: it is never called one, so it is no member of the family.
 * Its code decides that, not its times, so that the rate of the others holds.
 */
static void adjust(struct suite_test *t)
{
	struct diff_suite *suite = t->work->suite;
	CLEANUP(cleanup_free) struct step_up_member *members = memory_alloc((t->row_count + 1) * sizeof(*members));
	size_t count = 0;

	for (size_t i = 0; i < t->row_count; i++)
		if (!judge_is_same_code(t, &t->rows[i]))
			members[count++] = (struct step_up_member){ .p = t->rows[i].p, .id = t->rows[i].benchmark };
	step_up(members, count);
	for (size_t i = 0; i < count; i++) {
		suite->benchmarks[members[i].id].q = members[i].q;
		t->work->proven[members[i].id] = members[i].q <= suite->options.diff.q;
	}
	suite->details->tested = count;
}

static enum diff_verdict benchmark_verdict(const struct diff_benchmark *benchmark, double precision, bool is_proven)
{
	if (is_proven && fabs(benchmark->change) > precision)
		return benchmark->change > 0 ? DIFF_REGRESSED : DIFF_IMPROVED;
	if (benchmark->change_low >= -precision && benchmark->change_high <= precision)
		return DIFF_UNCHANGED;
	return is_proven ? DIFF_MINOR : DIFF_INCONCLUSIVE;
}

/* ---- One test ---- */

/*
 * Values that have this change, and the geometric mean that they had. Those of the sides are means without the extremes
 * of a side; the change is one without the extremes of pairs, of layouts, and without what executions have in common.
 * Where runs vary wildly these differ, and a row would contradict itself.
 */
static void agree_with_change(double values[DIFF_SIDES], double change)
{
	double middle = sqrt(values[DIFF_BASE] * values[DIFF_HEAD]);

	values[DIFF_BASE] = middle * exp(-change / 2);
	values[DIFF_HEAD] = middle * exp(change / 2);
}

static void run_test(struct suite_test *t, bool of_cpu)
{
	effects_estimate(t->work, of_cpu, &t->effects);
	make_rows(t);
	fit_moderation(t);
	for (size_t i = 0; i < t->row_count; i++)
		t->rows[i].spread = row_spread(t, &t->rows[i]);
	widen_by_placement(t);
	for (size_t i = 0; i < t->row_count; i++)
		judge_test_row(&t->rows[i]);
}

/* Tests by CPU time, which tells a benchmark that got faster from one that waited less. */
static void test_cpu(const struct suite_test *clock)
{
	CLEANUP(test_deinit)
	struct suite_test t = { .work = clock->work, .assumed_variance = clock->assumed_variance };

	run_test(&t, true);
	for (size_t i = 0; i < t.row_count; i++) {
		struct diff_benchmark *b = &t.work->suite->benchmarks[t.rows[i].benchmark];
		double half = half_interval(&t.rows[i]);

		agree_with_change(b->cpu, t.rows[i].change);
		b->cpu_change = expm1(t.rows[i].change);
		b->cpu_change_low = expm1(t.rows[i].change - half);
		b->cpu_change_high = expm1(t.rows[i].change + half);
	}
}

/*
 * Returns whether CPU time, as far as it is known, has not even half of the change in its direction. A benchmark that
 * waits by itself, and one that other programs kept waiting, look alike.
 */
static bool is_contradicted(const struct diff_benchmark *b)
{
	double half = log1p(b->change) / 2;

	if (isnan(b->cpu_change))
		return false;
	return b->change > 0 ? log1p(b->cpu_change_high) < half : log1p(b->cpu_change_low) > half;
}

static void suite_judge_row(struct suite_test *t, const struct suite_row *row)
{
	struct diff_suite *suite = t->work->suite;
	struct diff_benchmark *b = &suite->benchmarks[row->benchmark];
	bool *is_proven = &t->work->proven[row->benchmark];
	bool differs = row->p <= suite->options.diff.q && fabs(b->change) > suite->options.precision;

	if (t->effects.has_layouts)
		b->layout_rsd = sqrt(row->variance);
	b->is_contradicted = *is_proven && is_contradicted(b);
	*is_proven &= !b->is_contradicted;
	b->verdict =
		b->is_contradicted ? DIFF_INCONCLUSIVE : benchmark_verdict(b, suite->options.precision, *is_proven);
	if (!judge_is_same_code(t, row) || !differs)
		return;
	b->is_beyond_placement = !judge_is_placeable(t, row);
	b->verdict = b->is_beyond_placement || t->effects.has_layouts ? DIFF_INCONCLUSIVE : DIFF_PLACEMENT;
}

/*
 * Returns how many more executions a side would decide a benchmark: an interval that is as much narrower excludes 0, if
 * the change is what it seems, or lies within the precision. It narrows with the square root of their number. 0: none
 * are known to.
 */
static uint64_t more_executions(const struct suite_test *t, const struct suite_row *row, double half)
{
	enum { MOST_ASKED = 1000 };
	const struct diff_suite *suite = t->work->suite;
	const struct diff_benchmark *b = &suite->benchmarks[row->benchmark];
	double change = fabs(row->change), target = fmax(change, log1p(suite->options.precision) - change);
	double executions = fmin((double)b->executions[DIFF_BASE], (double)b->executions[DIFF_HEAD]), more;

	if (b->verdict != DIFF_INCONCLUSIVE || b->is_contradicted || b->is_beyond_placement || t->effects.has_layouts ||
		!(row->freedom > 0))
		return 0;
	more = ceil(executions * (pow(half / target, 2) - 1));
	return more >= 1 && more <= MOST_ASKED ? (uint64_t)more : 0;
}

static void describe_layouts(const struct suite_test *t)
{
	for (int side = 0; t->effects.has_layouts && side < DIFF_SIDES; side++)
		t->work->suite->layouts[side] = t->work->sides[side].layouts;
}

static void judge_sampled(struct suite_work *work)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(test_deinit) struct suite_test t = { .work = work };
	enum profile_language language = runtime_language_of_profile(suite->profiles[DIFF_HEAD]);
	double rsd = runtime_compiles(language) ? assumed_rsd_compiled_at_run_time : assumed_rsd;

	t.assumed_variance = rsd * rsd;
	if (suite->executions[DIFF_BASE] == 1 && suite->executions[DIFF_HEAD] == 1)
		suite->assumed_rsd = rsd;
	run_test(&t, false);
	adjust(&t);
	if (suite->is_measured)
		test_cpu(&t);
	for (size_t i = 0; i < t.row_count; i++) {
		struct diff_benchmark *b = &suite->benchmarks[t.rows[i].benchmark];
		double half = half_interval(&t.rows[i]);

		b->p = t.rows[i].p;
		agree_with_change(b->value, t.rows[i].change);
		b->change = expm1(t.rows[i].change);
		b->change_low = expm1(t.rows[i].change - half);
		b->change_high = expm1(t.rows[i].change + half);
		suite_judge_row(&t, &t.rows[i]);
		b->more_executions = more_executions(&t, &t.rows[i], half);
	}
	describe_layouts(&t);
}

/* ---- Exact counts ---- */

static double judge_range_of(const struct suite_side *side, uint32_t benchmark)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = side->firsts[benchmark]; i < side->firsts[benchmark + 1]; i++) {
		least = fmin(least, side->values[i].value);
		most = fmax(most, side->values[i].value);
	}
	return most - least;
}

/* A difference is proven if it is larger than noise: nobody sampled, so there is no chance beside it. */
static void judge_exact(struct suite_work *work, uint32_t id, bool has_runtime)
{
	static const double default_least_share = 0.00005;
	struct diff_suite *suite = work->suite;
	struct diff_benchmark *benchmark = &suite->benchmarks[id];
	double base = benchmark->value[DIFF_BASE], head = benchmark->value[DIFF_HEAD], most = fmax(base, head);
	double ranges[DIFF_SIDES] = { judge_range_of(&work->sides[0], id), judge_range_of(&work->sides[1], id) };
	double least = suite->options.diff.min_effect_points > 0 ? suite->options.diff.min_effect_points / 100
								 : default_least_share;
	double noise = evidence_exact_noise(ranges, benchmark->executions, has_runtime, most);
	bool is_proven = fabs(head - base) > noise && fabs(head - base) >= least * most && head != base;

	benchmark->change = base > 0 ? (head - base) / base : head > 0 ? INFINITY : 0;
	benchmark->change_low = base > 0 ? benchmark->change - noise / base : benchmark->change;
	benchmark->change_high = base > 0 ? benchmark->change + noise / base : benchmark->change;
	benchmark->verdict = benchmark_verdict(benchmark, suite->options.precision, is_proven);
	/* Without chance, a small difference is known to be one. */
	if (is_proven && benchmark->verdict == DIFF_UNCHANGED)
		benchmark->verdict = DIFF_MINOR;
	work->proven[id] = is_proven;
	suite->details->tested++;
}

void suite_judge(struct suite_work *work)
{
	struct diff_suite *suite = work->suite;
	bool has_runtime = runtime_language_of_profile(suite->profiles[DIFF_HEAD]) != PROFILE_LANGUAGE_NATIVE;

	work->proven = memory_zeroed(suite->benchmark_count + 1, sizeof(*work->proven));
	if (suite->sides == 1)
		return;
	for (uint32_t i = 0; suite->is_exact && i < suite->benchmark_count; i++)
		if (suite->benchmarks[i].presence == DIFF_IN_BOTH)
			judge_exact(work, i, has_runtime);
	if (!suite->is_exact)
		judge_sampled(work);
	for (size_t i = 0; i < suite->benchmark_count; i++)
		suite->details->proven += work->proven[i];
}
