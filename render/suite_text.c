/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a comparison of suites as text: the table of benchmarks, then the functions behind changes. */
#include "render/suite_words.h"
#include "render/table.h"
#include "render/text_writer.h"

#include <math.h>
#include <string.h>

enum {
	MOST_ROWS = 100000,
	MOST_FUNCTIONS = 5,
	MOST_PARTS = 5,
	NAME_COLUMNS = 60,
	TITLE_SPARE = 2,
	/* On a terminal benchmarks that differ may have this many times the rows of a list. */
	NOTABLE_FACTOR = 5
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

static bool add_compared(const struct render_suite *input, uint32_t number, struct table *table, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *b = &suite->benchmarks[number];
	CLEANUP(buffer_deinit) struct buffer where = { 0 };
	struct format_text base = suite_words_value(suite, b->value[DIFF_BASE]),
			   head = suite_words_value(suite, b->value[DIFF_HEAD]), change = suite_words_change(b),
			   interval = suite_words_interval(suite, b);
	char verdict[24];
	const char *cells[] = { suite_words_name(suite, b), base.text, head.text, change.text, interval.text, verdict,
		NULL };

	if (!suite_words_where(input, number, &where, err))
		return false;
	cells[sizeof(cells) / sizeof(cells[0]) - 1] = where.data;
	snprintf(verdict, sizeof(verdict), "%s%s", diff_benchmark_verdict_name(b),
		suite_words_short_of_proof(b) ? "*" : "");

	table_add(table, cells, benchmark_style(b));
	return true;
}

/*
 * Returns whether there is room for a benchmark: files and programs get all. On a terminal, those that are unchanged
 * are counted where there are many and others differ.
 */
static bool suite_text_has_room(const struct text_writer *w, const struct diff_suite *suite, size_t number, size_t rows)
{
	bool is_notable = suite->sides == DIFF_SIDES && suite_words_is_notable(&suite->benchmarks[number]);

	if (w->is_whole)
		return rows < MOST_ROWS;
	if (is_notable)
		return rows < NOTABLE_FACTOR * w->rows;
	if (suite->benchmark_count > w->rows && suite->verdicts[DIFF_UNCHANGED] < suite->benchmark_count)
		return suite->sides != DIFF_SIDES && rows < w->rows;
	return rows < w->rows;
}

static void suite_text_write_rest(const struct text_writer *w, const struct suite_words_rest *rest, bool compared)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (suite_words_rest_count(rest) == 0)
		return;
	buffer_init(&text, 4096);
	if (compared)
		suite_words_rest(rest, &text);
	else
		buffer_printf(&text, "%s more", format_count((double)suite_words_rest_count(rest)).text);
	if (text.failed)
		w->out->failed = true;
	else
		buffer_printf(w->out, "  and %s\n", text.data);
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

static bool write_comparison(const struct text_writer *w, const struct render_suite *input, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	static const struct table_column columns[] = {
		{ .title = "benchmark", .left = true, .flexible = true },
		{ .title = "base", .drop = 1 },
		{ .title = "head", .drop = 1 },
		{ .title = "change" },
		{ .title = "95 % interval", .drop = 3 },
		{ .title = "verdict", .left = true },
		{ .title = "where", .left = true, .drop = 2 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	struct suite_words_rest rest = { 0 };
	bool short_of_proof = false;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]) - !any_place(input));
	for (uint32_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];

		if (suite_text_has_room(w, suite, i, table.row_count)) {
			if (!add_compared(input, i, &table, err))
				return false;
			short_of_proof = short_of_proof || suite_words_short_of_proof(benchmark);
		} else {
			suite_words_rest_add(&rest, benchmark);
		}
	}
	text_heading(w, "Benchmarks");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	suite_text_write_rest(w, &rest, true);
	if (short_of_proof)
		text_mark(w, "*", suite_words_of_short_proof);
	return true;
}

