/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict.h"

#include "diff/gate.h"
#include "diff/metric.h"

#include <math.h>
#include <string.h>

/* A total whose interval lies within so many percent of base is called unchanged; gates on the total may ask for less. */
static const double equivalence_percent = 5;

/* From so many times as much on, percent are hard to read. */
static const double most_in_percent = 10;

/* Less than this would be written as 0.0 %. */
static const double least_shown_percent = 0.05;

/* ---- Words ---- */

static const char *metric_words(const struct diff *diff)
{
	const char *name = diff_string(diff, diff->metric);

	return strcmp(name, "cpu") == 0 ? "CPU time" : name;
}

static const char *scale_words(const struct diff *diff)
{
	switch (diff->scale.mode) {
	case DIFF_SCALE_PER_RUN:
		return " per run";
	case DIFF_SCALE_RATE:
		return " per second";
	case DIFF_SCALE_WORK:
		return " per unit of work";
	case DIFF_SCALE_ROBUST:
		return " at equal load";
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_SHARE:
		return "";
	}
	return "";
}

/* Why a difference whose interval leaves out 0 is not called proven all the same. */
static const char *word_doubt(const struct diff_estimate *e)
{
	if (isnan(e->ci_low) || (e->ci_low <= 0 && e->ci_high >= 0))
		return "";
	if (e->state == DIFF_STATE_UNPROVEN)
		return "; the test over all functions asks for more";
	return e->state == DIFF_STATE_SAME ? "; less than --min-effect" : "";
}

/* "12.3 % more CPU time per run (95 % interval 9.8 to 14.9 %)" */
static void word_estimate(const struct diff *diff, const struct diff_estimate *e, char *out, size_t size)
{
	double sign = e->delta < 0 ? -1 : 1, unit = e->base > 0 ? 100 / e->base : 0;
	double low = sign * (sign > 0 ? e->ci_low : e->ci_high) * unit, high = sign * (sign > 0 ? e->ci_high : e->ci_low) * unit;
	const char *less = metric_is_counted(diff) ? "fewer" : "less", *much = metric_is_counted(diff) ? "many" : "much";
	bool equal = fabs(e->delta) * unit < least_shown_percent;
	char change[40];

	if (equal)
		snprintf(change, sizeof(change), "as %s", much);
	else
		snprintf(change, sizeof(change), "%.1f %% %s", fabs(e->delta) * unit, sign > 0 ? "more" : less);

	if (fabs(low) < least_shown_percent)
		low = 0; /* not -0.0 */
	if (!(e->base > 0))
		snprintf(out, size, "%s that base did not use", metric_words(diff));
	else if (!isnan(e->ci_low) && e->head >= most_in_percent * e->base)
		snprintf(out, size, "%.0f times the %s%s (95 %% interval %.0f to %.0f times%s)", e->head / e->base,
			metric_words(diff), scale_words(diff), 1 + low / 100, 1 + high / 100, word_doubt(e));
	else if (isnan(e->ci_low))
		snprintf(out, size, "%s %s%s", change, metric_words(diff), scale_words(diff));
	else
		snprintf(out, size, "%s %s%s (95 %% interval %s%.1f to %.1f %%%s)", change, metric_words(diff), scale_words(diff),
			equal ? "of the difference " : "", low, high, word_doubt(e));
}

/* ---- What is proven ---- */

static int direction(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_MORE:
	case DIFF_STATE_NEW:
		return 1;
	case DIFF_STATE_LESS:
	case DIFF_STATE_GONE:
		return -1;
	case DIFF_STATE_SAME:
	case DIFF_STATE_UNPROVEN:
	case DIFF_STATE_MOVED:
		return 0;
	}
	return 0;
}

struct proven {
	double self; /* sum of proven differences of self time */
	size_t more, less;
	const struct diff_function *greatest; /* by |delta|, in the direction of the sum; self before total */
	const struct diff_estimate *estimate; /* of `greatest` */
	bool is_self;
};

static void count_function(struct proven *proven, const struct diff_function *f)
{
	int way = direction(f->self.state) ? direction(f->self.state) : direction(f->total.state);

	proven->more += way > 0;
	proven->less += way < 0;
	if (direction(f->self.state))
		proven->self += f->self.delta;
}

static void consider(struct proven *proven, const struct diff_function *f, const struct diff_estimate *estimate, bool is_self)
{
	if (!direction(estimate->state) || direction(estimate->state) * proven->self < 0)
		return;
	if (proven->greatest && (proven->is_self > is_self ||
					(proven->is_self == is_self && fabs(proven->estimate->delta) >= fabs(estimate->delta))))
		return;
	proven->greatest = f;
	proven->estimate = estimate;
	proven->is_self = is_self;
}

