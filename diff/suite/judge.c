/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests whether benchmarks changed: each is a row of the one model of evidence (rows.h), and all are one family.
 * Benchmarks whose code is the same, in files that were linked anew, are no members of it: they show what placement
 * does.
 */
#include "diff/suite/work.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"
#include "diff/statistics/placement.h"
#include "diff/suite/rows.h"

#include <math.h>
#include <stdlib.h>

struct suite_test {
	struct suite_work *work;
	struct suite_rows rows;
	struct evidence *evidence; /* owned: [row] */
	unsigned int *looks;       /* owned: [row] evidence_look_adjustment() */
	double *p;                 /* owned: [row] at its look */
};

static void test_deinit(struct suite_test *t)
{
	suite_rows_deinit(&t->rows);
	free(t->evidence);
	free(t->looks);
	free(t->p);
}

static struct diff_benchmark *judge_benchmark(const struct suite_test *t, size_t row)
{
	return &t->work->suite->benchmarks[t->rows.benchmarks[row]];
}

/* Returns the number of the look at a benchmark by its last execution, while executions go on. */
static unsigned int look_of(const struct suite_work *work, uint32_t benchmark)
{
	uint64_t executions = 0;

	if (!work->suite->options.is_watched)
		return 0;
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct suite_side *side = &work->sides[s];

		for (size_t i = side->firsts[benchmark]; i < side->firsts[benchmark + 1]; i++)
			if (side->values[i].execution >= executions)
				executions = side->values[i].execution + 1u;
	}
	return diff_suite_look_after(executions);
}

static void weigh_test(struct suite_test *t)
{
	for (size_t i = 0; i < t->rows.count; i++) {
		evidence_weigh_row(&t->rows.rows[i], &t->rows.factor, &t->evidence[i]);
		t->p[i] = fmin(1, t->evidence[i].p * evidence_look_adjustment(t->looks[i]));
	}
}

static void test_init(struct suite_test *t, struct suite_work *work, bool of_cpu, const double *further)
{
	*t = (struct suite_test){ .work = work };
	suite_rows_init(&t->rows, work, of_cpu, further);
	t->evidence = memory_zeroed(t->rows.count + 1, sizeof(*t->evidence));
	t->looks = memory_zeroed(t->rows.count + 1, sizeof(*t->looks));
	t->p = memory_zeroed(t->rows.count + 1, sizeof(*t->p));
	for (size_t i = 0; i < t->rows.count; i++)
		t->looks[i] = look_of(work, t->rows.benchmarks[i]);
	weigh_test(t);
}

/* ---- Waiting ---- */

/* Returns the samples of CPU time that a side has of each [benchmark]; owned by the caller. */
static double *count_samples(const struct suite_work *work, int side)
{
	const struct suite_side *s = &work->sides[side];
	double *samples = memory_zeroed(work->suite->benchmark_count + 1, sizeof(*samples));

	for (size_t run = 0; run < s->profile->run_count; run++) {
		uint32_t benchmark = work->suite->details->benchmarks[side][run];

		if (benchmark != PROFILE_NONE)
			samples[benchmark] += s->run_samples[run];
	}
	return samples;
}

/*
 * Returns the variance of a ratio of times by which a benchmark had a CPU for another share of its time. Executions do
 * not tell whether it waited for itself, or because other programs ran: so it is the square of the ratio of the shares,
 * as far as counting samples does not make that.
 */
static double waiting_variance(const struct diff_benchmark *b, double base_samples, double head_samples)
{
	struct evidence shares = { .samples = { base_samples, head_samples }, .weights = { 1 } };
	double ratio = log(b->cpu_share[DIFF_HEAD] / b->cpu_share[DIFF_BASE]), differ;

	if (!isfinite(ratio) || !(fmin(base_samples, head_samples) > 0))
		return 0;
	shares.offset = log(head_samples / base_samples) - ratio;
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		shares.variance[k] = 1e-8;
	differ = 1 / (1 + exp(-evidence_gain(&shares)));
	return differ * fmax(ratio * ratio - 1 / base_samples - 1 / head_samples, 0);
}

/* Returns these variances, [benchmark]; owned by the caller. */
static double *find_waiting(const struct suite_work *work)
{
	CLEANUP(cleanup_free) double *base = count_samples(work, DIFF_BASE);
	CLEANUP(cleanup_free) double *head = count_samples(work, DIFF_HEAD);
	double *variances = memory_zeroed(work->suite->benchmark_count + 1, sizeof(*variances));

	for (size_t i = 0; work->suite->is_measured && i < work->suite->benchmark_count; i++)
		variances[i] = waiting_variance(&work->suite->benchmarks[i], base[i], head[i]);
	return variances;
}

