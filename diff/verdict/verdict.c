/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/verdict.h"

#include "diff/metric.h"
#include "diff/statistics/load.h"
#include "diff/verdict/exact.h"
#include "diff/verdict/gate.h"
#include "diff/verdict/programs.h"
#include "diff/verdict/timed.h"
#include "diff/verdict/waiting.h"
#include "diff/verdict/warmup.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

/*
 * The verdict is decided as a reader would: first whether both sides can be compared at all; then by the total and its
 * interval; then by the functions that are proven to differ, by size and direction. Small changes never decide; they
 * have sentences of their own.
 */

/*
 * A total whose interval lies within this many percent of base is called unchanged; a gate on the total may set a
 * smaller limit.
 */
static const double equivalence_percent = 5;

/* Room for what words_unproven writes, in bytes: each of its four counts has at most 20 digits. */
enum { WORDS_UNPROVEN = 200 };

/* A total that is proven to differ by less than this is a minor change. */
static const double minor_total_percent = 1;

/*
 * If the total does not decide, functions do: those of one direction must have at least this many points, and those of
 * the other less than half of that. Two recordings of an unchanged program on a busy machine differ by some points in
 * single functions.
 */
static const double decisive_points = 3;
static const double opposed_share = 0.5;

/* The verdict does not advise to record more than this many times the runs. */
static const double most_times_asked = 20;

/* ---- Summing up what is proven ---- */

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
	double more_points,
		less_points; /* points of proven changes of self time; of total time if there are none of self time */
	/* numbers of functions, without the frames of waits and those of an interpreter that only pass time on */
	size_t more, less;
	const struct diff_function *greatest; /* the one with the largest |delta|; self time goes before total time */
	const struct diff_estimate *estimate; /* its estimate: self or total */
};

/* Whether it is an interpreter's: its total is that of the functions which the interpreter runs, and they are named. */
static bool is_of_interpreter(const struct diff_function *f)
{
	return f->interprets != PROFILE_LANGUAGE_NATIVE;
}

static void count_function(struct proven *proven, const struct diff *diff, const struct diff_function *f)
{
	int way = direction(f->self.state) ? direction(f->self.state) : direction(f->total.state);

	/* Exact counts show in which function a change is: its callers, which do nothing new, are not counted. */
	if (diff->is_exact && !direction(f->self.state))
		return;
	if (diff_wait_class(diff, f) != PROFILE_WAIT_NONE || (is_of_interpreter(f) && !direction(f->self.state)))
		return;
	proven->more += way > 0;
	proven->less += way < 0;
}

static double points(const struct diff *diff, double delta)
{
	return fabs(delta) / build_points_of(diff) * 100;
}

/*
 * Whether a proven change may count for the verdict. One recording does not show what a run-time compiler would do in
 * another process; runs do, with the bounds of what it may have moved (modes.h).
 */
static bool counts_alone(const struct diff *diff, const struct diff_function *f)
{
	bool has_runs = diff->evidence.mode == DIFF_EVIDENCE_RUNS ||
			(diff->evidence.mode == DIFF_EVIDENCE_EXACT && diff->evidence.floor_rsd == 0);

	return has_runs || !build_is_compiled_at_run_time(f);
}

/* Total times include those of the callees, so only the largest in each direction counts. */
static void add_estimate(struct proven *proven, const struct diff *diff, const struct diff_function *f, bool is_self)
{
	const struct diff_estimate *e = is_self ? &f->self : &f->total;
	double *side = e->delta > 0 ? &proven->more_points : &proven->less_points, size = points(diff, e->delta);

	if (!direction(e->state) || !counts_alone(diff, f) || (!is_self && is_of_interpreter(f)))
		return;
	*side = is_self ? *side + size : fmax(*side, size);
	if (!proven->greatest || fabs(e->delta) > fabs(proven->estimate->delta)) {
		proven->greatest = f;
		proven->estimate = e;
	}
}

static struct proven find_proven(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	struct proven proven = { 0 };
	bool counts_totals;

	for (size_t i = 0; i < diff->function_count; i++)
		count_function(&proven, diff, &diff->functions[i]);
	for (size_t i = 0; i < diff->function_count; i++)
		add_estimate(&proven, diff, &diff->functions[i], true);
	/*
	 * If most of the change is below functions without self time of their own, total times are counted too: all of
	 * them, whatever their order. All self time of waits is in the frames of classes, so that only total times tell
	 * one place from another.
	 */
	counts_totals = diff->waiting != DIFF_WAITING_NONE || proven.more_points + proven.less_points < decisive_points;
	for (size_t i = 0; counts_totals && i < diff->function_count; i++)
		add_estimate(&proven, diff, &diff->functions[i], false);
	return proven;
}