static struct proven find_proven(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	struct proven proven = { 0 };

	for (size_t i = 0; i < diff->function_count; i++)
		count_function(&proven, &diff->functions[i]);
	for (size_t i = 0; i < diff->function_count; i++) {
		consider(&proven, &diff->functions[i], &diff->functions[i].self, true);
		consider(&proven, &diff->functions[i], &diff->functions[i].total, false);
	}
	return proven;
}

static int proven_direction(const struct diff_build *build, const struct proven *proven)
{
	const struct diff *diff = build->diff;
	double least = build->options.min_effect_points / 100 * build_points_of(diff);

	if (direction(diff->total.state))
		return direction(diff->total.state);
	if (fabs(proven->self) >= least)
		return proven->self > 0 ? 1 : -1;
	/* Only inclusive times are proven: many small differences below one function. */
	if (proven->more && !proven->less)
		return 1;
	return proven->less && !proven->more ? -1 : 0;
}

/* ---- The sentences ---- */

static bool say_total(struct diff *diff, struct error *err)
{
	char words[200];

	word_estimate(diff, &diff->total, words, sizeof(words));
	return build_text(diff, err, &diff->verdict_text, "head takes %s", words);
}

/* A function's name as a sentence can hold it. */
static void word_name(const struct diff *diff, uint32_t name, struct buffer *out)
{
	enum { COLUMNS = 80, MAX_BYTES = 1024 };

	buffer_init(out, MAX_BYTES);
	profile_shorten_name(diff_string(diff, name), COLUMNS, out);
}

static bool say_function(struct diff_build *build, const struct proven *proven, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	struct diff *diff = build->diff;
	const struct diff_function *f = proven->greatest;
	size_t others = proven->more + proven->less - 1;
	/* Shares add up to the same whole. */
	const char *whole = diff->scale.mode == DIFF_SCALE_SHARE ? "" : "; that the whole differs is not proven";
	char words[200], rest[80] = "";

	if (!f)
		return say_total(diff, err);
	word_estimate(diff, proven->estimate, words, sizeof(words));
	if (others > 0)
		snprintf(rest, sizeof(rest), "; %zu other function%s differ%s too", others, others == 1 ? "" : "s",
			others == 1 ? "s" : "");
	word_name(diff, f->name, &name);
	return buffer_ok(&name, err) &&
	       build_text(diff, err, &diff->verdict_text, "%s takes %s, %.2f points of the total%s%s", name.data ? name.data : "",
		       words, fabs(proven->estimate->delta) / build_points_of(diff) * 100, rest, whole);
}

static double tolerated_percent(const struct diff_build *build)
{
	double percent = equivalence_percent;

	for (size_t i = 0; i < build->options.gate_count; i++) {
		const struct diff_gate *gate = &build->options.gates[i];

		if (gate->subject == DIFF_GATE_TOTAL && gate->percent > 0 && gate->percent < percent)
			percent = gate->percent;
	}
	return percent;
}

/* Whether counting alone leaves more open, in parts of the total, than would be unchanged. */
static bool too_few_samples(const struct diff_build *build, double tolerated)
{
	static const double normal_quantile = 1.96;
	double variance = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		variance += build->sample_weight[side] / build->diff->raw_total[side];
	return normal_quantile * sqrt(variance) > tolerated;
}

/* Nothing is proven: unchanged when what could have been missed is small, else inconclusive. */
static bool decide_unproven(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	const struct diff_estimate *e = &diff->total;
	double tolerated = tolerated_percent(build) / 100 * e->base, half = (e->ci_high - e->ci_low) / 2;
	char words[200];

	word_estimate(diff, e, words, sizeof(words));
	if (isnan(half) && e->delta == 0) {
		diff->verdict = DIFF_UNCHANGED;
		return build_text(diff, err, &diff->verdict_text, "base and head are equal");
	}
	if (isnan(half)) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return build_text(diff, err, &diff->verdict_text,
			"head shows %s, but there is too little data to tell it from noise: record longer, or several runs", words);
	}
	if (e->ci_high <= tolerated && e->ci_low >= -tolerated) {
		diff->verdict = DIFF_UNCHANGED;
		return build_text(diff, err, &diff->verdict_text, "no difference is proven; head takes %s", words);
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	/* More samples do not take away what differs between processes anyway. */
	if (diff->evidence.mode != DIFF_EVIDENCE_RUNS)
		return build_text(diff, err, &diff->verdict_text, "no difference is proven; head takes %s: %s", words,
			too_few_samples(build, tolerated / e->base)
				? "too few samples to tell this from noise, record longer, and several runs"
				: "one recording a side cannot tell this from the noise between processes, record several runs");
	/* Intervals shrink with the root of the samples. Half the tolerance, so that an estimate off by chance still fits. */
	diff->needs_times_samples = fmax(2, ceil(pow(half / (tolerated / 2), 2)));
	return build_text(diff, err, &diff->verdict_text, "no difference is proven; head takes %s: needs about %.0f× the samples",
		words, diff->needs_times_samples);
}

