/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on one benchmark in a sentence, which its diff has in place of one of its own. */
#include "diff/suite/work.h"

#include "diff/lines.h"
#include "diff/words.h"

#include <math.h>

enum { SENTENCE_BYTES = 1 << 17, NAME_COLUMNS = 80 };

const struct diff_estimate *diff_suite_reason(const struct diff_function *function)
{
	return !diff_state_is_difference(function->self.state) && diff_state_is_difference(function->total.state)
		       ? &function->total
		       : &function->self;
}

static bool has_most(const struct diff *diff, const struct diff_estimate *total, double sign)
{
	static const double most = 0.5;

	return diff_state_is_difference(total->state) && sign * total->delta > 0 &&
	       fabs(total->delta) >= most * fabs(diff->total.delta);
}

/*
 * Returns, of functions that are proven with all that they call, the one with the least time that has most of the
 * change; of those that have the same time, since all of it is in the one that they call, the deepest.
 */
static uint32_t innermost(const struct diff *diff, double sign)
{
	uint32_t best = PROFILE_NONE;
	double least = INFINITY;
	uint16_t deepest = 0;

	for (uint32_t n = 1; n < diff->node_count; n++) {
		const struct diff_estimate *total = &diff->functions[diff->nodes[n].function].total;
		double time = fmax(total->base, total->head);

		if (!has_most(diff, total, sign) || time > least || (time == least && diff->nodes[n].depth <= deepest))
			continue;
		best = diff->nodes[n].function;
		least = time;
		deepest = diff->nodes[n].depth;
	}
	return best;
}

uint32_t diff_suite_because(const struct diff_suite *suite, uint32_t benchmark, const struct diff *diff)
{
	const struct diff_benchmark *b = &suite->benchmarks[benchmark];
	uint32_t best = PROFILE_NONE;
	double most = 0;

	if (diff->sides != DIFF_SIDES || b->presence != DIFF_IN_BOTH ||
		(b->verdict != DIFF_REGRESSED && b->verdict != DIFF_IMPROVED && b->verdict != DIFF_MINOR))
		return PROFILE_NONE;
	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_estimate *self = &diff->functions[i].self;
		double size = b->change < 0 ? -self->delta : self->delta;

		if (size > most && diff_state_is_difference(self->state)) {
			best = i;
			most = size;
		}
	}
	return best == PROFILE_NONE ? innermost(diff, b->change < 0 ? -1 : 1) : best;
}

/* Appends "+2.8 % (95 % interval -4.9 to 11.1 %)", of what is not proven to be a change. */
static void append_interval(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	buffer_printf(out, ": %+.1f %%", b->change * 100);
	if (!suite->is_exact)
		buffer_printf(out, " (95 %% interval %.1f to %.1f %%)", b->change_low * 100, b->change_high * 100);
}

/* Appends "placement: same code, 20.1 % slower here (95 % interval ...); --layouts 8 would tell". */
static void sentence_append_placement(
	const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	buffer_append_string(out, "differs by placement: same code, ");
	suite_append_change(suite, b, out);
	buffer_printf(out, " %s here; --layouts 8 would tell", b->change > 0 ? "slower" : "faster");
}

/* Appends a difference that the clock shows, and CPU time does not. */
static void append_contradiction(const struct diff_benchmark *b, struct buffer *out)
{
	buffer_printf(out,
		"is not proven to differ: by the clock it is %.1f %% %s, by CPU time it differs by %+.1f %% (95 %% interval %.1f to %.1f %%), since it had a CPU for %.0f %% of its time in base and %.0f %% in head: it waited, for itself or while other programs ran",
		fabs(b->change) * 100, b->change > 0 ? "slower" : "faster", b->cpu_change * 100 + 0.0,
		b->cpu_change_low * 100, b->cpu_change_high * 100, b->cpu_share[DIFF_BASE] * 100,
		b->cpu_share[DIFF_HEAD] * 100);
}

static void append_beyond_placement(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	buffer_append_string(out, "is not proven to have changed: same code, ");
	suite_append_change(suite, b, out);
	buffer_printf(out,
		" %s, which is more than where the linker put it explains: its data or its work differ; --simulate would tell",
		b->change > 0 ? "slower" : "faster");
}