static void add_single(
	const struct diff_suite *suite, const struct diff_benchmark *b, double spread, struct table *table)
{
	struct format_text value = suite_words_value(suite, b->value[DIFF_HEAD]),
			   rounds = format_count((double)b->rounds[DIFF_HEAD]),
			   executions = format_count((double)b->executions[DIFF_HEAD]),
			   percent = format_percent(spread);
	const char *cells[] = { suite_words_name(suite, b), value.text, b->rounds[DIFF_HEAD] ? rounds.text : "",
		executions.text, isfinite(spread) ? percent.text : "" };

	table_add(table, cells, TABLE_PLAIN);
}

static bool write_benchmarks(const struct text_writer *w, const struct diff_suite *suite, struct error *err)
{
	const struct table_column columns[] = {
		{ .title = "benchmark", .left = true, .flexible = true },
		{ .title = suite->is_measured ? "time" : "value" },
		{ .title = "rounds", .drop = 1 },
		{ .title = "executions", .drop = 2 },
		{ .title = "spread of rounds", .drop = 3 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(cleanup_free) double *spreads = NULL;
	struct suite_words_rest rest = { 0 };

	if (!suite_words_spreads(suite, DIFF_HEAD, &spreads, err))
		return false;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		if (suite_text_has_room(w, suite, i, table.row_count))
			add_single(suite, &suite->benchmarks[i], spreads[i], &table);
		else
			suite_words_rest_add(&rest, &suite->benchmarks[i]);
	}
	text_heading(w, "Benchmarks");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	suite_text_write_rest(w, &rest, false);
	return true;
}

/* ---- What explains a benchmark ---- */

/* Ends the mention of a function: ") " or "), called from parse_number, ". */
static bool append_caller(const struct render_part *part, uint32_t function, struct buffer *text, struct error *err)
{
	const struct diff *diff = part->input.diff;
	uint32_t caller;

	if (!suite_words_caller(part, function, &caller, err))
		return false;
	buffer_append_string(text, ")");
	if (caller != PROFILE_NONE) {
		buffer_append_string(text, ", called from ");
		profile_shorten_name(diff_string(diff, diff->functions[caller].shown), NAME_COLUMNS, text);
		buffer_append_byte(text, ',');
	}
	buffer_append_byte(text, ' ');
	return true;
}

static bool write_function(const struct text_writer *w, const struct render_suite *input,
	const struct render_part *part, uint32_t function, struct error *err)
{
	const struct diff *diff = part->input.diff;
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	buffer_append_string(&text, "- ");
	profile_shorten_name(diff_string(diff, diff->functions[function].shown), NAME_COLUMNS, &text);
	buffer_append_string(&text, " (");
	if (!suite_words_place(part, function, &text, err))
		return false;
	if (!append_caller(part, function, &text, err))
		return false;
	suite_words_function(input, part, function, &text);
	if (!buffer_ok(&text, err))
		return false;
	text_paragraph(w, text.data, 2);
	return true;
}

static bool write_part(const struct text_writer *w, const struct render_suite *input, const struct render_part *part,
	struct error *err)
{
	const struct diff_benchmark *benchmark = &input->suite->benchmarks[part->benchmark];
	const struct diff *diff = part->input.diff;
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	if (!suite_words_functions(input, part, MOST_FUNCTIONS, &list, err))
		return false;
	buffer_init(&title, (size_t)1 << 20);
	unicode_append_middle(&title, suite_words_name(input->suite, benchmark), w->width - TITLE_SPARE);
	if (benchmark->presence == DIFF_IN_BOTH)
		buffer_printf(&title, ", %s", suite_words_change(benchmark).text);
	if (diff->sides == DIFF_SIDES &&
		(list.count == 0 || !summary_proven(diff_suite_reason(&diff->functions[list.ids[0]])->state)))
		buffer_append_string(&title, ": no function of it is proven to have changed");
	if (!buffer_ok(&title, err))
		return false;
	text_heading(w, title.data);
	for (size_t i = 0; i < list.count; i++)
		if (!write_function(w, input, part, list.ids[i], err))
			return false;
	return true;
}

/* On a terminal the table stays in sight: it has the first few. */
static bool suite_text_write_parts(const struct text_writer *w, const struct render_suite *input, struct error *err)
{
	size_t most = w->is_whole ? SIZE_MAX : MOST_PARTS, written = 0, left_out = 0;

	for (size_t i = 0; i < input->part_count; i++) {
		if (input->parts[i].benchmark == DIFF_ALL_BENCHMARKS)
			continue;
		if (written == most) {
			left_out++;
			continue;
		}
		if (!write_part(w, input, &input->parts[i], err))
			return false;
		written++;
	}
	buffer_append_byte(w->out, '\n');
	if (left_out > 0)
		buffer_printf(w->out, "The functions of %zu more benchmark%s: --text FILE.\n", left_out,
			left_out == 1 ? "" : "s");
	text_paragraph(w, "All functions of one benchmark: --benchmark NAME.", 0);
	return true;
}

/* ---- Sections ---- */

static void write_sentences(const struct text_writer *w, const struct diff_suite *suite,
	void (*say)(const struct diff_suite *, struct buffer *))
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	say(suite, &text);
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, 0);
}

