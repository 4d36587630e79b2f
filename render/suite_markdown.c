/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a comparison of suites as a comment of a pull request. What differs is written first, then what is unchanged,
 * then what explains the differences; each section ends at its share of the comment, so that there is something of
 * every one however many benchmarks there are.
 */
#include "render/lines.h"
#include "render/markdown_writer.h"
#include "render/suite_words.h"

#include <string.h>

enum {
	NOTABLE_END = 24000,
	UNCHANGED_END = 36000,
	EXPLAINED_END = 60000,
	MOST_FUNCTIONS = 5,
	NAME_BYTES = 200,
};

static const char columns[] = "| benchmark | base | head | change | 95 % interval | verdict | where |\n"
			      "|:--|--:|--:|--:|--:|:--|:--|\n";

/* Appends a part if it ends before `end`; else remembers that something was left out. */
static bool suite_markdown_emit_until(struct markdown_writer *w, const struct buffer *part, size_t end, bool *left_out)
{
	if (!part->failed && w->out->size - w->start + part->size > end) {
		*left_out = true;
		return false;
	}
	markdown_emit(w, part);
	return true;
}

static bool append_benchmark(const struct render_suite *input, uint32_t number, struct buffer *row, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *b = &suite->benchmarks[number];
	CLEANUP(buffer_deinit) struct buffer where = { 0 };
	const char *mark = suite_words_is_notable(b) && b->presence == DIFF_IN_BOTH &&
					   (b->verdict == DIFF_REGRESSED || b->verdict == DIFF_IMPROVED)
				   ? "**"
				   : "";

	if (!suite_words_where(input, number, &where, err))
		return false;
	buffer_append_string(row, "| <code>");
	markdown_escape(row, suite_words_name(suite, b), NAME_BYTES);
	buffer_printf(row, "</code> | %s | %s | %s%s%s | %s | %s%s | ",
		suite_words_value(suite, b->value[DIFF_BASE]).text, suite_words_value(suite, b->value[DIFF_HEAD]).text,
		suite_words_change(b).text[0] ? mark : "", suite_words_change(b).text,
		suite_words_change(b).text[0] ? mark : "", suite_words_interval(suite, b).text,
		diff_benchmark_verdict_name(b), suite_words_short_of_proof(b) ? "\\*" : "");
	markdown_escape(row, where.data, NAME_BYTES);
	buffer_append_string(row, " |\n");
	return true;
}

/* Rows of the benchmarks of one kind; those without room are counted. */
static bool write_rows(struct markdown_writer *w, const struct render_suite *input, bool notable, size_t end,
	struct suite_words_rest *rest, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	bool full = false;

	for (uint32_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];
		CLEANUP(buffer_deinit) struct buffer row = { 0 };

		if (suite_words_is_notable(benchmark) != notable)
			continue;
		buffer_init(&row, MARKDOWN_MAX_BYTES);
		if (!append_benchmark(input, i, &row, err))
			return false;
		if (full || !suite_markdown_emit_until(w, &row, end, &full))
			suite_words_rest_add(rest, benchmark);
	}
	return true;
}

static void suite_markdown_write_rest(struct markdown_writer *w, const struct suite_words_rest *rest, bool *left_out)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (suite_words_rest_count(rest) == 0)
		return;
	*left_out = true;
	buffer_init(&text, 4096);
	suite_words_rest(rest, &text);
	markdown_emit_text(w, "\nand ", &text, "\n");
}

static bool write_notable(
	struct markdown_writer *w, const struct render_suite *input, bool *left_out, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	struct suite_words_rest rest = { 0 };
	size_t count = suite->benchmark_count - suite->verdicts[DIFF_UNCHANGED];

	if (count == 0)
		return true;
	markdown_emit_string(w, columns);
	if (!write_rows(w, input, true, NOTABLE_END, &rest, err))
		return false;
	suite_markdown_write_rest(w, &rest, left_out);
	markdown_emit_string(w, "\n");
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		if (!suite_words_short_of_proof(&suite->benchmarks[i]))
			continue;
		markdown_emit_string(w, "\\* ");
		markdown_emit_string(w, suite_words_of_short_proof);
		markdown_emit_string(w, "\n\n");
		break;
	}
	return true;
}

static bool write_unchanged(
	struct markdown_writer *w, const struct render_suite *input, bool *left_out, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	struct suite_words_rest rest = { 0 };
	size_t count = suite->verdicts[DIFF_UNCHANGED];
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	if (count == 0)
		return true;
	buffer_init(&title, 1024);
	buffer_printf(&title, "<details><summary>%s benchmark%s unchanged</summary>\n\n%s",
		format_count((double)count).text, count == 1 ? " is" : "s are", columns);
	markdown_emit(w, &title);
	if (!write_rows(w, input, false, UNCHANGED_END, &rest, err))
		return false;
	suite_markdown_write_rest(w, &rest, left_out);
	markdown_emit_string(w, "\n</details>\n\n");
	return true;
}

/* ---- What explains a benchmark ---- */

static bool suite_markdown_append_function(const struct render_suite *input, const struct render_part *part,
	uint32_t function, struct buffer *out, struct error *err)
{
	const struct diff *diff = part->input.diff;
	CLEANUP(buffer_deinit) struct buffer place = { 0 };
	uint32_t caller;

	buffer_init(&place, (size_t)1 << 20);
	if (!suite_words_place(part, function, &place, err) || !suite_words_caller(part, function, &caller, err))
		return false;
	buffer_append(&place, "", 0);
	if (!buffer_ok(&place, err))
		return false;
	buffer_append_string(out, "- ");
	markdown_name(out, diff_string(diff, diff->functions[function].shown));
	buffer_append_string(out, " (");
	markdown_escape(out, place.data, NAME_BYTES);
	buffer_append_string(out, ")");
	if (caller != PROFILE_NONE) {
		buffer_append_string(out, ", called from ");
		markdown_name(out, diff_string(diff, diff->functions[caller].shown));
		buffer_append_byte(out, ',');
	}
	buffer_append_byte(out, ' ');
	suite_words_function(input, part, function, out);
	buffer_append_byte(out, '\n');
	return true;
}