/* Returns whether waiting is what leaves a row unproven. */
static bool is_by_waiting(const struct suite_test *t, size_t row, double waiting)
{
	struct evidence_row without = t->rows.rows[row];
	struct evidence evidence;
	double q = t->work->suite->options.diff.q;

	if (!(waiting > 0) || t->p[row] <= q)
		return false;
	without.further = fmax(without.further - waiting, 0);
	evidence_weigh_row(&without, &t->rows.factor, &evidence);
	return evidence.p * evidence_look_adjustment(t->looks[row]) <= q;
}

/* ---- Placement ---- */

static bool judge_is_same_code(const struct suite_test *t, size_t row)
{
	return t->work->relinked[t->rows.benchmarks[row]] && judge_benchmark(t, row)->code == DIFF_CODE_SAME;
}

/* Returns the variance of a row's change by the model, of a normal distribution with an interval of this width. */
static double judge_variance(const struct suite_test *t, size_t row)
{
	double low, high;

	evidence_interval(&t->evidence[row], &low, &high);
	return pow((high - low) / 2 / tail_normal_95, 2);
}

/* Returns whether placement may have changed the row so: as far as is known, it is no more than that. */
static bool judge_is_placeable(const struct suite_test *t, size_t row)
{
	double effect = t->evidence[row].effect;

	return t->rows.has_layouts ? placement_explains_by_layouts(effect, suite_rows_deviation(&t->rows, row))
				   : placement_explains(effect, tail_normal_95 * sqrt(judge_variance(t, row)));
}

/*
 * Adds to the variance of benchmarks in files that were linked anew how far those of the same code differ beyond
 * executions. It is that of the normal distribution which is as wide as Student's t with the degrees of freedom.
 */
static void widen_by_placement(struct suite_test *t)
{
	/* Differences that are known worse than this say little of placement. */
	static const double known_rsd = .05;
	struct placement_estimate estimate = { .known_rsd = known_rsd };
	double variance, freedom;

	if (t->rows.has_layouts)
		return;
	for (size_t i = 0; i < t->rows.count; i++)
		if (judge_is_same_code(t, i) && judge_is_placeable(t, i))
			placement_estimate_add(&estimate, t->evidence[i].effect, judge_variance(t, i), 1);
	if (!placement_estimate_finish(&estimate, &variance, &freedom))
		return;
	for (size_t i = 0; i < t->rows.count; i++)
		if (t->work->relinked[t->rows.benchmarks[i]] && !judge_is_same_code(t, i))
			t->rows.rows[i].further += variance * freedom / (freedom - 2);
	weigh_test(t);
}

/* ---- The family ---- */

/*
 * The same code is no change, whatever its place made of it: it is never called one, so it is no member of the family.
 * Its code decides that, not its times, so that the rate of the others holds.
 */
