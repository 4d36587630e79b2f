/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/suite.h"

#include "diff/diff.h"
#include "render/document.h"
#include "render/suite_words.h"

#include <math.h>
#include <string.h>

enum { MAX_PLACE_BYTES = 1 << 20 };

const struct render_part *render_part_of(const struct render_suite *input, uint32_t benchmark)
{
	for (size_t i = 0; i < input->part_count; i++)
		if (input->parts[i].benchmark == benchmark)
			return &input->parts[i];
	return NULL;
}

/* ---- Benchmarks ---- */

const char *suite_words_name(const struct diff_suite *suite, const struct diff_benchmark *benchmark)
{
	const char *name = diff_suite_string(suite, benchmark->name);

	return name[0] ? name : "(no name)";
}

struct format_text suite_words_value(const struct diff_suite *suite, double value)
{
	return format_precise(value, diff_suite_string(suite, suite->unit));
}

static const struct format_text nothing = { .text = "" };

struct format_text suite_words_change(const struct diff_benchmark *benchmark)
{
	return benchmark->presence == DIFF_IN_BOTH ? format_change(1, 1 + benchmark->change) : nothing;
}

struct format_text suite_words_interval(const struct diff_suite *suite, const struct diff_benchmark *benchmark)
{
	/* In the unit of the change. */
	bool in_times = isfinite(benchmark->change) && benchmark->change >= 1;
	struct format_text interval;

	if (benchmark->presence != DIFF_IN_BOTH || suite->is_exact)
		return nothing;
	if (!in_times)
		return format_percent_interval(100 * benchmark->change_low, 100 * benchmark->change_high);
	interval = format_interval(1 + benchmark->change_low, 1 + benchmark->change_high);
	if (interval.text[0])
		strcat(interval.text, "×");
	return interval;
}

const char suite_words_of_short_proof[] =
	"not proven: its own 95 % interval excludes 0, but among several benchmarks chance alone produces some such intervals";

bool suite_words_short_of_proof(const struct diff_benchmark *benchmark)
{
	return benchmark->presence == DIFF_IN_BOTH && benchmark->verdict == DIFF_INCONCLUSIVE &&
	       isfinite(benchmark->change_low) && isfinite(benchmark->change_high) &&
	       (benchmark->change_low > 0 || benchmark->change_high < 0);
}

bool suite_words_is_notable(const struct diff_benchmark *benchmark)
{
	return benchmark->presence != DIFF_IN_BOTH || benchmark->verdict != DIFF_UNCHANGED;
}

void render_benchmark_title(const struct diff_suite *suite, uint32_t benchmark, struct buffer *out)
{
	const struct diff_benchmark *b = &suite->benchmarks[benchmark];
	enum diff_side side = isfinite(b->value[DIFF_HEAD]) ? DIFF_HEAD : DIFF_BASE;

	buffer_printf(out, "benchmark %s", diff_suite_string(suite, b->uri));
	if (!suite->is_measured)
		return;
	if (suite->sides != DIFF_SIDES || b->presence != DIFF_IN_BOTH) {
		buffer_printf(
			out, ": %s per %s", suite_words_value(suite, b->value[side]).text, diff_benchmark_unit(b));
		return;
	}
	buffer_printf(out, ": %s → %s per %s, %s", suite_words_value(suite, b->value[DIFF_BASE]).text,
		suite_words_value(suite, b->value[DIFF_HEAD]).text, diff_benchmark_unit(b), suite_words_change(b).text);
	if (suite_words_interval(suite, b).text[0])
		buffer_printf(out, " (%s)", suite_words_interval(suite, b).text);
	buffer_printf(out, ", %s", diff_benchmark_verdict_name(b));
}

/* ---- Spread ---- */

/* A part of an execution that its harness measured. */
struct measurement {
	const char *uri;
	double variance; /* relative */
};

static int by_uri(const void *a, const void *b)
{
	return strcmp(((const struct measurement *)a)->uri, ((const struct measurement *)b)->uri);
}

static size_t collect_measurements(const struct profile *profile, struct measurement *measurements)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		const struct profile_run *run = &profile->runs[i];
		double spread = run->measured.stdev_ns / run->measured.mean_ns;

		if (run->name && run->measured.rounds > 1 && isfinite(spread))
			measurements[count++] =
				(struct measurement){ profile_string(profile, run->name), spread * spread };
	}
	qsort(measurements, count, sizeof(*measurements), by_uri);
	return count;
}