static void suite_markdown_append_title(
	const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	buffer_append_string(out, "**<code>");
	markdown_escape(out, diff_suite_string(suite, b->uri), NAME_BYTES);
	buffer_append_string(out, "</code>**");
	if (b->presence == DIFF_IN_BOTH)
		buffer_printf(out, ", %s", suite_words_change(b).text);
}

static bool suite_markdown_append_part(
	const struct render_suite *input, const struct render_part *part, struct buffer *out, struct error *err)
{
	const struct diff *diff = part->input.diff;
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!suite_words_functions(input, part, MOST_FUNCTIONS, &list, err))
		return false;
	suite_markdown_append_title(input->suite, &input->suite->benchmarks[part->benchmark], out);
	if (diff->sides == DIFF_SIDES &&
		(list.count == 0 || !summary_proven(diff_suite_reason(&diff->functions[list.ids[0]])->state)))
		buffer_append_string(out, ": no function of it is proven to have changed");
	buffer_append_string(out, "\n\n");
	for (size_t i = 0; i < list.count; i++)
		if (!suite_markdown_append_function(input, part, list.ids[i], out, err))
			return false;
	buffer_append_byte(out, '\n');
	return true;
}

static bool suite_markdown_write_parts(
	struct markdown_writer *w, const struct render_suite *input, bool *left_out, struct error *err)
{
	for (size_t i = 0; i < input->part_count; i++) {
		CLEANUP(buffer_deinit) struct buffer part = { 0 };

		if (input->parts[i].benchmark == DIFF_ALL_BENCHMARKS)
			continue;
		buffer_init(&part, (size_t)1 << 20);
		if (!suite_markdown_append_part(input, &input->parts[i], &part, err))
			return false;
		if (!suite_markdown_emit_until(w, &part, EXPLAINED_END, left_out))
			return true;
	}
	return true;
}

/* The lines of the first benchmark whose functions have lines that are proven to differ. */
static bool suite_markdown_write_lines(struct markdown_writer *w, const struct render_suite *input, struct error *err)
{
	const struct listing_function *found[1];

	for (size_t i = 0; i < input->part_count; i++) {
		const struct render_part *part = &input->parts[i];

		if (part->benchmark == DIFF_ALL_BENCHMARKS || part->input.diff->sides != DIFF_SIDES ||
			lines_proven(&part->input, found, 1) == 0)
			continue;
		w->input = &part->input;
		w->diff = part->input.diff;
		return lines_markdown(w, err);
	}
	return true;
}

/* ---- Sections ---- */

static void suite_markdown_write_side(
	struct markdown_writer *w, const struct render_suite *input, enum diff_side side, const char *label)
{
	const struct profile *profile = input->suite->profiles[side];
	const char *command = profile_string(profile, profile->facts.command);
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	buffer_printf(&text, "%s: %.500s%s", label, command, command[0] ? ": " : "");
	summary_quality(profile, &text);
	summary_labels(profile, ". Labels: ", &text);
	markdown_emit_text(w, "- ", &text, "\n");
}

static void suite_markdown_write_basis(struct markdown_writer *w, const struct render_suite *input)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	suite_words_evidence(input->suite, &text);
	markdown_emit_string(w, "<details><summary>How this was measured</summary>\n\n");
	markdown_emit_text(w, "- ", &text, "\n");
	suite_markdown_write_side(w, input, DIFF_BASE, "base");
	suite_markdown_write_side(w, input, DIFF_HEAD, "head");
	markdown_emit_string(w, "\n</details>\n");
}

/* They stand with the first part, whatever they are of. */
static void suite_markdown_write_commits(struct markdown_writer *w, const struct render_suite *input)
{
	if (input->part_count == 0)
		return;
	w->input = &input->parts[0].input;
	markdown_commits(w);
	w->input = NULL;
}

bool render_suite_markdown(const struct render_suite *input, struct buffer *out, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	struct markdown_writer w = { .out = out, .start = out->size };
	CLEANUP(buffer_deinit) struct buffer verdict = { 0 };
	bool left_out = false;

	if (suite->sides != DIFF_SIDES)
		return error_set(err, ERROR_USAGE,
			"Markdown is written for a diff of two profiles; for one, use --text or --json");
	buffer_init(&verdict, (size_t)1 << 20);
	suite_words_verdict(suite, &verdict);
	markdown_emit_string(&w, markdown_marker);
	markdown_emit_text(&w, "\n### ", &verdict, "\n\n");
	if (suite->gate_failed)
		markdown_emit_string(&w, "A limit given with `--fail-on` is exceeded.\n\n");
	suite_markdown_write_commits(&w, input);
	markdown_warnings(&w, suite->strings, suite->warnings, suite->warning_count);
	if (!write_notable(&w, input, &left_out, err) || !write_unchanged(&w, input, &left_out, err) ||
		!suite_markdown_write_parts(&w, input, &left_out, err))
		return false;
	if (!suite_markdown_write_lines(&w, input, err))
		return false;
	suite_markdown_write_basis(&w, input);
	w.full = w.full || left_out;
	markdown_finish(&w);
	return buffer_ok(out, err);
}