static void sentence_append_verdict(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	if (b->is_contradicted || b->is_beyond_placement) {
		if (b->is_contradicted)
			append_contradiction(b, out);
		else
			append_beyond_placement(suite, b, out);
		return;
	}
	switch (b->verdict) {
	case DIFF_REGRESSED:
	case DIFF_IMPROVED:
	case DIFF_MINOR:
		suite_append_effect(suite, b->change > 0, 1, out);
		buffer_append_byte(out, ' ');
		suite_append_change(suite, b, out);
		return;
	case DIFF_UNCHANGED:
		buffer_printf(out, "is equal within %g %%", suite->options.precision * 100);
		break;
	case DIFF_PLACEMENT:
		sentence_append_placement(suite, b, out);
		return;
	case DIFF_INCONCLUSIVE:
	case DIFF_MIXED:
	case DIFF_MACHINE:
		buffer_printf(out, "is not proven to %s", suite->is_measured ? "be slower or faster" : "differ");
		break;
	}
	if (isfinite(b->change))
		append_interval(suite, b, out);
	if (b->more_executions > 0)
		buffer_printf(
			out, "; about %llu more executions would decide this", (unsigned long long)b->more_executions);
}

/* Appends ": `work_sort` (test_suite.py:20) takes 58.2 % more". */
static bool append_because(const struct profile *const profiles[DIFF_SIDES], const struct diff *diff, uint32_t function,
	struct buffer *out, struct error *err)
{
	const struct diff_estimate *reason = diff_suite_reason(&diff->functions[function]);
	bool is_self = reason == &diff->functions[function].self;
	CLEANUP(buffer_deinit) struct buffer place = BUFFER_INIT(SENTENCE_BYTES);
	char words[WORDS_CHANGE];

	diff_append_place(diff, profiles, function, &place);
	buffer_append_string(out, ": ");
	words_append_short_name(diff, &diff->functions[function], NAME_COLUMNS, out);
	if (place.size > 0) {
		buffer_append_string(out, " (");
		profile_shorten_name(place.data, NAME_COLUMNS, out);
		buffer_append_byte(out, ')');
	}
	words_ratio(diff, reason->base, reason->head, words);
	if (!(reason->base > 0) || !(reason->head > 0))
		buffer_append_string(out, reason->head > 0 ? " is new" : " is gone");
	else
		buffer_printf(out, " %s takes %s", is_self ? "itself" : "with all that it calls", words);
	return buffer_ok(&place, err);
}

static bool say_one(const struct diff_suite *suite, uint32_t benchmark,
	const struct profile *const profiles[DIFF_SIDES], const struct diff *diff, struct buffer *text,
	struct error *err)
{
	const struct diff_benchmark *b = &suite->benchmarks[benchmark];
	uint32_t because = diff_suite_because(suite, benchmark, diff);

	buffer_append_byte(text, '`');
	profile_shorten_name(diff_suite_string(suite, b->name), NAME_COLUMNS, text);
	buffer_append_string(text, "` ");
	if (suite->sides == DIFF_SIDES && b->code == DIFF_CODE_SAME && b->verdict != DIFF_PLACEMENT)
		buffer_append_string(text, "ran no changed code, and ");
	sentence_append_verdict(suite, b, text);
	if (because != PROFILE_NONE)
		return append_because(profiles, diff, because, text, err);
	if (b->verdict == DIFF_REGRESSED || b->verdict == DIFF_IMPROVED)
		buffer_append_string(text, "; no function of it is proven to have changed");
	return true;
}

bool suite_say_benchmark(const struct diff_suite *suite, uint32_t benchmark,
	const struct profile *const profiles[DIFF_SIDES], struct diff *diff, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SENTENCE_BYTES);
	bool is_of_limits =
		diff->gate_failed || (suite->options.diff.gate_count > 0 && diff->verdict == DIFF_INCONCLUSIVE);

	if (is_of_limits)
		return true;
	if (benchmark == DIFF_ALL_BENCHMARKS)
		buffer_append_string(&text, diff_suite_string(suite, suite->verdict_text));
	else if (!say_one(suite, benchmark, profiles, diff, &text, err))
		return false;
	diff->verdict = benchmark == DIFF_ALL_BENCHMARKS ? suite->verdict : suite->benchmarks[benchmark].verdict;
	if (!buffer_ok(&text, err))
		return false;
	diff->verdict_text = string_table_enter(diff->strings, text.data ? text.data : "", text.size);
	return true;
}
