/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/verdict.h"

#include "diff/constants.h"
#include "diff/statistics/scale.h"
#include "diff/verdict/any_load.h"
#include "diff/verdict/changes.h"
#include "diff/verdict/control.h"
#include "diff/verdict/exact.h"
#include "diff/verdict/gate.h"
#include "diff/verdict/latency.h"
#include "diff/verdict/machine.h"
#include "diff/verdict/placed.h"
#include "diff/verdict/programs.h"
#include "diff/verdict/sentences.h"
#include "diff/verdict/timed.h"
#include "diff/verdict/unproven.h"
#include "diff/verdict/waiting.h"
#include "diff/words.h"

#include <math.h>

/*
 * The verdict is decided as a reader would: first whether both sides can be compared at all; then by the total and its
 * interval; then by the functions that are proven to differ, by size and direction. Small changes never decide; they
 * have sentences of their own.
 */

/* ---- The verdict ---- */

static bool total_is_minor(const struct diff *diff)
{
	return fabs(diff->total.delta) < verdict_minor_total_percent / 100 * diff->total.base;
}

static bool verdict_decide_total(struct diff_build *build, const struct proven *proven, struct error *err)
{
	struct diff *diff = build->diff;
	enum proven_way way = proven_way_of(diff->total.state);
	const struct proven_side *side = proven_side(proven, way);
	char condition[ANY_LOAD_WORDS];
	struct cause cause;

	diff->verdict = total_is_minor(diff) ? DIFF_MINOR : way == PROVEN_MORE ? DIFF_REGRESSED : DIFF_IMPROVED;
	cause_find(build, way, &cause);
	any_load_condition(diff, condition);
	return sentence_of_total(build, &cause, condition, err) &&
	       (!(diff->is_exact) || exact_explain_total(build, side->greatest, side->estimate, err));
}

static void verdict_about_total(const struct diff_build *build, char rest[static ANY_LOAD_REST])
{
	if (build->diff->scale.load_is_unknown)
		any_load_about_total(build, rest);
	else
		sentence_about_total(build->diff, rest);
}

/* Decides where functions are proven to differ, but not by much in one direction. */
static bool decide_small(struct diff_build *build, const struct proven *proven, struct error *err)
{
	const struct proven_side *greater = proven_greater(proven);
	enum proven_way way = greater == &proven->less ? PROVEN_LESS : PROVEN_MORE;
	bool is_waiting = waiting_is_reason(build, greater->greatest, greater->estimate);
	struct diff *diff = build->diff;
	char rest[ANY_LOAD_REST];
	struct cause cause;

	verdict_about_total(build, rest);
	diff->verdict =
		fmax(proven->more.points, proven->less.points) < proven_decisive_points ? DIFF_MINOR : DIFF_MIXED;
	/* Of waits, those above a site where threads wait longer wait longer too, and only the site is worth naming.
	 */
	if (diff->verdict == DIFF_MINOR &&
		(diff->is_exact || proven->more.changes + proven->less.changes <= 1 || is_waiting)) {
		cause_find(build, way, &cause);
		return sentence_of_functions(build, &cause, proven, rest, err);
	}
	return sentence_of_counts(build, proven, rest, err);
}

static bool verdict_decide_functions(
	struct diff_build *build, const struct proven *proven, enum proven_way way, struct error *err)
{
	struct diff *diff = build->diff;
	char rest[ANY_LOAD_REST];
	struct cause cause;

	verdict_about_total(build, rest);
	diff->verdict = way == PROVEN_MORE ? DIFF_REGRESSED : DIFF_IMPROVED;
	cause_find(build, way, &cause);
	return sentence_of_functions(build, &cause, proven, rest, err);
}

static bool decide_machine(struct diff_build *build, struct error *err)
{
	build->diff->verdict = DIFF_MACHINE;
	return machine_say(build, unproven_tolerance(build), err);
}

static bool decide_proven(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	struct proven proven = proven_find(build);
	enum proven_way way = proven_decide(&proven), of_total = proven_way_of(diff->total.state);

	if (machine_is_reason(build, &proven))
		return decide_machine(build, err);
	if (placed_is_reason(build, &proven)) {
		placed_decide(build);
		return true;
	}
	/* Where the total is opposed to the functions that decide, neither does. */
	if (of_total && (way == PROVEN_NEITHER || way == of_total) &&
		(!proven_greater(&proven)->greatest || !total_is_minor(diff)))
		return verdict_decide_total(build, &proven, err);
	if (way != PROVEN_NEITHER && !of_total)
		return verdict_decide_functions(build, &proven, way, err);
	if (latency_way(diff) != PROVEN_NEITHER && way == PROVEN_NEITHER)
		return latency_decide(build, err);
	if (diff_load_is_open(diff) && fmax(proven.more.points, proven.less.points) < proven_decisive_points)
		any_load_say_unproven(build, &proven);
	else if (proven_greater(&proven)->greatest)
		return decide_small(build, &proven, err);
	else
		unproven_decide(build);
	return true;
}