static double suite_find_spread(const struct measurement *measurements, size_t count, const char *uri)
{
	const struct measurement key = { .uri = uri };
	const struct measurement *first =
		count > 0 ? bsearch(&key, measurements, count, sizeof(*measurements), by_uri) : NULL;
	double sum = 0;
	size_t found = 0;

	if (!first)
		return NAN;
	while (first > measurements && by_uri(first - 1, &key) == 0)
		first--;
	for (; first < measurements + count && by_uri(first, &key) == 0; first++, found++)
		sum += first->variance;
	return 100 * sqrt(sum / (double)found);
}

void suite_words_spreads(const struct diff_suite *suite, enum diff_side side, double **spreads)
{
	const struct profile *profile = suite->profiles[side];
	CLEANUP(cleanup_free)
	struct measurement *measurements = memory_zeroed(profile->run_count + 1, sizeof(*measurements));
	double *made = memory_zeroed(suite->benchmark_count + 1, sizeof(*made));
	size_t count;

	count = collect_measurements(profile, measurements);
	for (size_t i = 0; i < suite->benchmark_count; i++)
		made[i] = suite_find_spread(measurements, count, diff_suite_string(suite, suite->benchmarks[i].uri));
	*spreads = made;
}

/* ---- Sentences ---- */

void suite_words_verdict(const struct diff_suite *suite, struct buffer *out)
{
	const char *text = diff_suite_string(suite, suite->verdict_text);

	buffer_printf(out, "%s%s%s.", summary_verdict_word(suite->verdict), text[0] ? ": " : "", text);
}

static const char *suite_plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Returns the least number of executions of base that a benchmark is compared in. */
static size_t fewest_executions(const struct diff_suite *suite)
{
	size_t fewest = SIZE_MAX;

	for (size_t i = 0; i < suite->benchmark_count; i++)
		if (suite->benchmarks[i].presence == DIFF_IN_BOTH &&
			suite->benchmarks[i].executions[DIFF_BASE] < fewest)
			fewest = suite->benchmarks[i].executions[DIFF_BASE];
	return fewest;
}

/* Appends how many executions there are. */
static void append_executions(const struct diff_suite *suite, struct buffer *out)
{
	size_t base = suite->executions[DIFF_BASE], head = suite->executions[DIFF_HEAD];

	buffer_printf(out, " Evidence: %zu execution%s of base and %zu of head%s", base, suite_plural(base), head,
		suite->options.diff.runs_in_pairs ? ", in turn" : "");
	buffer_append_byte(out, '.');
	if (suite->options.is_watched && fewest_executions(suite) < base)
		buffer_printf(out, " Benchmarks that were decided before are in %zu or more of them.",
			fewest_executions(suite));
}

static bool knows_iterations(const struct diff_suite *suite, const struct diff_benchmark *benchmark)
{
	bool base = suite->sides == DIFF_SIDES && benchmark->presence != DIFF_ADDED;

	return (!base || diff_benchmark_times(benchmark, DIFF_BASE) > 0) &&
	       (benchmark->presence == DIFF_REMOVED || diff_benchmark_times(benchmark, DIFF_HEAD) > 0);
}

/* Returns what totals are of. */
static const char *unit_words(const struct diff_suite *suite)
{
	size_t known = 0;

	for (size_t i = 0; i < suite->benchmark_count; i++)
		known += knows_iterations(suite, &suite->benchmarks[i]);
	return known == 0                        ? "an execution"
	       : known == suite->benchmark_count ? "an iteration"
						 : "an iteration, or of an execution where iterations are not known";
}

/* Returns what times are of. */
static const char *time_words(const struct diff_suite *suite)
{
	size_t by_rounds = 0;

	for (size_t i = 0; i < suite->benchmark_count; i++)
		by_rounds += suite->benchmarks[i].by_rounds;
	return by_rounds == 0                        ? "iteration"
	       : by_rounds == suite->benchmark_count ? "round"
						     : "iteration, or of one round where iterations are not known";
}