/* The direction in which the functions decide: 1 for more, -1 for less, 0 for neither. */
static int decisive_direction(const struct proven *proven)
{
	double most = fmax(proven->more_points, proven->less_points),
	       other = fmin(proven->more_points, proven->less_points);

	if (most < decisive_points || other > opposed_share * most)
		return 0;
	return proven->more_points > proven->less_points ? 1 : -1;
}

/* Whether the total points in the other direction: functions do not decide then. */
static bool whole_disagrees(const struct diff *diff, int way)
{
	return way > 0 ? diff->total.ci_high < 0 : way < 0 && diff->total.ci_low > 0;
}

/* ---- The sentences ---- */

/*
 * Appends what the most changed function takes more or less of, where that is known: "; parse_row itself takes 31.0 %
 * more cycles per run: cache misses".
 */
static bool explain_cause(struct diff_build *build, const struct proven *proven, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	const struct diff_function *f = proven->greatest;
	struct diff *diff = build->diff;
	const char *cause = f && proven->estimate == &f->self ? diff_cause(diff, f) : "";
	char words[WORDS_CHANGE];

	if (!cause[0] || !(f->self.base > 0) || (f->self.delta > 0) != (diff->total.delta > 0))
		return true;
	words_change(diff, &f->self, words);
	words_name(diff, f, &name);
	return buffer_ok(&name, err) && build_text(diff, err, &diff->verdict_text, "%s; %s itself %s %s: %s",
						diff_string(diff, diff->verdict_text), name.data ? name.data : "",
						words_verb(diff), words, cause);
}

static bool say_total(struct diff_build *build, const struct proven *proven, struct error *err)
{
	struct diff *diff = build->diff;
	char words[WORDS_CHANGE];

	words_change(diff, &diff->total, words);
	return build_text(diff, err, &diff->verdict_text, "head %s %s", words_verb(diff), words) &&
	       waiting_explain(build, err) && (diff->is_exact || explain_cause(build, proven, err));
}

static const char *and_the_total(const struct diff *diff)
{
	if (diff->is_exact)
		return exact_and_the_total(diff);
	/* Shares always add up to the same total. */
	if (diff->scale.mode == DIFF_SCALE_SHARE)
		return "";
	return direction(diff->total.state) ? "; the total hardly changed" : "; the total may be unchanged";
}

static bool say_function(struct diff_build *build, const struct proven *proven, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	struct diff *diff = build->diff;
	size_t counted = proven->more + proven->less, others = counted > 0 ? counted - 1 : 0;
	const struct diff_estimate *e = proven->estimate;
	const char *whose = e == &proven->greatest->self ? " itself" : ", with all it calls,";
	char words[WORDS_CHANGE], rest[80] = "";
	double head_percent = e->head / diff->total.head * 100;
	const char *cause = e == &proven->greatest->self ? diff_cause(diff, proven->greatest) : "";

	if (diff->is_exact)
		return exact_say_function(build, proven->greatest, e, others, err);
	if (waiting_is_reason(build, proven->greatest, e))
		return waiting_say(build, proven->greatest, e, and_the_total(diff), err);
	words_change(diff, e, words);
	if (others > 0)
		snprintf(rest, sizeof(rest), "; %zu other function%s changed too", others, others == 1 ? "" : "s");
	words_name(diff, proven->greatest, &name);
	if (!buffer_ok(&name, err))
		return false;
	if (!(e->base > 0))
		return build_text(diff, err, &diff->verdict_text, "%s is new and%s takes %.1f %% of all %s%s%s",
			name.data ? name.data : "", whose, head_percent, words_metric(diff), rest, and_the_total(diff));
	return build_text(diff, err, &diff->verdict_text,
		"%s%s %s %s: %s%s%.1f %% of all %s, after %.1f %% in base%s%s", name.data ? name.data : "", whose,
		words_verb(diff), words, cause, cause[0] ? "; " : "", head_percent, words_metric(diff),
		e->base / diff->total.base * 100, rest, and_the_total(diff));
}

