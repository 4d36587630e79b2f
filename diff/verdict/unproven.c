/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/unproven.h"

#include "diff/metric.h"
#include "diff/probability/probability.h"
#include "diff/verdict/exact.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

/* The least change that matters where the user does not say it. */
static const double default_percent = 5;

/* The verdict does not advise to record more than this many times the runs. */
static const double most_times_asked = 20;

/* Room for what places_words() writes, in bytes: each of its four counts has at most 20 digits. */
enum { UNPROVEN_PLACES = 200, UNPROVEN_BOUND = 80 };

double unproven_tolerance(const struct diff_build *build)
{
	double percent = INFINITY;

	for (size_t i = 0; i < build->options.gate_count; i++) {
		const struct diff_gate *gate = &build->options.gates[i];

		if (gate->subject == DIFF_GATE_TOTAL && gate->percent > 0)
			percent = fmin(percent, gate->percent);
	}
	return (isinf(percent) ? default_percent : percent) / 100 * build->diff->total.base;
}

/* ---- Parts of sentences ---- */

/*
 * Returns how many places in the call tree have a state. A node right below one of the same state is part of its place.
 */
static size_t places_with(const struct diff *diff, enum diff_state state)
{
	size_t count = 0;

	for (size_t i = 1; i < diff->node_count; i++)
		count += diff->nodes[i].state == state && diff->nodes[diff->nodes[i].parent].state != state;
	return count;
}

/*
 * Returns whether a function is proven to have changed, which is an interpreter's with all it runs: no other leads
 * here.
 */
static bool has_functions(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (diff_state_is_difference(diff->functions[i].self.state) ||
			diff_state_is_difference(diff->functions[i].total.state))
			return true;
	return false;
}

static bool has_places(const struct diff *diff)
{
	return places_with(diff, DIFF_STATE_MORE) + places_with(diff, DIFF_STATE_LESS) +
		       places_with(diff, DIFF_STATE_NEW) + places_with(diff, DIFF_STATE_GONE) >
	       0;
}

/*
 * Says that nothing is proven of a function as a whole, and what is proven of single places all the same: the noise of
 * a function in one place can hide its change in another.
 */
static void places_words(const struct diff *diff, char text[static UNPROVEN_PLACES])
{
	static const enum diff_state states[] = { DIFF_STATE_MORE, DIFF_STATE_LESS, DIFF_STATE_NEW, DIFF_STATE_GONE };
	size_t length = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		size_t count = places_with(diff, states[i]);

		if (count)
			length += (size_t)snprintf(text + length, UNPROVEN_PLACES - length, "%s%zu %s",
				length ? ", "
				       : "no function's change is proven, only that of places in the call tree (",
				count, diff_state_name(states[i]));
	}
	if (length > 0)
		snprintf(text + length, UNPROVEN_PLACES - length, ")");
	else if (has_functions(diff))
		snprintf(text, UNPROVEN_PLACES, "nothing is proven but the time of an interpreter");
	else
		snprintf(text, UNPROVEN_PLACES, "no change of %s is proven", words_metric(diff));
}

/* Returns the largest change that the interval leaves open, in parts of base. */
static double largest_open(const struct diff_estimate *total)
{
	return fmax(fabs(total->ci_low), fabs(total->ci_high)) / total->base;
}

/*
 * Writes "; a change of more than 12 % is excluded", or "; an increase to more than 2.3 times is excluded"; "" if
 * hardly anything is.
 */
static void bound_words(const struct diff_estimate *total, char out[static UNPROVEN_BOUND])
{
	static const double limit = 10;
	double open = largest_open(total);

	out[0] = '\0';
	if (open < 1)
		snprintf(out, UNPROVEN_BOUND, "; a change of more than %.*f %% is excluded", open < 0.1, open * 100);
	else if (open < limit)
		snprintf(out, UNPROVEN_BOUND, "; an increase to more than %.1f times is excluded", 1 + open);
}

/* ---- The verdicts ---- */

/* Returns whether counting noise alone leaves a larger change of the total possible than would count as unchanged. */
static bool too_few_samples(const struct diff_build *build, double tolerated)
{
	double variance = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		variance += build->sample_weight[side] / build->diff->raw_total[side];
	return tail_normal_95 * sqrt(variance) > tolerated;
}