/* Appends what names are relative to, of two checkouts. */
static void append_roots(const struct diff_suite *suite, struct buffer *out)
{
	const char *base = diff_suite_string(suite, suite->roots[DIFF_BASE]),
		   *head = diff_suite_string(suite, suite->roots[DIFF_HEAD]);

	if (base[0] || head[0])
		buffer_printf(out, " Names are relative to the checkouts: base in %s, head in %s.",
			base[0] ? base : "its repository", head[0] ? head : "its repository");
}

void suite_words_evidence(const struct diff_suite *suite, struct buffer *out)
{
	double q = suite->options.diff.q;

	if (suite->is_measured)
		buffer_printf(out, "Times are of one %s, as the harness measured them.", time_words(suite));
	else
		buffer_printf(
			out, "Values are %s of %s.", diff_suite_string(suite, suite->metric_words), unit_words(suite));
	if (suite->sides != DIFF_SIDES)
		return;
	append_roots(suite, out);
	if (suite->is_exact) {
		buffer_append_string(out, " They are exact counts: nothing was sampled.");
		return;
	}
	append_executions(suite, out);
	buffer_printf(out,
		" At most %.4g %% of the proven differences are expected to be chance, over all benchmarks and functions. Unchanged: equal within %.3g %%; minor: a proven change, but not proven to be more than that; inconclusive: none of these.",
		q * 100, suite->options.precision * 100);
}

void suite_words_rest_add(struct suite_words_rest *rest, const struct diff_benchmark *benchmark)
{
	switch (benchmark->presence) {
	case DIFF_IN_BOTH:
		rest->verdicts[benchmark->verdict]++;
		return;
	case DIFF_ADDED:
		rest->added++;
		return;
	case DIFF_REMOVED:
		rest->removed++;
		return;
	}
}

size_t suite_words_rest_count(const struct suite_words_rest *rest)
{
	size_t count = rest->added + rest->removed;

	for (size_t i = 0; i < DIFF_VERDICT_COUNT; i++)
		count += rest->verdicts[i];
	return count;
}

static void append_kind(size_t count, const char *name, const char **separator, struct buffer *out)
{
	if (count == 0)
		return;
	buffer_printf(out, "%s%s %s", *separator, format_count((double)count).text, name);
	*separator = ", ";
}

void suite_words_rest(const struct suite_words_rest *rest, struct buffer *out)
{
	static const enum diff_verdict order[] = { DIFF_REGRESSED, DIFF_IMPROVED, DIFF_INCONCLUSIVE, DIFF_MINOR };
	const char *separator = "";

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		append_kind(rest->verdicts[order[i]], diff_verdict_name(order[i]), &separator, out);
	append_kind(rest->added, "added", &separator, out);
	append_kind(rest->removed, "removed", &separator, out);
	append_kind(rest->verdicts[DIFF_UNCHANGED], diff_verdict_name(DIFF_UNCHANGED), &separator, out);
}

/* ---- What explains a benchmark ---- */

/* Merges the lists of increases and decreases by size, those that are proven first. */
static void merge_changes(const struct diff *diff, const struct summary_list *more, const struct summary_list *less,
	size_t limit, struct summary_list *list)
{
	size_t i = 0, j = 0;

	while (list->count < limit && (i < more->count || j < less->count)) {
		const struct diff_estimate *up = i < more->count ? &diff->functions[more->ids[i]].self : NULL;
		const struct diff_estimate *down = j < less->count ? &diff->functions[less->ids[j]].self : NULL;
		bool up_proven = up && summary_proven(up->state), down_proven = down && summary_proven(down->state);
		bool takes_up = up && (!down || (up_proven != down_proven ? up_proven : up->delta >= -down->delta));

		/* Chance is not listed behind what is proven. */
		if (list->count > 0 && !up_proven && !down_proven &&
			summary_proven(diff->functions[list->ids[0]].self.state))
			break;
		list->ids[list->count++] = takes_up ? more->ids[i++] : less->ids[j++];
	}
}

uint32_t suite_words_because(const struct render_suite *input, const struct render_part *part)
{
	return part && part->benchmark != DIFF_ALL_BENCHMARKS
		       ? diff_suite_because(input->suite, part->benchmark, part->input.diff)
		       : PROFILE_NONE;
}