/* Appends "3 functions take more CPU time (4.1 % of the total) and 2 take less (3.9 %)". */
static bool say_counts(struct diff_build *build, const struct proven *proven, const char *rest, struct error *err)
{
	const char *less = metric_less(build), *metric = words_metric(build->diff);

	if (proven->less == 0)
		return build_text(build->diff, err, &build->diff->verdict_text,
			"%zu function%s more %s (%.1f %% of the total)%s", proven->more,
			proven->more == 1 ? " takes" : "s take", metric, proven->more_points, rest);
	if (proven->more == 0)
		return build_text(build->diff, err, &build->diff->verdict_text,
			"%zu function%s %s %s (%.1f %% of the total)%s", proven->less,
			proven->less == 1 ? " takes" : "s take", less, metric, proven->less_points, rest);
	return build_text(build->diff, err, &build->diff->verdict_text,
		"%zu function%s more %s (%.1f %% of the total) and %zu %s %s (%.1f %%)%s", proven->more,
		proven->more == 1 ? " takes" : "s take", metric, proven->more_points, proven->less,
		proven->less == 1 ? "takes" : "take", less, proven->less_points, rest);
}

static bool say_disagreement(struct diff_build *build, const struct proven *proven, struct error *err)
{
	char words[WORDS_CHANGE], rest[WORDS_CHANGE + 80];

	words_change(build->diff, &build->diff->total, words);
	snprintf(rest, sizeof(rest), ", but head as a whole %s %s: record more runs", words_verb(build->diff), words);
	return say_counts(build, proven, rest, err);
}

/* ---- Verdicts without a proven difference ---- */

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

/* Whether counting noise alone leaves a larger change of the total possible than would count as unchanged. */
static bool too_few_samples(const struct diff_build *build, double tolerated)
{
	static const double normal_quantile = 1.96;
	double variance = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		variance += build->sample_weight[side] / build->diff->raw_total[side];
	return normal_quantile * sqrt(variance) > tolerated;
}

/* How many places in the call tree have a state. A node right below one of the same state is part of its place. */
static size_t places_with(const struct diff *diff, enum diff_state state)
{
	size_t count = 0;

	for (size_t i = 1; i < diff->node_count; i++)
		count += diff->nodes[i].state == state && diff->nodes[diff->nodes[i].parent].state != state;
	return count;
}

/*
 * Says that nothing is proven of a function as a whole, and what is proven of single places all the same: the noise of
 * a function in one place can hide its change in another.
 */
static void words_unproven(const struct diff *diff, char text[static WORDS_UNPROVEN])
{
	static const enum diff_state states[] = { DIFF_STATE_MORE, DIFF_STATE_LESS, DIFF_STATE_NEW, DIFF_STATE_GONE };
	size_t length = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		size_t count = places_with(diff, states[i]);

		if (count)
			length += (size_t)snprintf(text + length, WORDS_UNPROVEN - length, "%s%zu %s",
				length ? ", "
				       : "no function's change is proven, only that of places in the call tree (",
				count, diff_state_name(states[i]));
	}
	snprintf(text + length, WORDS_UNPROVEN - length, "%s", length ? ")" : "no change is proven");
}

static bool say_inconclusive(struct diff_build *build, double half, double tolerated, struct error *err)
{
	struct diff *diff = build->diff;
	char words[WORDS_CHANGE], unproven[WORDS_UNPROVEN];

	words_change(diff, &diff->total, words);
	words_unproven(diff, unproven);
	/* More samples of one recording do not reduce the variation between processes. */
	if (diff->evidence.mode != DIFF_EVIDENCE_RUNS)
		return build_text(diff, err, &diff->verdict_text, "%s; head %s %s%s", unproven, words_verb(diff), words,
			too_few_samples(build, tolerated / diff->total.base)
				? ", which so few samples cannot prove: record longer, and several runs on each side"
				: "; one recording on each side cannot tell this from the variation between processes: record several runs");
	/*
	 * An interval shrinks with the square root of the number of samples. Half the tolerance is aimed at, which
	 * leaves room for an estimate that is off by chance.
	 */
	diff->needs_times_samples = fmax(2, ceil(pow(half / (tolerated / 2), 2)));
	if (diff->needs_times_samples > most_times_asked)
		return build_text(diff, err, &diff->verdict_text,
			"%s; head %s %s; the runs vary too much to tell: make the machine quieter, or the runs longer",
			unproven, words_verb(diff), words);
	return build_text(diff, err, &diff->verdict_text,
		"%s; head %s %s; about %.0f times as many runs would decide it", unproven, words_verb(diff), words,
		diff->needs_times_samples);
}