/* Which recording a side is. */
static void suite_text_write_side(
	const struct text_writer *w, const struct render_suite *input, enum diff_side side, const char *label)
{
	const struct profile *profile = input->suite->profiles[side];
	const char *command = profile_string(profile, profile->facts.command), *name = input->names[side];
	size_t executions = input->suite->executions[side];
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	buffer_printf(&text, "%s%s%s%s%s%zu execution%s, ", label, command, command[0] ? ", " : "", name ? name : "",
		name && name[0] ? ", " : "", executions, executions == 1 ? "" : "s");
	summary_quality(profile, &text);
	summary_labels(profile, ". Labels: ", &text);
	buffer_append_byte(&text, '.');
	buffer_append(&text, "", 0);
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, 6);
}

/* They stand with the first part, whatever they are of. */
static void suite_text_write_commits(const struct text_writer *w, const struct render_suite *input)
{
	struct text_writer of = *w;

	if (input->part_count == 0)
		return;
	text_writer_take(&of, &input->parts[0].input);
	text_commits(&of);
}

static bool write_two_sided(const struct text_writer *w, const struct render_suite *input, struct error *err)
{
	const struct diff_suite *suite = input->suite;

	buffer_append_string(w->out, table_style_on(TABLE_BOLD, w->colour));
	write_sentences(w, suite, suite_words_verdict);
	buffer_append_string(w->out, table_style_off(TABLE_BOLD, w->colour));
	if (suite->gate_failed)
		text_paragraph(w, "A limit given with --fail-on is exceeded.", 0);
	suite_text_write_commits(w, input);
	write_sentences(w, suite, suite_words_evidence);
	suite_text_write_side(w, input, DIFF_BASE, "base: ");
	suite_text_write_side(w, input, DIFF_HEAD, "head: ");
	if (!text_warnings(w, suite->strings, suite->warnings, suite->warning_count, err) ||
		!write_comparison(w, input, err))
		return false;
	return suite_text_write_parts(w, input, err);
}

static bool suite_text_write_one_sided(struct text_writer *w, const struct render_suite *input, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	const struct render_part *all = render_part_of(input, DIFF_ALL_BENCHMARKS);

	suite_text_write_side(w, input, DIFF_HEAD, "");
	write_sentences(w, suite, suite_words_evidence);
	if (!text_warnings(w, suite->strings, suite->warnings, suite->warning_count, err) ||
		!write_benchmarks(w, suite, err))
		return false;
	if (!all)
		return true;
	text_writer_take(w, &all->input);
	return text_top(w, SUMMARY_SELF, err);
}

bool render_suite_text(const struct render_suite *input, const struct render_text_options *options, struct buffer *out,
	struct error *err)
{
	struct text_writer w = text_writer_make(options, out);
	bool done = input->suite->sides == DIFF_SIDES ? write_two_sided(&w, input, err)
						      : suite_text_write_one_sided(&w, input, err);

	return done && buffer_ok(out, err);
}
