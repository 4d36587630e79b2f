/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/sentences.h"

#include "diff/constants.h"
#include "diff/verdict/exact.h"
#include "diff/verdict/size.h"
#include "diff/verdict/waiting.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

enum { SENTENCE_BYTES = 8192, NAME_COLUMNS = 100, CALLER_COLUMNS = 60 };

bool sentence_set(struct diff *diff, struct buffer *text, struct error *err)
{
	buffer_append(text, "", 0);
	if (!buffer_ok(text, err))
		return false;
	diff->verdict_text = string_table_enter(diff->strings, text->data, text->size);
	return true;
}

/* Appends how much the program takes of the metric more or less, behind what explains it. */
static void append_total(const struct diff *diff, const char *condition, struct buffer *text)
{
	char words[WORDS_CHANGE];

	words_change(diff, &diff->total, words);
	buffer_printf(text, "%s%s %s %s%s", text->size > 0 ? "; " : "", diff->whole ? "this part" : "the program",
		words_verb(diff), words, condition);
}

/* ---- The cause ---- */

static const char *of_the_change(enum proven_way way)
{
	return way == PROVEN_LESS ? "of the decrease" : "of the increase";
}

/* Appends "`r` → `resolve` → `SpecifierSet.contains` in specifiers.py". */
static void append_chain(const struct diff *diff, const struct diff_cause *cause, struct buffer *text)
{
	for (size_t i = 0; i < cause->caller_count; i++) {
		words_append_short_name(diff, &diff->functions[cause->callers[i]], CALLER_COLUMNS, text);
		buffer_append_string(text, " → ");
	}
	words_append_name(diff, &diff->functions[cause->function], NAME_COLUMNS, text);
}

/* Appends " takes 10.1 times as much", " is new". */
static void sentences_append_ratio(const struct diff *diff, const struct diff_estimate *e, struct buffer *text)
{
	static const double limit = 1000;
	char words[WORDS_CHANGE];

	words_ratio(diff, e->base, e->head, words);
	if (!(e->base > 0) || !(e->head > 0))
		buffer_append_string(text, e->head > 0 ? " is new" : " is gone");
	else if (e->head > limit * e->base)
		buffer_printf(text, " takes more than %.0f times as %s", limit, diff->is_counted ? "many" : "much");
	else
		buffer_printf(text, " takes %s", words);
}

/* Appends ", most of it in `memcmp` below it". */
static void append_leaf(const struct diff *diff, const struct cause *cause, struct buffer *text)
{
	static const double most = 0.5;

	if (cause->named.leaf == PROFILE_NONE)
		return;
	if (cause->leaf_share >= most)
		buffer_append_string(text, ", most of it in ");
	else
		buffer_printf(text, ", %.0f %% of it in ", cause->leaf_share * 100);
	words_append_short_name(diff, &diff->functions[cause->named.leaf], CALLER_COLUMNS, text);
	buffer_append_string(text, " below it");
}

static void sentences_append_nameless(const struct cause *cause, struct buffer *text)
{
	if (cause->has_nameless_callers)
		buffer_append_string(text, "; what calls it has no names, which debug symbols would give");
}

/* Appends ": cache misses", what the time of the function itself consists of more of. */
static void append_bottleneck(const struct diff *diff, const struct diff_cause *cause, struct buffer *text)
{
	const char *words = cause->is_self ? diff_cause(diff, &diff->functions[cause->function]) : "";

	if (words[0])
		buffer_printf(text, ": %s", words);
}

/* Appends ": +31 ms per request, ", or ": " where the size says nothing. */
static void append_size(const struct diff_build *build, double delta, struct buffer *text)
{
	char size[SIZE_WORDS];

	size_words(build, delta, size);
	buffer_printf(text, ": %s%s", size, size[0] ? ", " : "");
}

static void append_named(const struct diff_build *build, const struct cause *cause, struct buffer *text)
{
	const struct diff *diff = build->diff;
	const struct diff_function *f = &diff->functions[cause->named.function];
	const struct diff_estimate *e = cause_estimate(diff, &cause->named, cause->way);

	append_chain(diff, &cause->named, text);
	buffer_append_string(text, e == &f->self && f->total.base > 0 && f->total.head > 0 ? " itself" : "");
	sentences_append_ratio(diff, e, text);
	append_size(build, e->delta, text);
	if (cause->named.share >= sentences_nearly_all)
		buffer_printf(text, "all %s", of_the_change(cause->way));
	else
		buffer_printf(text, "%.0f %% %s", cause->named.share * 100, of_the_change(cause->way));
	append_leaf(diff, cause, text);
	append_bottleneck(diff, &cause->named, text);
	sentences_append_nameless(cause, text);
}