/* Unchanged if only a small change can have been missed, else inconclusive. */
static bool decide_unproven(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	const struct diff_estimate *e = &diff->total;
	double tolerated = tolerated_percent(build) / 100 * e->base, half = (e->ci_high - e->ci_low) / 2;
	char words[WORDS_CHANGE], unproven[WORDS_UNPROVEN];

	if (diff->is_exact)
		return exact_decide_unproven(build, tolerated, err);
	words_change(diff, e, words);
	words_unproven(diff, unproven);
	if (isnan(half) && e->delta == 0) {
		diff->verdict = DIFF_UNCHANGED;
		return build_text(diff, err, &diff->verdict_text, "base and head are equal");
	}
	if (isnan(half) && diff->evidence.uncounted) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return build_text(diff, err, &diff->verdict_text,
			"head %s %s, but %s are not counts of samples, so fewer than 3 files on each side cannot tell this from noise: give 3 or more on each side, separated by commas",
			words_verb(diff), words, metric_kind(build) == PROFILE_METRIC_OTHER ? "weights" : "its values");
	}
	if (isnan(half)) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return build_text(diff, err, &diff->verdict_text,
			"head %s %s, but there is too little data to tell this from noise: record longer, or several runs on each side",
			words_verb(diff), words);
	}
	if (e->ci_high <= tolerated && e->ci_low >= -tolerated) {
		diff->verdict = DIFF_UNCHANGED;
		return build_text(diff, err, &diff->verdict_text, "%s; head %s %s", unproven, words_verb(diff), words);
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	return say_inconclusive(build, half, tolerated, err);
}

/* ---- Verdicts when the load is unknown ---- */

/* 1 or -1 if the total is proven to be more, or less, both at equal load and per second; else 0. */
static int agreed_direction(const struct diff *diff)
{
	double rate = diff->raw_total[DIFF_HEAD] * diff->scale.other_factor - diff->raw_total[DIFF_BASE];
	double least = equivalence_percent / 100 * diff->raw_total[DIFF_BASE];

	if (diff->scale.other_mode != DIFF_SCALE_RATE || !(diff->scale.other_factor > 0))
		return 0;
	if (direction(diff->total.state) > 0 && rate > least)
		return 1;
	return direction(diff->total.state) < 0 && rate < -least ? -1 : 0;
}

static bool decide_without_load(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	int way = agreed_direction(diff);
	char robust[WORDS_CHANGE], rate[WORDS_CHANGE], second[WORDS_CHANGE + 40] = "";

	diff->verdict = way > 0 ? DIFF_REGRESSED : way < 0 ? DIFF_IMPROVED : DIFF_INCONCLUSIVE;
	words_change(diff, &diff->total, robust);
	if (diff->scale.other_mode == DIFF_SCALE_RATE && diff->scale.other_factor > 0) {
		words_ratio(
			diff, diff->raw_total[DIFF_BASE], diff->raw_total[DIFF_HEAD] * diff->scale.other_factor, rate);
		snprintf(second, sizeof(second), ", and %s per second", rate);
	}
	return build_text(diff, err, &diff->verdict_text,
		"how much of the change is load is unknown, because %s; head %s %s%s; count the requests of each recording and give --scale work=BASE:HEAD",
		load_doubt_words(build->load.doubt), words_verb(diff), robust, second);
}

static bool load_is_unknown(const struct diff_build *build)
{
	return build->diff->scale.mode == DIFF_SCALE_ROBUST && build->diff->scale.load_is_unknown;
}

/* ---- The verdict ---- */

static bool total_is_minor(const struct diff *diff)
{
	return fabs(diff->total.delta) < minor_total_percent / 100 * diff->total.base;
}

static bool decide_total(struct diff_build *build, const struct proven *proven, struct error *err)
{
	struct diff *diff = build->diff;

	diff->verdict = total_is_minor(diff) ? DIFF_MINOR : diff->total.delta > 0 ? DIFF_REGRESSED : DIFF_IMPROVED;
	return say_total(build, proven, err) &&
	       (!diff->is_exact || exact_explain_total(build, proven->greatest, proven->estimate, err));
}

