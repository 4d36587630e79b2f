/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts benchmarks in order, applies the gates, and writes the suite's verdict as a sentence. */
#include "diff/suite/work.h"

#include "diff/verdict/control.h"
#include "diff/verdict/gate.h"
#include "diff/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sentence names this many benchmarks of a kind, and counts the others. */
enum { MOST_NAMED = 3, MAX_SENTENCE_BYTES = 1 << 16 };

/* ---- The order ---- */

/* Returns the rank in the order in which benchmarks should be read. */
static int reading_rank(const struct diff_benchmark *benchmark)
{
	if (benchmark->presence != DIFF_IN_BOTH)
		return benchmark->presence == DIFF_ADDED ? 4 : 5;
	switch (benchmark->verdict) {
	case DIFF_REGRESSED:
		return 0;
	case DIFF_IMPROVED:
		return 1;
	case DIFF_INCONCLUSIVE:
	case DIFF_MIXED:
		return 2;
	case DIFF_MINOR:
	case DIFF_PLACEMENT:
		return 3;
	case DIFF_UNCHANGED:
	case DIFF_MACHINE:
		return 6;
	}
	return 6;
}

struct ordered {
	const char *uri;
	double size; /* of the change */
	int rank;
	uint32_t benchmark;
};

static int by_reading(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank - b->rank;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->uri, b->uri);
}

/* Puts the benchmarks in order, and what refers to them by their index. */
static void order_benchmarks(struct suite_work *work)
{
	struct diff_suite *suite = work->suite;
	size_t count = suite->benchmark_count;
	CLEANUP(cleanup_free) struct ordered *order = memory_alloc((count + 1) * sizeof(*order));
	CLEANUP(cleanup_free) uint32_t *new_ids = memory_alloc((count + 1) * sizeof(*new_ids));
	CLEANUP(cleanup_free) bool *proven = memory_alloc(count + 1);
	struct diff_benchmark *sorted = memory_alloc((count + 1) * sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		order[i] = (struct ordered){ diff_suite_string(suite, benchmark->uri),
			isnan(benchmark->change) ? 0 : fabs(benchmark->change), reading_rank(benchmark), i };
	}
	qsort(order, count, sizeof(*order), by_reading);
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = suite->benchmarks[order[i].benchmark];
		proven[i] = work->proven[order[i].benchmark];
		new_ids[order[i].benchmark] = i;
	}
	free(suite->benchmarks);
	suite->benchmarks = sorted;
	memcpy(work->proven, proven, count);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t run = 0; suite->profiles[side] && run < suite->profiles[side]->run_count; run++) {
			uint32_t *benchmark = &suite->details->benchmarks[side][run];

			*benchmark = *benchmark == PROFILE_NONE ? PROFILE_NONE : new_ids[*benchmark];
		}
}

/* ---- Deciding ---- */

static void count_verdicts(struct diff_suite *suite)
{
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		suite->added += benchmark->presence == DIFF_ADDED;
		suite->removed += benchmark->presence == DIFF_REMOVED;
		suite->verdicts[benchmark->verdict] += benchmark->presence == DIFF_IN_BOTH;
	}
}

static size_t count_in_both(const struct diff_suite *suite)
{
	return suite->benchmark_count - suite->added - suite->removed;
}

static enum diff_verdict suite_verdict(const struct diff_suite *suite)
{
	if (suite->verdicts[DIFF_REGRESSED] > 0 && suite->verdicts[DIFF_IMPROVED] > 0)
		return DIFF_MIXED;
	if (suite->verdicts[DIFF_REGRESSED] > 0)
		return DIFF_REGRESSED;
	if (suite->verdicts[DIFF_IMPROVED] > 0)
		return DIFF_IMPROVED;
	if (suite->verdicts[DIFF_INCONCLUSIVE] > 0 || count_in_both(suite) == 0)
		return DIFF_INCONCLUSIVE;
	if (suite->verdicts[DIFF_PLACEMENT] > 0)
		return DIFF_PLACEMENT;
	return suite->verdicts[DIFF_MINOR] > 0 ? DIFF_MINOR : DIFF_UNCHANGED;
}

/* ---- The sentence ---- */

static int suite_verdict_digits_of(double times)
{
	return times < 10 ? 2 : times < 100 ? 1 : 0;
}

/*
 * Appends "12.3 % (95 % interval 9.8 to 14.9 %)", of exact counts "12.3 % (exact)". A fall has no sign: the words tell
 * it.
 */
