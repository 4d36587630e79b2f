/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/unproven.h"

#include "diff/constants.h"
#include "diff/metric.h"
#include "diff/probability/probability.h"
#include "diff/statistics/basis.h"
#include "diff/verdict/exact.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

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
	return (isinf(percent) ? unproven_default_percent : percent) / 100 * build->diff->total.base;
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

void unproven_advice(const struct diff_build *build, char out[static UNPROVEN_ADVICE])
{
	const struct diff_evidence *evidence = &build->diff->evidence;
	double load = exp(basis_of(build->diff)->load_change.change);

	switch (diff_widest(evidence)) {
	case DIFF_VARIANCE_COUNTING:
		snprintf(out, UNPROVEN_ADVICE, "; so few samples tell no more: record longer");
		return;
	case DIFF_VARIANCE_STARTS:
		snprintf(out, UNPROVEN_ADVICE,
			"; starts of an unchanged program differ as much: record several runs on each side");
		return;
	case DIFF_VARIANCE_LOAD:
		snprintf(out, UNPROVEN_ADVICE,
			"; at %.*f times the load, a request of an unchanged program may cost as much more or less: compare recordings at equal load",
			load < 10, load);
		return;
	case DIFF_VARIANCE_SESSION:
		snprintf(out, UNPROVEN_ADVICE,
			"; the machine may differ as much between the runs of base and those of head: make them in turn");
		return;
	}
}

/* Returns how many times as many runs would tell the total to within half of what matters; INFINITY: no number would.
 */
static double needed_times(const struct diff_build *build, double tolerated)
{
	const double *variance = build->diff->evidence.variance;
	double half = log1p(tolerated / 2 / build->diff->total.base) / tail_normal_95;
	double left = half * half - variance[DIFF_VARIANCE_LOAD] - variance[DIFF_VARIANCE_SESSION];
	double now = variance[DIFF_VARIANCE_COUNTING] + variance[DIFF_VARIANCE_STARTS];

	return left > 0 ? fmax(2, ceil(now / left)) : INFINITY;
}

/* Writes what would decide it. Half of what matters is aimed at, which leaves room for an estimate that is off by
 * chance. */
static void way_out_words(struct diff_build *build, double tolerated, char out[static UNPROVEN_ADVICE])
{
	struct diff *diff = build->diff;
	enum diff_variance widest = diff_widest(&diff->evidence);
	double times;

	/* More runs in the same place tell no more of places. */
	if (diff->layouts.widens) {
		snprintf(out, UNPROVEN_ADVICE,
			"; where the linker put the code may explain it: kelvin bench --layouts 8 would tell");
		return;
	}
	if (diff->evidence.mode != DIFF_EVIDENCE_RUNS || widest == DIFF_VARIANCE_LOAD ||
		widest == DIFF_VARIANCE_SESSION) {
		unproven_advice(build, out);
		return;
	}
	times = needed_times(build, tolerated);
	if (times > unproven_most_times_asked) {
		snprintf(out, UNPROVEN_ADVICE,
			"; the runs vary too much to tell: make the machine quieter, or the runs longer");
		return;
	}
	diff->needs_times_samples = times;
	snprintf(out, UNPROVEN_ADVICE, "; about %.0f times as many runs would decide it", times);
}

static void say_inconclusive(struct diff_build *build, double tolerated)
{
	struct diff *diff = build->diff;
	char words[WORDS_CHANGE], places[UNPROVEN_PLACES], bound[UNPROVEN_BOUND], way_out[UNPROVEN_ADVICE];

	words_change(diff, &diff->total, words);
	places_words(diff, places);
	bound_words(&diff->total, bound);
	way_out_words(build, tolerated, way_out);
	build_text(diff, &diff->verdict_text, "%s%s; head %s %s%s", places, bound, words_verb(diff), words, way_out);
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