const char *unproven_advice(const struct diff_build *build)
{
	/* More samples of one recording do not reduce the variation between processes. */
	if (build->diff->evidence.mode == DIFF_EVIDENCE_RUNS)
		return "";
	return too_few_samples(build, unproven_tolerance(build) / build->diff->total.base)
		       ? "; so few samples prove no less: record longer, and several runs on each side"
		       : "; smaller changes look like the variation between processes: record several runs on each side";
}

static void say_inconclusive(struct diff_build *build, double tolerated)
{
	struct diff *diff = build->diff;
	double half = (diff->total.ci_high - diff->total.ci_low) / 2;
	char words[WORDS_CHANGE], places[UNPROVEN_PLACES], bound[UNPROVEN_BOUND];

	words_change(diff, &diff->total, words);
	places_words(diff, places);
	bound_words(&diff->total, bound);
	if (diff->evidence.mode != DIFF_EVIDENCE_RUNS) {
		build_text(diff, &diff->verdict_text, "%s%s; head %s %s%s", places, bound, words_verb(diff), words,
			unproven_advice(build));
		return;
	}
	/* More runs in the same place tell no more of places. */
	if (diff->layouts.widens) {
		build_text(diff, &diff->verdict_text,
			"%s%s; head %s %s; where the linker put the code may explain it: kelvin bench --layouts 8 would tell",
			places, bound, words_verb(diff), words);
		return;
	}
	/*
	 * An interval shrinks with the square root of the number of samples. Half the tolerance is aimed at, which
	 * leaves room for an estimate that is off by chance.
	 */
	diff->needs_times_samples = fmax(2, ceil(pow(half / (tolerated / 2), 2)));
	if (diff->needs_times_samples > most_times_asked) {
		build_text(diff, &diff->verdict_text,
			"%s%s; head %s %s; the runs vary too much to tell: make the machine quieter, or the runs longer",
			places, bound, words_verb(diff), words);
		return;
	}
	build_text(diff, &diff->verdict_text, "%s%s; head %s %s; about %.0f times as many runs would decide it", places,
		bound, words_verb(diff), words, diff->needs_times_samples);
}

/* Says that the sides are equal within what the interval leaves open. */
static void say_unchanged(struct diff_build *build)
{
	struct diff *diff = build->diff;
	double open = largest_open(&diff->total) * 100;
	char words[WORDS_CHANGE], places[UNPROVEN_PLACES];

	words_change(diff, &diff->total, words);
	places_words(diff, places);
	build_text(diff, &diff->verdict_text, "equal within %.*f %%: head %s %s%s%s", open < 10, open, words_verb(diff),
		words, has_places(diff) ? "; " : "", has_places(diff) ? places : "");
}

/* Decides where no interval is known. */
static void decide_without_interval(struct diff_build *build)
{
	struct diff *diff = build->diff;
	char words[WORDS_CHANGE];

	if (diff->total.delta == 0) {
		diff->verdict = DIFF_UNCHANGED;
		build_text(diff, &diff->verdict_text, "base and head are equal");
		return;
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	words_change(diff, &diff->total, words);
	if (diff->evidence.uncounted) {
		build_text(diff, &diff->verdict_text,
			"head %s %s, but %s are not counts of samples, so one file on each side cannot tell this from noise: give 2 or more on each side, separated by commas",
			words_verb(diff), words, metric_kind(build) == PROFILE_METRIC_OTHER ? "weights" : "its values");
		return;
	}
	build_text(diff, &diff->verdict_text,
		"head %s %s, but there is too little data to tell this from noise: record longer, or several runs on each side",
		words_verb(diff), words);
}

void unproven_decide(struct diff_build *build)
{
	struct diff *diff = build->diff;
	const struct diff_estimate *e = &diff->total;
	double tolerated = unproven_tolerance(build);

	if (diff->is_exact) {
		exact_decide_unproven(build, tolerated);
		return;
	}
	if (isnan(e->ci_low) || isnan(e->ci_high)) {
		decide_without_interval(build);
		return;
	}
	if (e->ci_high <= tolerated && e->ci_low >= -tolerated) {
		diff->verdict = DIFF_UNCHANGED;
		say_unchanged(build);
		return;
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	say_inconclusive(build, tolerated);
}