static void suite_verdict_append_percent(
	const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	bool falls = b->change < 0;
	double low = falls ? -b->change_high : b->change_low, high = falls ? -b->change_low : b->change_high;

	buffer_printf(out, "by %.*f %%", suite->is_exact && fabs(b->change) < 0.001 ? 3 : 1, fabs(b->change) * 100);
	if (suite->is_exact)
		buffer_append_string(out, " (exact)");
	else
		buffer_printf(out, " (95 %% interval %.1f to %.1f %%)", low * 100, high * 100);
}

void suite_append_change(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	double times = 1 + b->change, low = 1 + b->change_low, high = 1 + b->change_high;

	if (times < words_most_in_percent) {
		suite_verdict_append_percent(suite, b, out);
		return;
	}
	if (!isfinite(times)) {
		buffer_append_string(out, "from nothing");
		return;
	}
	buffer_printf(out, "%.*f times", suite_verdict_digits_of(times), times);
	if (suite->is_exact)
		buffer_append_string(out, " (exact)");
	else
		buffer_printf(out, " (95 %% interval %.*f to %.*f times)", suite_verdict_digits_of(low), low,
			suite_verdict_digits_of(high), high);
}

void suite_append_effect(const struct diff_suite *suite, bool more, size_t count, struct buffer *out)
{
	bool is_time = strcmp(diff_suite_string(suite, suite->unit), "nanoseconds") == 0;

	if (suite->is_measured)
		buffer_printf(out, "%s %s", count == 1 ? "is" : "are", more ? "slower" : "faster");
	else
		buffer_printf(out, "%s%s %s %s", is_time ? "take" : "need", count == 1 ? "s" : "",
			more                ? "more"
			: suite->is_counted ? "fewer"
					    : "less",
			diff_suite_string(suite, suite->metric_words));
}

/* Appends the first benchmarks of a verdict. They stand in order, so that the largest changes are named. */
static void suite_verdict_append_benchmarks(
	const struct diff_suite *suite, enum diff_verdict verdict, struct buffer *out)
{
	enum { COLUMNS = 60 };
	size_t named = 0;

	for (size_t i = 0; i < suite->benchmark_count && named < MOST_NAMED; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		if (benchmark->presence != DIFF_IN_BOTH || benchmark->verdict != verdict)
			continue;
		buffer_append_string(out, named++ ? ", " : ": ");
		unicode_append_middle(out, diff_suite_string(suite, benchmark->name), COLUMNS);
		buffer_append_byte(out, ' ');
		suite_append_change(suite, benchmark, out);
	}
	if (suite->verdicts[verdict] > named)
		buffer_printf(out, " and %zu more", suite->verdicts[verdict] - named);
}

/* Appends how many differ although their code is the same. */
static void suite_verdict_append_placement(const struct diff_suite *suite, struct buffer *out)
{
	size_t count = suite->verdicts[DIFF_PLACEMENT];

	if (count > 0)
		buffer_printf(out, "; %zu differ%s by placement alone: same code, which --layouts 8 would tell", count,
			count == 1 ? "s" : "");
}

static void append_proven(const struct suite_work *work, struct buffer *out)
{
	const struct diff_suite *suite = work->suite;
	const enum diff_verdict verdicts[] = { DIFF_REGRESSED, DIFF_IMPROVED };
	bool is_first = true;

	for (size_t i = 0; i < 2; i++) {
		size_t count = suite->verdicts[verdicts[i]], all = count_in_both(suite);

		if (count == 0)
			continue;
		if (is_first)
			buffer_printf(out, "%zu of %zu benchmark%s ", count, all, all == 1 ? "" : "s");
		else
			buffer_printf(out, "; %zu ", count);
		suite_append_effect(suite, i == 0, count, out);
		suite_verdict_append_benchmarks(suite, verdicts[i], out);
		is_first = false;
	}
	if (suite->verdicts[DIFF_INCONCLUSIVE] > 0)
		buffer_printf(out, "; %zu undecided", suite->verdicts[DIFF_INCONCLUSIVE]);
	suite_verdict_append_placement(suite, out);
}

