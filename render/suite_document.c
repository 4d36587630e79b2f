/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a comparison of suites as text or Markdown: the table of benchmarks, then the functions behind changes. Of a
 * comment, each section ends at its share, so that there is something of every one however many benchmarks there are.
 */
#include "render/lines.h"
#include "render/parts.h"
#include "render/suite_words.h"

#include <math.h>

enum {
	MOST_ROWS = 100000,
	MOST_FUNCTIONS = 5,
	MOST_PARTS = 5,
	TITLE_SPARE = 2,
	/* On a terminal benchmarks that differ may have this many times the rows of a list. */
	NOTABLE_FACTOR = 5,
	/* Of a comment: the bytes behind which no row, or no explained benchmark, is begun. */
	NOTABLE_END = 24000,
	UNCHANGED_END = 36000,
	EXPLAINED_END = 56000,
};

static enum table_style benchmark_style(const struct diff_benchmark *benchmark)
{
	if (benchmark->presence != DIFF_IN_BOTH)
		return TABLE_PLAIN;
	switch (benchmark->verdict) {
	case DIFF_REGRESSED:
		return TABLE_RED;
	case DIFF_IMPROVED:
		return TABLE_BLUE;
	case DIFF_INCONCLUSIVE:
	case DIFF_UNCHANGED:
		return TABLE_DIM;
	case DIFF_MIXED:
	case DIFF_MINOR:
	case DIFF_MACHINE:
	case DIFF_PLACEMENT:
		return TABLE_PLAIN;
	}
	return TABLE_PLAIN;
}

/* ---- Tables of benchmarks ---- */

static void add_compared(const struct render_suite *input, uint32_t number, struct table *table)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *b = &suite->benchmarks[number];
	CLEANUP(buffer_deinit) struct buffer where = { 0 };
	char verdict[24];

	suite_words_where(input, number, &where);
	table->failed |= where.failed;
	snprintf(verdict, sizeof(verdict), "%s%s", diff_benchmark_verdict_name(b),
		suite_words_short_of_proof(b) ? "*" : "");
	TABLE_ADD(table, benchmark_style(b), suite_words_name(suite, b),
		suite_words_value(suite, b->value[DIFF_BASE]).text, suite_words_value(suite, b->value[DIFF_HEAD]).text,
		suite_words_change(b).text, suite_words_interval(suite, b).text, verdict, where.data);
}

/*
 * Returns whether there is room for a benchmark: files and programs get all. On a terminal, those that are unchanged
 * are counted where there are many and others differ.
 */
static bool has_room(const struct document *d, const struct diff_suite *suite, size_t number, size_t rows)
{
	bool is_notable = suite->sides == DIFF_SIDES && suite_words_is_notable(&suite->benchmarks[number]);

	if (d->is_whole || !document_is_text(d))
		return rows < MOST_ROWS;
	if (is_notable)
		return rows < NOTABLE_FACTOR * d->rows;
	if (suite->benchmark_count > d->rows && suite->verdicts[DIFF_UNCHANGED] < suite->benchmark_count)
		return suite->sides != DIFF_SIDES && rows < d->rows;
	return rows < d->rows;
}

static void put_rest(struct document *d, const struct suite_words_rest *rest, bool compared)
{
	if (suite_words_rest_count(rest) == 0)
		return;
	if (compared)
		suite_words_rest(rest, &d->words);
	else
		buffer_printf(&d->words, "%s more", format_count((double)suite_words_rest_count(rest)).text);
	document_put(d, DOCUMENT_MORE, "");
}

/* Returns whether a benchmark's change has a place, or there is something to say of it. */
static bool any_place(const struct render_suite *input)
{
	for (size_t i = 0; i < input->part_count; i++)
		if (suite_words_because(input, &input->parts[i]) != PROFILE_NONE)
			return true;
	for (size_t i = 0; i < input->suite->benchmark_count; i++)
		if (suite_words_has_remark(input->suite, &input->suite->benchmarks[i]))
			return true;
	return false;
}

/* Which benchmarks a table has. */
enum suite_rows { SUITE_ALL, SUITE_NOTABLE, SUITE_UNCHANGED };

static bool is_wanted(const struct diff_benchmark *benchmark, enum suite_rows rows)
{
	return rows == SUITE_ALL || suite_words_is_notable(benchmark) == (rows == SUITE_NOTABLE);
}

