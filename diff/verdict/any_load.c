/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/any_load.h"

#include "diff/metric.h"
#include "diff/statistics/open_load.h"
#include "diff/verdict/sentences.h"
#include "diff/verdict/unproven.h"
#include "diff/words.h"

#include <math.h>

enum { ANY_LOAD_WORDS = 120, ANY_LOAD_REST = SENTENCE_TOTAL + 80 };

/* Returns the direction in which the total changed by more than any load in the range explains. */
static enum proven_way way_of_total(const struct diff_estimate *total)
{
	double low = 1 + total->ci_low / total->base, high = 1 + total->ci_high / total->base;

	if (low > OPEN_LOAD_RANGE)
		return PROVEN_MORE;
	return high < 1.0 / OPEN_LOAD_RANGE ? PROVEN_LESS : PROVEN_NEITHER;
}

/* Writes ", unless the load rose 26-fold". */
static void condition_words(const struct diff_estimate *total, enum proven_way way, char out[static ANY_LOAD_WORDS])
{
	double times = way == PROVEN_MORE ? total->head / total->base : total->base / total->head;

	if (!(total->head > 0))
		out[0] = '\0';
	else
		snprintf(out, ANY_LOAD_WORDS, ", unless the load %s %.*f-fold", way == PROVEN_MORE ? "rose" : "fell",
			times < 10, times);
}

static bool any_load_decide_total(struct diff_build *build, enum proven_way way, struct error *err)
{
	struct diff *diff = build->diff;
	char condition[ANY_LOAD_WORDS];
	struct cause cause;

	diff->verdict = way == PROVEN_MORE ? DIFF_REGRESSED : DIFF_IMPROVED;
	condition_words(&diff->total, way, condition);
	cause_find(build, way, &cause);
	return sentence_of_total(build, &cause, condition, err);
}

/* Writes the words about the total that follow a proven function; none where totals cannot be compared. */
static void words_of_open_total(const struct diff *diff, char out[static ANY_LOAD_REST])
{
	char words[WORDS_CHANGE];

	out[0] = '\0';
	if (diff->scale.length_is_unknown)
		return;
	words_change(diff, &diff->total, words);
	snprintf(out, ANY_LOAD_REST, "; no load explains this, though it may explain the total's change: %s", words);
}

static bool any_load_decide_functions(
	struct diff_build *build, const struct proven *proven, enum proven_way way, struct error *err)
{
	struct diff *diff = build->diff;
	char rest[ANY_LOAD_REST];
	struct cause cause;

	words_of_open_total(diff, rest);
	if (way == PROVEN_NEITHER) {
		diff->verdict = DIFF_MIXED;
		return sentence_of_counts(build, proven, rest, err);
	}
	diff->verdict = way == PROVEN_MORE ? DIFF_REGRESSED : DIFF_IMPROVED;
	cause_find(build, way, &cause);
	return sentence_of_functions(build, &cause, proven, rest, err);
}

/* ---- Where no load is excluded ---- */

/* Writes what is proven of single functions, if anything: too little to decide. */
static void small_words(const struct diff *diff, const struct proven *proven, char out[static ANY_LOAD_WORDS])
{
	size_t functions = proven->more.changes + proven->less.changes;

	out[0] = '\0';
	if (functions > 0)
		snprintf(out, ANY_LOAD_WORDS, "; %zu function%s changed more than the %s, by %.1f points", functions,
			functions == 1 ? "" : "s", diff->scale.length_is_unknown ? "lengths explain" : "load explains",
			fmax(proven->more.points, proven->less.points));
}

static bool holds_zero(const struct diff_estimate *e)
{
	return e->ci_low <= 0 && e->ci_high >= 0;
}

/* Says what would hold if the load was the same, and how to find out. */
static void say_if_equal(struct diff_build *build, const struct proven *proven)
{
	struct diff *diff = build->diff;
	char words[WORDS_CHANGE], small[ANY_LOAD_WORDS];

	if (proven->more.changes + proven->less.changes == 0 && holds_zero(&diff->total)) {
		unproven_decide(build);
	} else {
		words_change(diff, &diff->total, words);
		build_text(diff, &diff->verdict_text, "head %s %s", words_verb(diff), words);
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	diff->needs_times_samples = 0;
	small_words(diff, proven, small);
	build_text(diff, &diff->verdict_text,
		"%s, if the load was the same; the load was not counted%s: record with the rights to count requests, or give --scale %s, or --scale work=BASE:HEAD",
		diff_string(diff, diff->verdict_text), small, diff_scale_mode_name(diff->scale.mode));
}

/* Nothing is known of the total, and nothing is proven of shares. */
static void say_of_shares(struct diff_build *build, const struct proven *proven)
{
	struct diff *diff = build->diff;
	char small[ANY_LOAD_WORDS];

	diff->verdict = DIFF_INCONCLUSIVE;
	small_words(diff, proven, small);
	if (isnan(diff->total.ci_low) && diff->evidence.uncounted) {
		build_text(diff, &diff->verdict_text,
			"%s are not counts of samples, so fewer than 3 files on each side cannot tell a change of shares from noise: give 3 or more on each side, separated by commas",
			metric_kind(build) == PROFILE_METRIC_OTHER ? "weights" : "the values");
		return;
	}
	build_text(diff, &diff->verdict_text, "no function's share is proven to have changed%s%s", small,
		unproven_advice(build));
}

bool any_load_decide(struct diff_build *build, const struct proven *proven, struct error *err)
{
	bool has_length = !build->diff->scale.length_is_unknown;
	enum proven_way way = has_length ? way_of_total(&build->diff->total) : PROVEN_NEITHER;

	if (way != PROVEN_NEITHER)
		return any_load_decide_total(build, way, err);
	if (!has_length && fmax(proven->more.points, proven->less.points) < proven_decisive_points) {
		say_of_shares(build, proven);
		return true;
	}
	if (fmax(proven->more.points, proven->less.points) < proven_decisive_points) {
		say_if_equal(build, proven);
		return true;
	}
	cause_decide(build, proven, &way);
	return any_load_decide_functions(build, proven, way, err);
}