static bool decide_functions(struct diff_build *build, const struct proven *proven, struct error *err)
{
	struct diff *diff = build->diff;
	/* If the total is known to have hardly changed, functions only say how it is divided. */
	int way = direction(diff->total.state) ? 0 : decisive_direction(proven);

	if (whole_disagrees(diff, way)) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return say_disagreement(build, proven, err);
	}
	if (way != 0) {
		diff->verdict = way > 0 ? DIFF_REGRESSED : DIFF_IMPROVED;
		return say_function(build, proven, err);
	}
	diff->verdict = fmax(proven->more_points, proven->less_points) < decisive_points ? DIFF_MINOR : DIFF_MIXED;
	/* Of waits, those above a place where threads wait longer wait longer too, and only the place is worth naming.
	 */
	if (diff->verdict == DIFF_MINOR && (diff->is_exact || proven->more + proven->less <= 1 ||
						   waiting_is_reason(build, proven->greatest, proven->estimate)))
		return say_function(build, proven, err);
	return say_counts(build, proven, and_the_total(diff), err);
}

/*
 * Decides if only functions that are compiled at run time changed, in one recording on each side, or only their total
 * times.
 */
static bool decide_compiled(struct diff_build *build, const struct proven *proven, struct error *err)
{
	size_t count = proven->more + proven->less;

	build->diff->verdict = DIFF_INCONCLUSIVE;
	return build_text(build->diff, err, &build->diff->verdict_text,
		"%zu function%s that %s compiled at run time changed, which happens from process to process without a change of the program%s",
		count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
		build->diff->evidence.mode == DIFF_EVIDENCE_RUNS ? "" : "; record several runs on each side");
}

static bool decide_by_evidence(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	struct proven proven;
	char different[640];

	if (programs_differ(build, different, sizeof(different))) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return build_text(diff, err, &diff->verdict_text, "this is no comparison: %s", different);
	}
	if (!warmup_of_one_side(build, different, sizeof(different), err))
		return false;
	if (different[0] != '\0') {
		diff->verdict = DIFF_INCONCLUSIVE;
		return build_text(diff, err, &diff->verdict_text, "%s", different);
	}
	if (load_is_unknown(build))
		return decide_without_load(build, err);
	if (timed_by_design(build, different, sizeof(different))) {
		diff->verdict = DIFF_INCONCLUSIVE;
		return build_text(diff, err, &diff->verdict_text, "%s", different);
	}
	proven = find_proven(build);
	if (direction(diff->total.state) && (!proven.greatest || !total_is_minor(diff)))
		return decide_total(build, &proven, err);
	return proven.greatest                 ? decide_functions(build, &proven, err)
	       : proven.more + proven.less > 0 ? decide_compiled(build, &proven, err)
					       : decide_unproven(build, err);
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
	bool undecided = result->outcome == GATE_UNDECIDED;
	char percent[WORDS_PERCENT];
	const char *noise = !undecided       ? ""
			    : diff->is_exact ? ", but runs of one side differ as much"
					     : ", but noise can explain it",
		   *whole = result->is_total ? " with all it calls" : "";

	words_percent(diff, result->percent, percent);
	if (result->function == PROFILE_NONE)
		return build_text(diff, err, &diff->verdict_text, "total %s %s by %s, above the limit of %g %%%s",
			words_metric(diff), undecided ? "seems to have grown" : "grew", percent, result->gate->percent,
			noise);
	words_name(diff, &diff->functions[result->function], &name);
	if (!buffer_ok(&name, err))
		return false;
	if (!isfinite(result->percent))
		return build_text(diff, err, &diff->verdict_text,
			"%s%s is new, which exceeds every limit (here %g %%)%s", name.data ? name.data : "", whole,
			result->gate->percent, noise);
	return build_text(diff, err, &diff->verdict_text, "%s %s %s more %s%s, above the limit of %g %%%s",
		name.data ? name.data : "", diff->is_exact ? words_verb(diff) : "takes", percent, words_metric(diff),
		whole, result->gate->percent, noise);
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
		return build_text(
			diff, err, &diff->verdict_text, "the --fail-on limits were not checked: %s", blocking);
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
	return decide_by_evidence(build, err) && decide_gates(build, err);
}
