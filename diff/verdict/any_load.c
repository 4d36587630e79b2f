/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/any_load.h"

#include "diff/metric.h"
#include "diff/statistics/load.h"
#include "diff/verdict/sentences.h"
#include "diff/verdict/unproven.h"
#include "diff/words.h"

#include <math.h>

void any_load_condition(const struct diff *diff, char out[static ANY_LOAD_WORDS])
{
	const struct diff_estimate *total = &diff->total;
	bool is_more = total->delta > 0;
	double times = is_more ? total->head / total->base : total->base / total->head;

	if (!diff_load_is_open(diff) || !isfinite(times))
		out[0] = '\0';
	else
		snprintf(out, ANY_LOAD_WORDS, ", unless the load %s %.*f-fold", is_more ? "rose" : "fell", times < 10,
			times);
}

void any_load_about_total(const struct diff_build *build, char out[static ANY_LOAD_REST])
{
	const struct diff *diff = build->diff;
	char words[WORDS_CHANGE];

	out[0] = '\0';
	if (diff->scale.length_is_unknown)
		return;
	words_change(diff, &diff->total, words);
	if (diff_load_is_open(diff))
		snprintf(out, ANY_LOAD_REST, "; no load explains this, though it may explain the total's change: %s",
			words);
	else
		snprintf(out, ANY_LOAD_REST,
			"; how much of the total's change is load is unknown, because too few functions tell it; count the requests of each recording and give --scale work=BASE:HEAD");
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

/* Says what is known without the load, and how to find out: the interval has what the load may be, and more samples
 * tell no less of it. */
static void say_if_equal(struct diff_build *build, const struct proven *proven)
{
	struct diff *diff = build->diff;
	bool is_none = proven->more.changes + proven->less.changes == 0;
	char words[WORDS_CHANGE], small[ANY_LOAD_WORDS];

	unproven_decide(build);
	if (!is_none || diff->verdict != DIFF_UNCHANGED) {
		words_change(diff, &diff->total, words);
		build_text(diff, &diff->verdict_text, "%s%s%shead %s %s, which the load may explain",
			is_none ? "no change of " : "", is_none ? words_metric(diff) : "",
			is_none ? " is proven; " : "", words_verb(diff), words);
	} else {
		build_text(diff, &diff->verdict_text, "%s, if the load was the same",
			diff_string(diff, diff->verdict_text));
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	diff->needs_times_samples = 0;
	small_words(diff, proven, small);
	build_text(diff, &diff->verdict_text,
		"%s; the load was not counted%s: record with the rights to count requests, or give --scale %s if it was the same, or --scale work=BASE:HEAD",
		diff_string(diff, diff->verdict_text), small, diff_scale_mode_name(diff->scale.mode));
}

/* Nothing is known of the total, and nothing is proven of shares. */
static void say_of_shares(struct diff_build *build, const struct proven *proven)
{
	struct diff *diff = build->diff;
	char small[ANY_LOAD_WORDS], advice[UNPROVEN_ADVICE];

	diff->verdict = DIFF_INCONCLUSIVE;
	small_words(diff, proven, small);
	if (isnan(diff->total.ci_low) && diff->evidence.uncounted) {
		build_text(diff, &diff->verdict_text,
			"%s are not counts of samples, so one file on each side cannot tell a change of shares from noise: give 2 or more on each side, separated by commas",
			metric_kind(build) == PROFILE_METRIC_OTHER ? "weights" : "the values");
		return;
	}
	unproven_advice(build, advice);
	build_text(diff, &diff->verdict_text, "no function's share is proven to have changed%s%s", small, advice);
}

void any_load_say_unproven(struct diff_build *build, const struct proven *proven)
{
	if (build->diff->scale.length_is_unknown)
		say_of_shares(build, proven);
	else
		say_if_equal(build, proven);
}