/* Single differences do not stand for a whole that points the other way. */
static bool whole_disagrees(const struct diff *diff, int way)
{
	return way > 0 ? diff->total.ci_high < 0 : way < 0 && diff->total.ci_low > 0;
}

static bool say_counts(struct diff_build *build, const struct proven *proven, const char *rest, struct error *err)
{
	return build_text(build->diff, err, &build->diff->verdict_text, "%zu function%s more and %zu %s %s%s", proven->more,
		proven->more == 1 ? " takes" : "s take", proven->less, metric_less(build), metric_noun(build), rest);
}

static bool say_disagreement(struct diff_build *build, const struct proven *proven, struct error *err)
{
	char words[200], rest[300];

	word_estimate(build->diff, &build->diff->total, words, sizeof(words));
	snprintf(rest, sizeof(rest), ", but head takes %s, which is not proven: record more runs", words);
	return say_counts(build, proven, rest, err);
}

static bool decide_direction(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	struct proven proven = find_proven(build);
	int way = proven_direction(build, &proven);

	if (way == 0 && proven.more + proven.less == 0)
		return decide_unproven(build, err);
	if (whole_disagrees(diff, way)) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return say_disagreement(build, &proven, err);
	}
	diff->verdict = way > 0 ? DIFF_REGRESSED : way < 0 ? DIFF_IMPROVED : DIFF_UNCHANGED;
	if (way == 0)
		return say_counts(build, &proven, "; together they balance", err);
	return direction(diff->total.state) ? say_total(diff, err) : say_function(build, &proven, err);
}

/* ---- Gates ---- */

static const char *first_blocking(const struct diff *diff)
{
	for (size_t i = 0; i < diff->warning_count; i++) {
		if (diff->warnings[i].blocks_gate)
			return diff_string(diff, diff->warnings[i].text);
	}
	return NULL;
}

static bool say_gate(struct diff_build *build, const struct gate_result *result, struct error *err)
{
	struct diff *diff = build->diff;
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	const char *subject = "the total", *whole = result->is_total ? " with all it calls" : "";

	if (result->function != PROFILE_NONE) {
		word_name(diff, diff->functions[result->function].name, &name);
		if (!buffer_ok(&name, err))
			return false;
		subject = name.data ? name.data : "";
	}
	if (!isfinite(result->percent))
		return build_text(diff, err, &diff->verdict_text, "%s%s is new; the limit is %g %%%s", subject, whole,
			result->gate->percent, result->outcome == GATE_UNDECIDED ? ", but noise could explain it" : "");
	return build_text(diff, err, &diff->verdict_text, "%s%s takes %.1f %% more %s; the limit is %g %%%s", subject, whole,
		result->percent, metric_noun(build), result->gate->percent,
		result->outcome == GATE_UNDECIDED ? ", but noise could explain it" : "");
}

static bool decide_gates(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	struct gate_result result = gate_evaluate(build);
	const char *blocking = build->options.gates_ignore_warnings ? NULL : first_blocking(diff);

	if (build->options.gate_count == 0)
		return true;
	if (blocking) {
		diff->verdict = DIFF_INCONCLUSIVE;
		diff->needs_times_samples = 0;
		return build_text(diff, err, &diff->verdict_text, "the limits were not judged: %s", blocking);
	}
	if (result.outcome == GATE_PASSED)
		return true;
	diff->gate_failed = result.outcome == GATE_FAILED;
	diff->verdict = diff->gate_failed ? DIFF_REGRESSED : DIFF_INCONCLUSIVE;
	return say_gate(build, &result, err);
}

bool verdict_decide(struct diff_build *build, struct error *err)
{
	build->diff->verdict = DIFF_UNCHANGED;
	if (!build_two_sided(build))
		return true;
	return decide_direction(build, err) && decide_gates(build, err);
}