/* Says why nothing is proven. */
static void append_unproven(const struct suite_work *work, struct buffer *out)
{
	const struct diff_suite *suite = work->suite;
	size_t all = count_in_both(suite), open = suite->verdicts[DIFF_INCONCLUSIVE],
	       minor = suite->verdicts[DIFF_MINOR];
	double precision = suite->options.precision * 100;

	if (all == 0) {
		buffer_append_string(out, "base and head have no benchmark in common");
	} else if (open > 0) {
		buffer_append_string(out, "no benchmark is proven to ");
		buffer_append_string(out, suite->is_measured ? "be slower or faster" : "differ");
		buffer_printf(out, ", but for %zu of %zu a change of more than %g %% cannot be ruled out%s", open, all,
			precision,
			suite->is_exact ? ", because executions of one side differ" : "; more executions tell");
	} else if (minor > 0) {
		buffer_printf(out, "%zu of %zu benchmark%s differ%s, by no more than %g %%", minor, all,
			all == 1 ? "" : "s", minor == 1 ? "s" : "", precision);
		suite_verdict_append_benchmarks(suite, DIFF_MINOR, out);
	} else {
		buffer_printf(out, "none of %zu benchmark%s ", all, all == 1 ? "" : "s");
		buffer_append_string(out, suite->is_measured ? "is slower or faster" : "differs");
		if (!suite->is_exact)
			buffer_printf(out, " by more than %g %%", precision);
	}
	suite_verdict_append_placement(suite, out);
}

static bool say_verdict(struct suite_work *work, struct buffer *text)
{
	const struct diff_suite *suite = work->suite;

	if (suite->sides == 1)
		buffer_printf(text, "%zu benchmark%s in %zu execution%s", suite->benchmark_count,
			suite->benchmark_count == 1 ? "" : "s", suite->executions[DIFF_HEAD],
			suite->executions[DIFF_HEAD] == 1 ? "" : "s");
	else if (suite->verdicts[DIFF_REGRESSED] + suite->verdicts[DIFF_IMPROVED] > 0)
		append_proven(work, text);
	else
		append_unproven(work, text);
	if (suite->sides == DIFF_SIDES && suite->added + suite->removed > 0)
		buffer_printf(text, "; %zu added, %zu removed", suite->added, suite->removed);
	return true;
}

/* ---- Gates ---- */

static const char *suite_verdict_first_blocking(const struct diff_suite *suite)
{
	for (size_t i = 0; i < suite->warning_count; i++)
		if (suite->warnings[i].blocks_gate)
			return diff_suite_string(suite, suite->warnings[i].text);
	return NULL;
}

/* The benchmark that a limit is on; PROFILE_NONE: all. */
static bool find_gated(
	const struct diff_suite *suite, const struct diff_gate *gate, uint32_t *benchmark, struct error *err)
{
	const char *limit;
	char name[4096];

	*benchmark = PROFILE_NONE;
	if (!gate->benchmark)
		return true;
	limit = strrchr(gate->benchmark, '>');
	snprintf(name, sizeof(name), "%.*s", (int)(limit ? (size_t)(limit - gate->benchmark) : strlen(gate->benchmark)),
		gate->benchmark);
	return diff_suite_find(suite, name, benchmark, err) || error_prefix(err, "--fail-on");
}

/* Appends to `text` what exceeds the limit of a gate on benchmarks, proven and not. The same code in another place has
 * not grown. */
static enum gate_outcome judge_times(
	const struct suite_work *work, const struct diff_gate *gate, uint32_t only, struct buffer *text)
{
	const struct diff_suite *suite = work->suite;
	enum gate_outcome outcome = GATE_PASSED;
	size_t named = 0;

	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		if (benchmark->presence != DIFF_IN_BOTH || !(benchmark->change * 100 > gate->percent) ||
			benchmark->verdict == DIFF_PLACEMENT || (only != PROFILE_NONE && only != i))
			continue;
		if (!work->proven[i]) {
			outcome = outcome == GATE_PASSED ? GATE_UNDECIDED : outcome;
			continue;
		}
		outcome = GATE_FAILED;
		if (named++ < MOST_NAMED) {
			if (named == 1)
				buffer_printf(text, "; above the limit of %g %%: ", gate->percent);
			buffer_append_string(text, named > 1 ? ", " : "");
			unicode_append_middle(text, diff_suite_string(suite, benchmark->name), 60);
		}
	}
	if (named > MOST_NAMED)
		buffer_printf(text, " and %zu more", named - MOST_NAMED);
	return outcome;
}

/* Functions are judged in the benchmarks that are proven to differ, where alone they are tested. */
static bool judge_functions(struct suite_work *work, enum gate_outcome *outcome, struct buffer *text, struct error *err)
{
	struct diff_suite *suite = work->suite;

	*outcome = GATE_PASSED;
	for (uint32_t i = 0; i < suite->benchmark_count && *outcome == GATE_PASSED; i++) {
		struct diff_part part = { 0 };

		if (!work->proven[i] || suite->benchmarks[i].presence != DIFF_IN_BOTH)
			continue;
		if (!diff_suite_explain(suite, i, &part, err)) {
			/* The harness measured the benchmark, but no sample fell into it. */
			if (err->code == ERROR_EMPTY)
				continue;
			return false;
		}
		if (part.diff->gate_failed) {
			*outcome = GATE_FAILED;
			buffer_append_string(text, "; in ");
			unicode_append_middle(text, diff_suite_string(suite, suite->benchmarks[i].name), 60);
			buffer_printf(text, ", %s", diff_string(part.diff, part.diff->verdict_text));
		}
		diff_part_deinit(&part);
	}
	return true;
}