static void adjust(struct suite_test *t)
{
	struct diff_suite *suite = t->work->suite;
	CLEANUP(cleanup_free) struct evidence_member *members = memory_alloc((t->rows.count + 1) * sizeof(*members));
	CLEANUP(cleanup_free) uint32_t *benchmarks = memory_alloc((t->rows.count + 1) * sizeof(*benchmarks));
	size_t count = 0;

	for (size_t i = 0; i < t->rows.count; i++) {
		if (judge_is_same_code(t, i))
			continue;
		/* Each is a hypothesis of its own. */
		members[count] = (struct evidence_member){ .p = t->p[i], .samples = { (double)i }, .part = 1 };
		benchmarks[count++] = t->rows.benchmarks[i];
	}
	evidence_family(members, count);
	for (size_t i = 0; i < count; i++) {
		suite->benchmarks[benchmarks[i]].q = members[i].q;
		t->work->proven[benchmarks[i]] = members[i].q <= suite->options.diff.q;
		suite->details->proven += t->work->proven[benchmarks[i]];
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

/* ---- Results ---- */

/* Fills values that have the change of a row, and the geometric mean of what executions took, as far as they count. */
static void fill_values(const struct suite_test *t, size_t row, double values[DIFF_SIDES])
{
	double middle = sqrt(suite_rows_value(&t->rows, row, DIFF_BASE) * suite_rows_value(&t->rows, row, DIFF_HEAD));

	values[DIFF_BASE] = middle * exp(-t->evidence[row].effect / 2);
	values[DIFF_HEAD] = middle * exp(t->evidence[row].effect / 2);
}

/* Tests by CPU time, which tells a benchmark that got faster from one that waited less. */
static void test_cpu(struct suite_work *work)
{
	CLEANUP(test_deinit) struct suite_test t;

	test_init(&t, work, true, NULL);
	for (size_t i = 0; i < t.rows.count; i++) {
		struct diff_benchmark *b = judge_benchmark(&t, i);
		double low, high;

		evidence_interval_at_look(&t.evidence[i], t.looks[i], &low, &high);
		fill_values(&t, i, b->cpu);
		b->cpu_change = expm1(t.evidence[i].effect);
		b->cpu_change_low = expm1(low);
		b->cpu_change_high = expm1(high);
	}
}

static void suite_judge_row(struct suite_test *t, size_t row, double waiting)
{
	struct diff_suite *suite = t->work->suite;
	struct diff_benchmark *b = judge_benchmark(t, row);
	double low, high;
	bool differs;

	evidence_interval_at_look(&t->evidence[row], t->looks[row], &low, &high);
	fill_values(t, row, b->value);
	b->p = t->p[row];
	b->change = expm1(t->evidence[row].effect);
	b->change_low = expm1(low);
	b->change_high = expm1(high);
	if (t->rows.has_layouts)
		b->layout_rsd = suite_rows_deviation(&t->rows, row);
	b->verdict = benchmark_verdict(b, suite->options.precision, t->work->proven[t->rows.benchmarks[row]]);
	b->is_contradicted =
		b->verdict == DIFF_INCONCLUSIVE && isfinite(b->cpu_change) && is_by_waiting(t, row, waiting);
	differs = t->p[row] <= suite->options.diff.q && fabs(b->change) > suite->options.precision;
	if (!judge_is_same_code(t, row) || !differs)
		return;
	b->is_beyond_placement = !judge_is_placeable(t, row);
	b->verdict = b->is_beyond_placement || t->rows.has_layouts ? DIFF_INCONCLUSIVE : DIFF_PLACEMENT;
}

/*
 * Returns how many more executions a side would decide a benchmark, if its change is what it seems, or at least one
 * that matters: as the family would find one more. 0: none are known to.
 */
static uint64_t more_executions(const struct suite_test *t, size_t row)
{
	enum { MOST_ASKED = 1000 };
	const struct diff_suite *suite = t->work->suite;
	const struct diff_benchmark *b = judge_benchmark(t, row);
	double effect = fmax(fabs(t->evidence[row].effect), log1p(suite->options.precision));
	double level = suite->options.diff.q * (double)(suite->details->proven + 1) /
		       fmax((double)suite->details->tested, 1) / evidence_look_adjustment(t->looks[row]);
	size_t executions = b->executions[DIFF_BASE] < b->executions[DIFF_HEAD] ? b->executions[DIFF_BASE]
										: b->executions[DIFF_HEAD];
	size_t needed;

	if (b->verdict != DIFF_INCONCLUSIVE || b->is_beyond_placement || t->rows.has_layouts)
		return 0;
	needed = evidence_profiles_needed(&t->rows.rows[row], &t->evidence[row], effect,
		fmin(level, suite->options.diff.q), executions + MOST_ASKED);
	return needed > executions ? needed - executions : 0;
}

static void describe_layouts(const struct suite_test *t)
{
	for (int side = 0; t->rows.has_layouts && side < DIFF_SIDES; side++)
		t->work->suite->layouts[side] = t->work->sides[side].layouts;
}

static void judge_sampled(struct suite_work *work)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(cleanup_free) double *waiting = find_waiting(work);
	CLEANUP(test_deinit) struct suite_test t;

	test_init(&t, work, false, waiting);
	widen_by_placement(&t);
	adjust(&t);
	if (suite->is_measured)
		test_cpu(work);
	suite->common = expm1(t.rows.factor.mean);
	suite->common_low = expm1(t.rows.factor.mean - tail_normal_95 * sqrt(t.rows.factor.variance));
	suite->common_high = expm1(t.rows.factor.mean + tail_normal_95 * sqrt(t.rows.factor.variance));
	for (size_t i = 0; i < t.rows.count; i++) {
		suite_judge_row(&t, i, waiting[t.rows.benchmarks[i]]);
		judge_benchmark(&t, i)->more_executions = more_executions(&t, i);
	}
	describe_layouts(&t);
}

/* ---- Exact counts ---- */

/* The benchmarks of both sides, as rows of what a simulator counted. */
struct suite_counts {
	struct evidence_row *rows; /* owned */
	uint32_t *benchmarks;      /* owned: [row] */
	size_t count;
	double *values[DIFF_SIDES], *work[DIFF_SIDES]; /* owned: of all executions */
	struct evidence_exact_priors priors;
};

static void suite_counts_deinit(struct suite_counts *c)
{
	free(c->rows);
	free(c->benchmarks);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(c->values[side]);
		free(c->work[side]);
	}
}