static void put_comparison(struct document *d, const struct render_suite *input, enum suite_rows rows, size_t end)
{
	const struct diff_suite *suite = input->suite;
	const struct table_column columns[] = {
		{ .title = "benchmark", .left = true, .flexible = true, .is_code = true },
		{ .title = "base", .drop = 1 },
		{ .title = "head", .drop = 1 },
		{ .title = "change", .is_bold = true },
		{ .title = "95 % interval", .drop = 3 },
		{ .title = "verdict", .left = true },
		{ .title = "where",
			.left = true,
			.is_text = true,
			.drop = 2,
			.hidden = document_is_text(d) && !any_place(input) },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	struct suite_words_rest rest = { 0 };
	bool short_of_proof = false;
	size_t written, row = 0;

	for (uint32_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		if (!is_wanted(benchmark, rows))
			continue;
		if (has_room(d, suite, i, table.row_count)) {
			add_compared(input, i, &table);
			short_of_proof = short_of_proof || suite_words_short_of_proof(benchmark);
		} else {
			suite_words_rest_add(&rest, benchmark);
		}
	}
	d->end = end;
	written = document_table(d, &table);
	d->end = DOCUMENT_MAX_BYTES;
	for (size_t i = 0; written < table.row_count && i < suite->benchmark_count; i++)
		if (is_wanted(&suite->benchmarks[i], rows) && row++ >= written)
			suite_words_rest_add(&rest, &suite->benchmarks[i]);
	put_rest(d, &rest, true);
	if (short_of_proof) {
		buffer_append_string(&d->words, "* ");
		document_put(d, DOCUMENT_NOTE, suite_words_of_short_proof);
	}
}

static void put_unchanged(struct document *d, const struct render_suite *input)
{
	size_t count = input->suite->verdicts[DIFF_UNCHANGED];

	if (count == 0)
		return;
	buffer_printf(
		&d->words, "%s benchmark%s unchanged", format_count((double)count).text, count == 1 ? " is" : "s are");
	document_put(d, DOCUMENT_FOLD, "");
	put_comparison(d, input, SUITE_UNCHANGED, UNCHANGED_END);
	document_put(d, DOCUMENT_FOLD_END, "");
	document_put(d, DOCUMENT_GAP, "");
}

static void put_benchmarks(struct document *d, const struct diff_suite *suite)
{
	const struct table_column columns[] = {
		{ .title = "benchmark", .left = true, .flexible = true },
		{ .title = suite->is_measured ? "time" : "value" },
		{ .title = "rounds", .drop = 1 },
		{ .title = "executions", .drop = 2 },
		{ .title = "spread of rounds", .drop = 3 },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	CLEANUP(cleanup_free) double *spreads = NULL;
	struct suite_words_rest rest = { 0 };

	suite_words_spreads(suite, DIFF_HEAD, &spreads);
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *b = &suite->benchmarks[i];

		if (has_room(d, suite, i, table.row_count))
			TABLE_ADD(&table, TABLE_PLAIN, suite_words_name(suite, b),
				suite_words_value(suite, b->value[DIFF_HEAD]).text,
				b->rounds[DIFF_HEAD] ? format_count((double)b->rounds[DIFF_HEAD]).text : "",
				format_count((double)b->executions[DIFF_HEAD]).text,
				isfinite(spreads[i]) ? format_percent(spreads[i]).text : "");
		else
			suite_words_rest_add(&rest, b);
	}
	buffer_append_string(&d->words, "Benchmarks");
	document_table(d, &table);
	put_rest(d, &rest, false);
}

/* ---- What explains a benchmark ---- */

/* On a terminal the title is one line. */
static void append_title(struct document *d, const struct diff_suite *suite, const struct diff_benchmark *b)
{
	if (document_is_text(d))
		unicode_append_middle(&d->words, suite_words_name(suite, b), d->width - TITLE_SPARE);
	else
		buffer_printf(&d->words, DOCUMENT_BOLD DOCUMENT_CODE "%s" DOCUMENT_END DOCUMENT_BOLD,
			diff_suite_string(suite, b->uri));
	if (b->presence == DIFF_IN_BOTH)
		buffer_printf(&d->words, ", %s", suite_words_change(b).text);
}

static void put_part(struct document *d, const struct render_suite *input, const struct render_part *part)
{
	const struct diff *diff = part->input.diff;
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	suite_words_functions(input, part, MOST_FUNCTIONS, &list);
	append_title(d, input->suite, &input->suite->benchmarks[part->benchmark]);
	if (diff->sides == DIFF_SIDES &&
		(list.count == 0 || !summary_proven(diff_suite_reason(&diff->functions[list.ids[0]])->state)))
		buffer_append_string(&d->words, ": no function of it is proven to have changed");
	document_put(d, document_is_text(d) ? DOCUMENT_HEADING : DOCUMENT_PARAGRAPH, "");
	for (size_t i = 0; i < list.count; i++) {
		suite_words_function(input, part, list.ids[i], &d->words);
		document_put(d, DOCUMENT_ITEM, "");
	}
	document_put(d, DOCUMENT_GAP, "");
}

/* On a terminal the table stays in sight: it has the first few. */
static void put_parts(struct document *d, const struct render_suite *input)
{
	bool is_text = document_is_text(d);
	size_t most = d->is_whole || !is_text ? SIZE_MAX : MOST_PARTS, written = 0, left_out = 0;

	for (size_t i = 0; i < input->part_count; i++) {
		if (input->parts[i].benchmark == DIFF_ALL_BENCHMARKS)
			continue;
		if (written == most || (!is_text && d->out->size - d->start > EXPLAINED_END)) {
			left_out++;
			continue;
		}
		put_part(d, input, &input->parts[i]);
		written++;
	}
	d->left_out = d->left_out || left_out > 0;
	if (!is_text)
		return;
	buffer_append_byte(d->out, '\n');
	if (left_out > 0)
		buffer_printf(&d->words, "The functions of %zu more benchmark%s: --text FILE.", left_out,
			left_out == 1 ? "" : "s");
	document_put(d, DOCUMENT_PARAGRAPH, "");
	document_put(d, DOCUMENT_PARAGRAPH, "All functions of one benchmark: --benchmark NAME.");
}

/* The lines of the first benchmark whose functions have lines that are proven to differ. */
static void put_lines_of_parts(struct document *d, const struct render_suite *input)
{
	const struct listing_function *found[1];

	for (size_t i = 0; i < input->part_count; i++) {
		const struct render_part *part = &input->parts[i];

		if (part->benchmark == DIFF_ALL_BENCHMARKS || part->input.diff->sides != DIFF_SIDES ||
			lines_proven(&part->input, found, 1) == 0)
			continue;
		document_take(d, &part->input);
		lines_markdown(d);
		return;
	}
}

/* ---- Sections ---- */

static void put_suite_side(struct document *d, const struct render_suite *input, enum diff_side side, const char *label)
{
	const struct profile *profile = input->suite->profiles[side];

	parts_side(d, &(struct parts_recording){ label, profile_string(profile, profile->facts.command),
			      input->names[side], profile, input->suite->executions[side] });
}

/* They stand with the first part, whatever they are of. */
static void put_suite_commits(struct document *d, const struct render_suite *input)
{
	if (input->part_count == 0)
		return;
	d->input = &input->parts[0].input;
	parts_commits(d);
}

static void put_suite_basis(struct document *d, const struct render_suite *input)
{
	bool is_text = document_is_text(d);

	if (!is_text)
		document_put(d, DOCUMENT_FOLD, "How this was measured");
	suite_words_evidence(input->suite, &d->words);
	document_put(d, is_text ? DOCUMENT_PARAGRAPH : DOCUMENT_ITEM, "");
	put_suite_side(d, input, DIFF_BASE, "base: ");
	put_suite_side(d, input, DIFF_HEAD, "head: ");
	document_put(d, DOCUMENT_GAP, "");
	document_put(d, DOCUMENT_FOLD_END, "");
}

static void put_suite_warnings(struct document *d, const struct diff_suite *suite)
{
	parts_warnings(d, suite->strings, suite->warnings, suite->warning_count);
}

static void put_compared_suite(struct document *d, const struct render_suite *input)
{
	suite_words_verdict(input->suite, &d->words);
	parts_verdict(d, input->suite->gate_failed);
	put_suite_commits(d, input);
	if (document_is_text(d)) {
		put_suite_basis(d, input);
		put_suite_warnings(d, input->suite);
		buffer_append_string(&d->words, "Benchmarks");
		put_comparison(d, input, SUITE_ALL, DOCUMENT_MAX_BYTES);
		put_parts(d, input);
		return;
	}
	put_suite_warnings(d, input->suite);
	put_comparison(d, input, SUITE_NOTABLE, NOTABLE_END);
	put_unchanged(d, input);
	put_parts(d, input);
	put_lines_of_parts(d, input);
	put_suite_basis(d, input);
}

static void put_single_suite(struct document *d, const struct render_suite *input)
{
	const struct render_part *all = render_part_of(input, DIFF_ALL_BENCHMARKS);

	put_suite_side(d, input, DIFF_HEAD, "");
	suite_words_evidence(input->suite, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
	put_suite_warnings(d, input->suite);
	put_benchmarks(d, input->suite);
	if (all) {
		document_take(d, &all->input);
		parts_top(d, SUMMARY_SELF);
	}
}

bool render_suite_text(const struct render_suite *input, const struct render_text_options *options, struct buffer *out,
	struct error *err)
{
	CLEANUP(document_deinit) struct document d = document_text(options, out);

	if (input->suite->sides == DIFF_SIDES)
		put_compared_suite(&d, input);
	else
		put_single_suite(&d, input);
	return document_finish(&d, err);
}

bool render_suite_markdown(const struct render_suite *input, struct buffer *out, struct error *err)
{
	CLEANUP(document_deinit) struct document d = { 0 };

	if (input->suite->sides != DIFF_SIDES)
		return error_set(err, ERROR_USAGE,
			"Markdown is written for a diff of two profiles; for one, use --text or --json");
	d = document_markdown("kelvin-diff", out);
	put_compared_suite(&d, input);
	return document_finish(&d, err);
}