static bool decide_by_evidence(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	char different[640];

	/* What a request costs can be compared however differently it is answered. */
	if (diff->scale.mode != DIFF_SCALE_PER_REQUEST && programs_differ(build, different, sizeof(different))) {
		diff->verdict = DIFF_INCONCLUSIVE;
		build_text(diff, &diff->verdict_text, "this is no comparison: %s", different);
		return true;
	}
	if (timed_by_design(build, different, sizeof(different))) {
		diff->verdict = DIFF_INCONCLUSIVE;
		build_text(diff, &diff->verdict_text, "%s", different);
		return true;
	}
	return decide_proven(build, err);
}

/* Says first that no file tells its length, since all that follows compares shares. */
static void say_length_first(struct diff_build *build)
{
	struct diff *diff = build->diff;
	double times = diff->raw_total[DIFF_HEAD] / diff->raw_total[DIFF_BASE];

	if (diff->scale.length_is_unknown)
		build_text(diff, &diff->verdict_text,
			"only shares can be compared, because %s (head's total is %.*f times base's): %s",
			scale_length_words(build), times < 10 ? 2 : 0, times, diff_string(diff, diff->verdict_text));
}

/* ---- Gates ---- */

static const char *verdict_first_blocking(const struct diff *diff)
{
	for (size_t i = 0; i < diff->warning_count; i++) {
		if (diff->warnings[i].blocks_gate)
			return diff_string(diff, diff->warnings[i].text);
	}
	return NULL;
}

/*
 * Returns what keeps the limits from being checked; NULL: they are. By share all totals are equal, so that no limit
 * would ever be exceeded where their lengths are unknown: that is no warning to ignore. `length` is room for the words.
 */
static const char *gates_blocking(const struct diff_build *build, char length[static SCALE_LENGTH_WORDS])
{
	if (!build->options.gates_ignore_warnings)
		return verdict_first_blocking(build->diff);
	if (!build->diff->scale.length_is_unknown)
		return NULL;
	scale_length_warning(build, length);
	return length;
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
	if (result->function == PROFILE_NONE) {
		build_text(diff, &diff->verdict_text, "total %s %s by %s, above the limit of %g %%%s",
			words_metric(diff), undecided ? "seems to have grown" : "grew", percent, result->gate->percent,
			noise);
		return true;
	}
	words_name(diff, &diff->functions[result->function], &name);
	if (!buffer_ok(&name, err))
		return false;
	if (!isfinite(result->percent)) {
		build_text(diff, &diff->verdict_text, "%s%s is new, which exceeds every limit (here %g %%)%s",
			name.data ? name.data : "", whole, result->gate->percent, noise);
		return true;
	}
	build_text(diff, &diff->verdict_text, "%s %s %s more %s%s, above the limit of %g %%%s",
		name.data ? name.data : "", diff->is_exact ? words_verb(diff) : "takes", percent, words_metric(diff),
		whole, result->gate->percent, noise);
	return true;
}

static bool verdict_decide_gates(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	struct gate_result result = gate_evaluate(build);
	char length[SCALE_LENGTH_WORDS];
	const char *blocking = gates_blocking(build, length);

	if (build->options.gate_count == 0)
		return true;
	if (blocking) {
		diff->verdict = DIFF_INCONCLUSIVE;
		diff->needs_times_samples = 0;
		build_text(diff, &diff->verdict_text, "the --fail-on limits were not checked: %s", blocking);
		return true;
	}
	/* The code is the same: nothing that anybody changed made it slower. */
	if (result.outcome == GATE_PASSED || (result.outcome == GATE_UNDECIDED && diff->verdict == DIFF_PLACEMENT))
		return true;
	diff->gate_failed = result.outcome == GATE_FAILED;
	diff->verdict = diff->gate_failed ? DIFF_REGRESSED : DIFF_INCONCLUSIVE;
	return say_gate(build, &result, err);
}

/* Limits are not checked either: what exceeds them may be what the control has. */
static bool decide_by_control(struct diff_build *build, struct error *err)
{
	enum { MAX_TEXT = 1024 };
	struct diff *diff = build->diff;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT);

	control_append(&diff->control, &text);
	diff->verdict = DIFF_INCONCLUSIVE;
	diff->needs_times_samples = 0;
	if (!buffer_ok(&text, err))
		return false;
	build_text(diff, &diff->verdict_text, "%s", text.data);
	return true;
}

/* Names the cause of the final verdict: limits of the user may have turned it. */
static void name_cause(struct diff_build *build)
{
	struct diff *diff = build->diff;
	enum proven_way way = diff->verdict == DIFF_REGRESSED  ? PROVEN_MORE
			      : diff->verdict == DIFF_IMPROVED ? PROVEN_LESS
							       : PROVEN_NEITHER;
	struct cause cause;

	cause_find(build, way, &cause);
	diff->cause = cause.named;
}

bool verdict_decide(struct diff_build *build, struct error *err)
{
	build->diff->verdict = DIFF_UNCHANGED;
	build->diff->cause = cause_none();
	if (!build_two_sided(build))
		return true;
	if (build->options.control)
		build->diff->control = *build->options.control;
	changes_collect(build);
	if (!decide_by_evidence(build, err))
		return false;
	say_length_first(build);
	if (control_differs(&build->diff->control) ? !decide_by_control(build, err) : !verdict_decide_gates(build, err))
		return false;
	name_cause(build);
	changes_put_named_first(build->diff);
	return true;
}