static bool suite_verdict_decide_gates(struct suite_work *work, struct buffer *text, struct error *err)
{
	struct diff_suite *suite = work->suite;
	const char *blocking = suite->options.diff.gates_ignore_warnings ? NULL : suite_verdict_first_blocking(suite);
	enum gate_outcome outcome = GATE_PASSED;
	bool has_function = false;

	if (suite->sides == DIFF_SIDES && suite->options.diff.control)
		suite->control = *suite->options.diff.control;
	if (control_differs(&suite->control)) {
		suite->verdict = DIFF_INCONCLUSIVE;
		text->size = 0;
		control_append(&suite->control, text);
		return true;
	}
	if (suite->options.diff.gate_count == 0 || suite->sides == 1)
		return true;
	if (blocking) {
		suite->verdict = DIFF_INCONCLUSIVE;
		text->size = 0;
		buffer_printf(text, "the --fail-on limits were not checked: %s", blocking);
		return true;
	}
	for (size_t i = 0; i < suite->options.diff.gate_count; i++) {
		const struct diff_gate *gate = &suite->options.diff.gates[i];
		enum gate_outcome of_gate = GATE_PASSED;
		uint32_t only;

		if (!find_gated(suite, gate, &only, err))
			return false;
		has_function |= gate->subject == DIFF_GATE_FUNCTION;
		if (gate->subject != DIFF_GATE_FUNCTION)
			of_gate = judge_times(work, gate, only, text);
		outcome = of_gate == GATE_FAILED || outcome == GATE_PASSED ? of_gate : outcome;
	}
	if (has_function && outcome != GATE_FAILED) {
		enum gate_outcome of_functions;

		if (!judge_functions(work, &of_functions, text, err))
			return false;
		outcome = of_functions == GATE_FAILED ? GATE_FAILED : outcome;
	}
	suite->gate_failed = outcome == GATE_FAILED;
	if (outcome != GATE_PASSED)
		suite->verdict = suite->gate_failed ? DIFF_REGRESSED : DIFF_INCONCLUSIVE;
	return true;
}

bool suite_decide(struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_SENTENCE_BYTES);

	order_benchmarks(work);
	count_verdicts(suite);
	suite->verdict = suite->sides == 1 ? DIFF_UNCHANGED : suite_verdict(suite);
	if (!say_verdict(work, &text) || !suite_verdict_decide_gates(work, &text, err) || !buffer_ok(&text, err))
		return false;
	suite->verdict_text = string_table_enter(suite->strings, text.data ? text.data : "", text.size);
	return true;
}

/* ---- A single benchmark ---- */

static bool suite_verdict_is_gate_of(
	const struct diff_suite *suite, const struct diff_gate *gate, const struct diff_benchmark *benchmark)
{
	return !gate->benchmark || diff_gate_is_about(gate->benchmark, diff_suite_string(suite, benchmark->uri)) ||
	       diff_gate_is_about(gate->benchmark, diff_suite_string(suite, benchmark->name));
}

void diff_suite_judge_one(const struct diff_suite *suite, const struct diff_benchmark *benchmark, bool *failed,
	enum diff_verdict *verdict, struct buffer *said)
{
	if (benchmark->verdict == DIFF_PLACEMENT)
		return;
	for (size_t i = 0; i < suite->options.diff.gate_count; i++) {
		const struct diff_gate *gate = &suite->options.diff.gates[i];

		if (gate->subject == DIFF_GATE_FUNCTION || !suite_verdict_is_gate_of(suite, gate, benchmark) ||
			!(100 * benchmark->change > gate->percent))
			continue;
		if (benchmark->verdict == DIFF_REGRESSED || benchmark->verdict == DIFF_MINOR)
			*failed = true;
		else
			*verdict = DIFF_INCONCLUSIVE;
		buffer_printf(said, "benchmark %s grew by %.1f %%, above the limit of %g %%%s\n",
			diff_suite_string(suite, benchmark->name), 100 * benchmark->change, gate->percent,
			*failed ? "" : ", but that is not proven");
	}
}