/* Appends "`a` takes 3.00 times as much: +2.0 s per run, 21 % of the increase, `b` 15 % and `c` 9 %". */
static void append_parts(const struct diff_build *build, const struct cause *cause, struct buffer *text)
{
	const struct diff *diff = build->diff;

	for (size_t i = 0; i < cause->spread_count; i++) {
		const struct diff_function *f = &diff->functions[cause->spread[i].function];
		const struct diff_estimate *e = proven_way_of(f->total.state) == cause->way ? &f->total : &f->self;
		const char *last = cause->spread_count == 2 ? ", and " : " and ",
			   *between = i == 0                         ? ""
				      : i + 1 == cause->spread_count ? last
								     : ", ";

		buffer_append_string(text, between);
		words_append_name(diff, f, CALLER_COLUMNS, text);
		if (i == 0 && proven_way_of(e->state) == cause->way) {
			sentences_append_ratio(diff, e, text);
			append_size(build, e->delta, text);
		} else if (i == 0) {
			buffer_append_string(text, " is ");
		}
		buffer_printf(text, i == 0 ? "%.0f %% %s" : " %.0f %%", cause->spread[i].share * 100,
			of_the_change(cause->way));
	}
}

static void sentences_append_cause(const struct diff_build *build, const struct cause *cause, struct buffer *text)
{
	if (cause->named.function != PROFILE_NONE)
		append_named(build, cause, text);
	else
		append_parts(build, cause, text);
}

/* ---- Where the total decides ---- */

/* Appends why no function is named, and where to look. */
static void append_unnamed(const struct diff_build *build, const struct cause *cause, struct buffer *text)
{
	struct cause measured;

	if (cause->named.function != PROFILE_NONE || cause->spread_count > 0)
		return;
	buffer_append_string(text, cause->is_known ? "; no function that has a name explains half of it"
						   : "; no single function is proven to have changed");
	cause_find_measured(build, &measured);
	if (cause->is_known || measured.named.function == PROFILE_NONE)
		return;
	buffer_printf(text, ", most of the %s is measured in ", cause->way == PROVEN_MORE ? "increase" : "decrease");
	append_chain(build->diff, &measured.named, text);
}

bool sentence_of_total(struct diff_build *build, const struct cause *cause, const char *condition, struct error *err)
{
	struct diff *diff = build->diff;
	CLEANUP(buffer_deinit) struct buffer text = { 0 }, explained = { 0 };

	buffer_init(&text, SENTENCE_BYTES);
	buffer_init(&explained, SENTENCE_BYTES);
	if (diff->is_exact) {
		append_total(diff, condition, &text);
		return sentence_set(diff, &text, err);
	}
	sentences_append_cause(build, cause, &explained);
	buffer_append(&explained, "", 0);
	if (!buffer_ok(&explained, err))
		return false;
	if (diff->waiting == DIFF_WAITING_NONE)
		buffer_append_string(&text, explained.data ? explained.data : "");
	else
		waiting_explain(build, explained.data ? explained.data : "", &text);
	append_total(diff, condition, &text);
	if (diff->named_wait == PROFILE_NONE)
		append_unnamed(build, cause, &text);
	return sentence_set(diff, &text, err);
}

/* ---- Where functions decide ---- */

void sentence_about_total(const struct diff *diff, char out[static SENTENCE_TOTAL])
{
	char words[WORDS_CHANGE];

	out[0] = '\0';
	if (diff->is_exact) {
		snprintf(out, SENTENCE_TOTAL, "%s", exact_and_the_total(diff));
		return;
	}
	if (diff->scale.mode == DIFF_SCALE_SHARE)
		return;
	words_change(diff, &diff->total, words);
	snprintf(out, SENTENCE_TOTAL, "; the total %s%s",
		proven_way_of(diff->total.state) ? "hardly changed: " : "is not proven to have changed: ", words);
}

/* Appends ", 34.0 % of all CPU time after 12.0 % in base". */
static void append_shares(const struct diff *diff, const struct diff_estimate *e, struct buffer *text)
{
	if (!(e->head > 0))
		buffer_printf(
			text, ", and had %.1f %% of all %s", e->base / diff->total.base * 100, words_metric(diff));
	else if (!(e->base > 0))
		buffer_printf(
			text, " and takes %.1f %% of all %s", e->head / diff->total.head * 100, words_metric(diff));
	else
		buffer_printf(text, ", %.1f %% of all %s after %.1f %% in base", e->head / diff->total.head * 100,
			words_metric(diff), e->base / diff->total.base * 100);
}

