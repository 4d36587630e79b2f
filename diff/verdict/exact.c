/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/exact.h"

#include "diff/statistics/units.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

/* Room for a clause about the code of a function. */
enum { EXACT_CODE_WORDS = 120, EXACT_SENTENCE = WORDS_CHANGE + 80 };

/* The fingerprint says it of the function itself, not of what it calls. */
static void code_words(const struct diff *diff, const struct diff_function *f, bool is_self, char out[EXACT_CODE_WORDS])
{
	out[0] = '\0';
	if (!is_self || f->self.base <= 0 || f->self.head <= 0)
		return;
	if (f->code == DIFF_CODE_CHANGED)
		snprintf(out, EXACT_CODE_WORDS, "its code changed");
	else if (f->code == DIFF_CODE_SAME)
		snprintf(out, EXACT_CODE_WORDS, "its code is the same, and %s", diff_same_code_words(diff, false));
}

const char *exact_and_the_total(const struct diff *diff)
{
	if (diff->scale.mode == DIFF_SCALE_SHARE)
		return "";
	if (diff_state_is_difference(diff->total.state))
		return "; the total hardly changed";
	return diff->total.state == DIFF_STATE_SAME ? "; the total is the same"
						    : "; the total differs by no more than runs of one program may";
}

/* The same with the total's change in figures, where there is one. */
static void total_words(const struct diff *diff, char out[EXACT_SENTENCE])
{
	char words[WORDS_CHANGE];

	words_change(diff, &diff->total, words);
	if (diff_state_is_difference(diff->total.state) && diff->scale.mode != DIFF_SCALE_SHARE)
		snprintf(out, EXACT_SENTENCE, "; head as a whole %s %s", words_verb(diff), words);
	else
		snprintf(out, EXACT_SENTENCE, "%s", exact_and_the_total(diff));
}

/* Writes which share of all the metric a function has, or had where it is gone. */
static void share_words(const struct diff *diff, const struct diff_estimate *e, char out[EXACT_SENTENCE])
{
	char base[WORDS_PERCENT], head[WORDS_PERCENT];

	words_percent(diff, e->base / diff->total.base * 100, base);
	words_percent(diff, e->head / diff->total.head * 100, head);
	if (!(e->base > 0))
		snprintf(out, EXACT_SENTENCE, "%s of all %s", head, words_metric(diff));
	else if (!(e->head > 0))
		snprintf(out, EXACT_SENTENCE, "it had %s of all %s", base, words_metric(diff));
	else
		snprintf(out, EXACT_SENTENCE, "%s of all %s, after %s in base", head, words_metric(diff), base);
}

bool exact_say_function(struct diff_build *build, const struct diff_function *function,
	const struct diff_estimate *estimate, size_t others, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	struct diff *diff = build->diff;
	bool is_self = estimate == &function->self;
	char words[WORDS_CHANGE], code[EXACT_CODE_WORDS], share[EXACT_SENTENCE], total[EXACT_SENTENCE], rest[80] = "";
	const char *whose = is_self ? " itself" : ", with all it calls,";
	const char *cause = is_self ? diff_cause(diff, function) : "";

	words_change(diff, estimate, words);
	code_words(diff, function, is_self, code);
	share_words(diff, estimate, share);
	total_words(diff, total);
	if (others > 0)
		snprintf(rest, sizeof(rest), "; %zu other function%s changed too", others, others == 1 ? "" : "s");
	words_name(diff, function, &name);
	if (!buffer_ok(&name, err))
		return false;
	if (!(estimate->base > 0) || !(estimate->head > 0)) {
		build_text(diff, &diff->verdict_text, "%s is %s: %s%s%s", name.data ? name.data : "",
			estimate->base > 0 ? "gone" : "new", share, rest, total);
		return true;
	}
	build_text(diff, &diff->verdict_text, "%s%s %s %s%s%s%s%s%s%s%s%s", name.data ? name.data : "", whose,
		words_verb(diff), words, cause[0] ? ": " : "", cause, code[0] ? "; " : "", code, cause[0] ? "; " : ": ",
		share, rest, total);
	return true;
}

bool exact_explain_total(struct diff_build *build, const struct diff_function *function,
	const struct diff_estimate *estimate, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	struct diff *diff = build->diff;
	const char *cause, *before_code;
	bool is_self;
	char code[EXACT_CODE_WORDS], part[WORDS_PERCENT];

	if (!function || (estimate->delta > 0) != (diff->total.delta > 0))
		return true;
	is_self = estimate == &function->self;
	code_words(diff, function, is_self, code);
	cause = is_self ? diff_cause(diff, function) : "";
	before_code = code[0] == '\0' ? "" : cause[0] ? "; " : ": ";
	words_percent(diff, fabs(estimate->delta) / build_points_of(diff) * 100, part);
	words_name(diff, function, &name);
	if (!buffer_ok(&name, err))
		return false;
	build_text(diff, &diff->verdict_text, "%s%s has the largest change, %s of the total%s%s%s%s; %s",
		name.data ? name.data : "", is_self ? " itself" : ", with all it calls,", part, cause[0] ? ": " : "",
		cause, before_code, code, diff_string(diff, diff->verdict_text));
	return true;
}

static bool is_equal_throughout(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (!words_equal(diff, &diff->functions[i].self) || !words_equal(diff, &diff->functions[i].total))
			return false;
	return true;
}

/* Returns the next step where runs of one program may differ by as much as the two sides do. */
static const char *advice_words(const struct diff_build *build)
{
	return units_have_runs(build) ? "; more runs on each side prove smaller changes"
				      : "; 3 or more runs on each side prove smaller changes";
}

void exact_decide_unproven(struct diff_build *build, double tolerated)
{
	struct diff *diff = build->diff;
	const struct diff_estimate *e = &diff->total;
	char words[WORDS_CHANGE], noise[WORDS_PERCENT];

	diff->verdict = DIFF_UNCHANGED;
	words_change(diff, e, words);
	if (words_equal(diff, e)) {
		build_text(diff, &diff->verdict_text, "%s: head %s %s",
			is_equal_throughout(diff) ? "base and head are equal" : "no change is proven", words_verb(diff),
			words);
		return;
	}
	if (e->state == DIFF_STATE_SAME) {
		build_text(diff, &diff->verdict_text,
			"base and head differ by less than --min-effect (%g %% of the total): head %s %s",
			build->options.min_effect_points, words_verb(diff), words);
		return;
	}
	diff->verdict = e->detectable <= tolerated ? DIFF_UNCHANGED : DIFF_INCONCLUSIVE;
	words_percent(diff, e->detectable / e->base * 100, noise);
	build_text(diff, &diff->verdict_text,
		"no change is proven; head %s %s, and only more than %s is proven, because runs of %s%s",
		words_verb(diff), words, noise,
		units_have_runs(build) ? "one side differ" : "one program may differ so", advice_words(build));
}