/* Puts what explains the change with all that it calls before what is in it, which chance may explain as well. */
static void put_first(struct summary_list *list, uint32_t function, size_t limit)
{
	size_t kept = list->count < limit ? list->count : limit - 1;

	for (size_t i = 0; i < kept; i++)
		if (list->ids[i] == function)
			kept = i;
	memmove(list->ids + 1, list->ids, kept * sizeof(*list->ids));
	list->ids[0] = function;
	list->count = kept + 1;
}

void suite_words_functions(
	const struct render_suite *input, const struct render_part *part, size_t limit, struct summary_list *list)
{
	const struct diff *diff = part->input.diff;
	uint32_t because = suite_words_because(input, part);
	CLEANUP(summary_list_deinit) struct summary_list more = { 0 }, less = { 0 };

	if (diff->sides != DIFF_SIDES) {
		summary_list(diff, SUMMARY_SELF, limit, list);
		return;
	}
	summary_list(diff, SUMMARY_SELF_INCREASES, limit, &more);
	summary_list(diff, SUMMARY_SELF_DECREASES, limit, &less);
	*list = (struct summary_list){ .ids = memory_zeroed(more.count + less.count + 2, sizeof(*list->ids)) };
	merge_changes(diff, &more, &less, limit, list);
	if (because != PROFILE_NONE && !summary_proven(diff->functions[because].self.state))
		put_first(list, because, limit);
}

void suite_words_place(const struct render_part *part, uint32_t function, struct buffer *out)
{
	const struct diff *diff = part->input.diff;
	size_t before = out->size;

	diff_append_place(diff, part->input.profiles, function, out);
	if (out->size == before)
		buffer_append_string(out, format_module(diff_string(diff, diff->functions[function].shown_in)));
}

bool suite_words_has_remark(const struct diff_suite *suite, const struct diff_benchmark *b)
{
	return suite->sides == DIFF_SIDES && b->presence == DIFF_IN_BOTH &&
	       (b->verdict == DIFF_PLACEMENT || b->is_contradicted || b->is_beyond_placement ||
		       b->more_executions > 0 || (b->code == DIFF_CODE_SAME && b->verdict != DIFF_UNCHANGED));
}

void suite_words_remark(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	if (!suite_words_has_remark(suite, b))
		return;
	if (b->verdict == DIFF_PLACEMENT)
		buffer_append_string(out, "same code; --layouts 8 would tell");
	else if (b->is_contradicted)
		buffer_printf(out, "by CPU time %+.1f %%: it waited", b->cpu_change * 100 + 0.0);
	else if (b->is_beyond_placement)
		buffer_append_string(out, "same code: its data or its work differ");
	else if (b->code == DIFF_CODE_SAME)
		buffer_append_string(out, "no changed code ran here");
	if (b->more_executions > 0)
		buffer_printf(out, "%sabout %llu more executions would decide this",
			b->code == DIFF_CODE_SAME ? "; " : "", (unsigned long long)b->more_executions);
}

void suite_words_where(const struct render_suite *input, uint32_t benchmark, struct buffer *out)
{
	const struct render_part *part = render_part_of(input, benchmark);
	uint32_t function = suite_words_because(input, part);

	buffer_init(out, MAX_PLACE_BYTES);
	if (function != PROFILE_NONE)
		suite_words_place(part, function, out);
	else
		suite_words_remark(input->suite, &input->suite->benchmarks[benchmark], out);
}

/* Returns the innermost function of the user's own above a node; PROFILE_NONE: there is none. */
static uint32_t user_function_above(const struct diff *diff, uint32_t node)
{
	for (uint32_t at = diff->nodes[node].parent; at != 0 && at != PROFILE_NONE; at = diff->nodes[at].parent) {
		uint32_t function = diff->nodes[at].function;

		if (function != PROFILE_NONE && diff->functions[function].origin == PROFILE_ORIGIN_USER)
			return function;
	}
	return PROFILE_NONE;
}