static void sentences_append_function(const struct diff_build *build, const struct diff_function *f,
	const struct diff_estimate *e, struct buffer *text)
{
	const struct diff *diff = build->diff;
	bool is_in_both = e->base > 0 && e->head > 0, is_self = e == &f->self && f->total.base > 0 && f->total.head > 0;
	char words[WORDS_CHANGE], size[SIZE_WORDS];

	size_words(build, e->delta, size);
	words_change(diff, e, words);
	if (is_in_both)
		buffer_printf(text, "%s %s %s%s%s", is_self ? " itself" : "", words_verb(diff), words,
			size[0] ? ", " : "", size);
	else
		buffer_append_string(text, e->head > 0 ? " is new" : " is gone");
	append_shares(diff, e, text);
	if (!is_in_both && size[0])
		buffer_printf(text, ", %s", size);
}

/* Appends "3 proven decreases (4.1 % of the total)". */
static void sentences_append_count(const struct proven_side *side, enum proven_way way, struct buffer *text)
{
	buffer_printf(text, "%zu proven %s%s (%.1f %% of the total)", side->changes,
		way == PROVEN_LESS ? "decrease" : "increase", side->changes == 1 ? "" : "s", side->points);
}

bool sentence_of_functions(struct diff_build *build, const struct cause *cause, const struct proven *proven,
	const char *rest, struct error *err)
{
	struct diff *diff = build->diff;
	const struct proven_side *side = proven_side(proven, cause->way);
	size_t counted = proven->more.changes + proven->less.changes;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SENTENCE_BYTES);

	if (diff->is_exact)
		return exact_say_function(build, side->greatest, side->estimate, counted > 0 ? counted - 1 : 0, err);
	if (waiting_is_reason(build, side->greatest, side->estimate))
		return waiting_say(build, side->greatest, side->estimate, rest, err);
	if (cause->named.function == PROFILE_NONE && cause->spread_count > 0) {
		append_parts(build, cause, &text);
		buffer_append_string(&text, "; ");
		sentences_append_count(side, cause->way, &text);
	} else if (cause->named.function == PROFILE_NONE) {
		words_append_name(diff, side->greatest, NAME_COLUMNS, &text);
		sentences_append_function(build, side->greatest, side->estimate, &text);
	} else {
		append_chain(diff, &cause->named, &text);
		sentences_append_function(build, &diff->functions[cause->named.function],
			cause_estimate(diff, &cause->named, cause->way), &text);
		append_leaf(diff, cause, &text);
		append_bottleneck(diff, &cause->named, &text);
		sentences_append_nameless(cause, &text);
	}
	buffer_append_string(&text, rest);
	return sentence_set(diff, &text, err);
}

/* Appends how the function with the largest proven difference differs. */
static void append_greatest(struct diff_build *build, const struct proven *proven, struct buffer *text)
{
	const struct diff *diff = build->diff;
	const struct proven_side *side = proven_greater(proven);
	const struct diff_function *f = side->greatest;
	char size[SIZE_WORDS];

	if (waiting_append_what(build, f, side->estimate, text)) {
		buffer_append_string(text, side->estimate->delta > 0 ? ", longer than base" : ", less than base");
	} else {
		words_append_name(diff, f, NAME_COLUMNS, text);
		buffer_append_string(
			text, side->estimate == &f->self && f->total.base > 0 && f->total.head > 0 ? " itself" : "");
		sentences_append_ratio(diff, side->estimate, text);
	}
	size_words(build, side->estimate->delta, size);
	buffer_printf(text, "%s%s; ", size[0] ? ": " : "", size);
}

bool sentence_of_counts(struct diff_build *build, const struct proven *proven, const char *rest, struct error *err)
{
	const struct proven_side *more = &proven->more, *less = &proven->less;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SENTENCE_BYTES);

	append_greatest(build, proven, &text);
	if (more->changes > 0)
		sentences_append_count(more, PROVEN_MORE, &text);
	if (more->changes > 0 && less->changes > 0)
		buffer_printf(&text, " and %zu decrease%s (%.1f %%)", less->changes, less->changes == 1 ? "" : "s",
			less->points);
	else if (less->changes > 0)
		sentences_append_count(less, PROVEN_LESS, &text);
	buffer_append_string(&text, rest);
	return sentence_set(build->diff, &text, err);
}