static void suite_counts_init(struct suite_counts *c, const struct suite_work *work)
{
	size_t benchmarks = work->suite->benchmark_count;

	*c = (struct suite_counts){ .rows = memory_zeroed(benchmarks + 1, sizeof(*c->rows)),
		.benchmarks = memory_zeroed(benchmarks + 1, sizeof(*c->benchmarks)) };
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct suite_side *s = &work->sides[side];
		size_t count = s->firsts[benchmarks];

		c->values[side] = memory_alloc((count + 1) * sizeof(**c->values));
		c->work[side] = memory_alloc((count + 1) * sizeof(**c->work));
		for (size_t i = 0; i < count; i++) {
			c->values[side][i] = s->values[i].value;
			c->work[side][i] = 1;
		}
	}
	for (uint32_t i = 0; i < benchmarks; i++) {
		struct evidence_row *row = &c->rows[c->count];

		if (work->suite->benchmarks[i].presence != DIFF_IN_BOTH)
			continue;
		*row = (struct evidence_row){ .class = EVIDENCE_EXACT, .part = 1, .priors = c->priors.total };
		for (int side = 0; side < DIFF_SIDES; side++) {
			const size_t *firsts = &work->sides[side].firsts[i];

			row->sides[side] = (struct evidence_counts){ c->values[side] + firsts[0],
				c->work[side] + firsts[0], firsts[1] - firsts[0], NULL };
		}
		c->benchmarks[c->count++] = i;
	}
	evidence_learn_kind(c->rows, c->count, &c->priors);
}

static void judge_exact_benchmark(
	struct suite_work *work, uint32_t id, const struct evidence *evidence, const struct evidence_member *member)
{
	struct diff_suite *suite = work->suite;
	struct diff_benchmark *b = &suite->benchmarks[id];
	double base = b->value[DIFF_BASE], head = b->value[DIFF_HEAD], low, high;
	double points = suite->options.diff.min_effect_points > 0 ? suite->options.diff.min_effect_points
								  : metric_default_min_exact_points;

	evidence_interval(evidence, &low, &high);
	b->p = evidence->p;
	b->q = member->q;
	b->change = base > 0 ? (head - base) / base : head > 0 ? INFINITY : 0;
	b->change_low = base > 0 ? fmin(expm1(low), b->change) : b->change;
	b->change_high = base > 0 ? fmax(expm1(high), b->change) : b->change;
	work->proven[id] =
		b->q <= suite->options.diff.q && head != base && fabs(head - base) >= points / 100 * fmax(base, head);
	b->verdict = benchmark_verdict(b, suite->options.precision, work->proven[id]);
	/* A small difference of counts is known to be one. */
	if (work->proven[id] && b->verdict == DIFF_UNCHANGED)
		b->verdict = DIFF_MINOR;
	suite->details->proven += work->proven[id];
	suite->details->tested++;
}

static void judge_exact(struct suite_work *work)
{
	static const struct evidence_factor none = { 0 };
	CLEANUP(suite_counts_deinit) struct suite_counts c;
	CLEANUP(cleanup_free) struct evidence *evidence = NULL;
	CLEANUP(cleanup_free) struct evidence_member *members = NULL;

	suite_counts_init(&c, work);
	evidence = memory_zeroed(c.count + 1, sizeof(*evidence));
	members = memory_zeroed(c.count + 1, sizeof(*members));
	for (size_t i = 0; i < c.count; i++) {
		evidence_weigh_row(&c.rows[i], &none, &evidence[i]);
		members[i] = (struct evidence_member){ .p = evidence[i].p, .samples = { (double)i }, .part = 1 };
	}
	evidence_family(members, c.count);
	for (size_t i = 0; i < c.count; i++)
		judge_exact_benchmark(work, c.benchmarks[i], &evidence[i], &members[i]);
}

void suite_judge(struct suite_work *work)
{
	struct diff_suite *suite = work->suite;

	work->proven = memory_zeroed(suite->benchmark_count + 1, sizeof(*work->proven));
	if (suite->sides == 1)
		return;
	if (suite->is_exact)
		judge_exact(work);
	else
		judge_sampled(work);
}