/* Appends ", called from parse," to a function that is not the user's own. */
static void suite_append_caller(const struct render_part *part, uint32_t function, struct buffer *words)
{
	const struct diff *diff = part->input.diff;
	CLEANUP(cleanup_free) double *sums = NULL;
	double sign = diff->functions[function].self.delta < 0 ? -1 : 1;
	uint32_t caller = PROFILE_NONE;

	if (diff->functions[function].origin == PROFILE_ORIGIN_USER)
		return;
	sums = memory_zeroed(diff->function_count, sizeof(*sums));
	if (!sums) {
		words->failed = true;
		return;
	}
	for (uint32_t i = 1; i < diff->node_count; i++) {
		double base = diff->sides == DIFF_SIDES ? diff->node_self[DIFF_BASE][i] : 0;
		uint32_t above;

		if (diff->nodes[i].function != function || (above = user_function_above(diff, i)) == PROFILE_NONE)
			continue;
		sums[above] += sign * (diff->node_self[DIFF_HEAD][i] * diff->scale.factor - base);
	}
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (sums[i] > 0 && (caller == PROFILE_NONE || sums[i] > sums[caller]))
			caller = i;
	if (caller == PROFILE_NONE)
		return;
	buffer_append_string(words, ", called from ");
	document_name(words, diff_string(diff, diff->functions[caller].shown));
	buffer_append_byte(words, ',');
}

/* Returns how many iterations, or executions where these are not known, the values of a part are of. */
static double count_units(const struct diff_suite *suite, const struct render_part *part, const char **unit)
{
	const struct diff_benchmark *benchmark;
	enum diff_side side;

	*unit = "in all";
	if (part->benchmark == DIFF_ALL_BENCHMARKS)
		return 1;
	benchmark = &suite->benchmarks[part->benchmark];
	/* What both sides have is scaled to base. */
	side = suite->sides == DIFF_SIDES && benchmark->presence != DIFF_ADDED ? DIFF_BASE : DIFF_HEAD;
	*unit = benchmark->by_rounds                 ? "per round"
		: knows_iterations(suite, benchmark) ? "per iteration"
						     : "per execution";
	if (knows_iterations(suite, benchmark))
		return (double)diff_benchmark_times(benchmark, side);
	return benchmark->executions[side] > 0 ? (double)benchmark->executions[side] : 1;
}

/* Appends "takes 1.21 times as long". */
static void suite_append_ratio(const struct diff *diff, const struct diff_estimate *e, struct buffer *out)
{
	double ratio = e->head / e->base;

	if (!(e->base > 0))
		buffer_append_string(out, "is new");
	else if (!(e->head > 0))
		buffer_append_string(out, "is gone");
	else
		buffer_printf(out, ratio < 99.95 ? "takes %.2f times as " : "takes %.0f times as ", ratio);
	if (!(e->base > 0) || !(e->head > 0))
		return;
	if (diff->is_duration)
		buffer_append_string(out, "long");
	else
		buffer_printf(out, "%s %s", diff->is_counted ? "many" : "much", diff_string(diff, diff->metric_words));
}

void suite_words_function(
	const struct render_suite *input, const struct render_part *part, uint32_t function, struct buffer *words)
{
	const struct diff *diff = part->input.diff;
	const struct diff_function *f = &diff->functions[function];
	const struct diff_estimate *e = diff->sides == DIFF_SIDES ? diff_suite_reason(f) : &f->self;
	const char *per, *unit = diff_string(diff, diff->unit);
	double units = count_units(input->suite, part, &per);

	document_name(words, diff_string(diff, f->shown));
	buffer_append_string(words, " (");
	suite_words_place(part, function, words);
	buffer_append_byte(words, ')');
	suite_append_caller(part, function, words);
	buffer_append_byte(words, ' ');
	if (diff->sides != DIFF_SIDES) {
		buffer_printf(words, "takes %s %s, %s", format_precise(e->head / units, unit).text, per,
			format_percent(format_share(e->head, diff->total.head)).text);
		return;
	}
	if (e != &f->self)
		buffer_append_string(words, "with all that it calls ");
	suite_append_ratio(diff, e, words);
	buffer_printf(words, ": %s %s", format_precise_delta(e->delta / units, unit).text, per);
	if (!summary_proven(e->state))
		buffer_append_string(words, " (not proven)");
	else if (e == &f->self && summary_same_code(f, e->state))
		buffer_append_string(words, "; its machine code is the same");
}
