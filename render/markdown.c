/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a report as a comment of a pull request. */
#include "render/changes.h"
#include "render/format.h"
#include "render/groups.h"
#include "render/headline.h"
#include "render/lines.h"
#include "render/markdown_writer.h"
#include "render/question.h"
#include "render/requests.h"
#include "render/summary.h"

#include <string.h>

/* Parts are written in order of importance. */
enum { MAX_ROWS = 15, MAX_SITES = 10, MAX_OUTLIERS = 10 };

static void emit_sentences(struct markdown_writer *w, const char *before,
	void (*say)(const struct diff *, struct buffer *), const char *after)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	say(w->diff, &text);
	markdown_emit_text(w, before, &text, after);
}

/* ---- Tables ---- */

static void append_figures(const struct markdown_writer *w, struct buffer *row, const struct diff_estimate *e)
{
	struct format_text interval =
		format_interval(summary_points(w->diff, e->ci_low), summary_points(w->diff, e->ci_high));

	buffer_printf(row, " | %s | %s | %s | %s | %s |", format_value(e->base, w->unit).text,
		format_value(e->head, w->unit).text, format_delta(e->delta, w->unit).text,
		format_change(e->base, e->head).text, format_points(summary_points(w->diff, e->delta)).text);
	/* Exact counts have no intervals. */
	if (!w->diff->is_exact)
		buffer_printf(row, " %s |", interval.text[0] ? interval.text : format_unknown);
}

static void emit_ledger_row(struct markdown_writer *w, const char *name, const struct diff_estimate *e)
{
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_printf(&row, "| %s", name);
	append_figures(w, &row, e);
	buffer_append_byte(&row, '\n');
	markdown_emit(w, &row);
}

static void emit_origin(struct markdown_writer *w, const char *name, const struct diff_origin *origin)
{
	struct diff_estimate e = summary_beside(origin);

	if (summary_has_beside(origin))
		emit_ledger_row(w, name, &e);
}

static void emit_machine(struct markdown_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, MARKDOWN_MAX_BYTES);
	buffer_append_byte(&text, ' ');
	summary_machine_words(w->input, &text);
	if (text.size > 1)
		markdown_emit(w, &text);
}

static void markdown_emit_words(struct markdown_writer *w, const char *sentence)
{
	markdown_emit_string(w, "\n");
	markdown_emit_string(w, sentence);
	markdown_emit_string(w, "\n");
}

static void markdown_write_ledger(struct markdown_writer *w)
{
	markdown_emit_string(w, w->diff->is_exact ? "| origin | base | head | Δ | change | points |\n"
						    "|:--|--:|--:|--:|--:|--:|\n"
						  : "| origin | base | head | Δ | change | points | 95 % interval |\n"
						    "|:--|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		emit_origin(w, profile_origin_name(summary_origins[i]), &w->diff->origins[summary_origins[i]]);
	emit_ledger_row(w, "**total**", &w->diff->total);
	emit_origin(w, summary_interrupts_title, &w->diff->interrupts);
	if (summary_has_run_queue(w->diff))
		emit_ledger_row(w, summary_run_queue_title, &w->diff->waits[PROFILE_WAIT_RUN_QUEUE].total);
	emit_origin(w, summary_compilation_title, &w->diff->compilation);
	if (summary_has_beside(&w->diff->interrupts))
		markdown_emit_words(w, summary_interrupts_words);
	if (summary_has_run_queue(w->diff)) {
		markdown_emit_string(w, "\n");
		markdown_emit_string(w, summary_run_queue_words);
		emit_machine(w);
		markdown_emit_string(w, "\n");
	}
	if (summary_has_beside(&w->diff->compilation))
		markdown_emit_words(w, summary_compilation_words);
	if (summary_has_interpreter(w->diff))
		markdown_emit_words(w, summary_interpreter_words);
	markdown_emit_string(w, "\n");
}

static const char *const figure_names[DIFF_RUN_FIGURE_COUNT] = {
	[DIFF_RUN_WALL] = "wall-clock time",
	[DIFF_RUN_CPU] = "CPU time",
	[DIFF_RUN_MEMORY] = "peak memory",
};

/* Appends a figure of whole runs, if the recordings have it. */
static void emit_run_figure(struct markdown_writer *w, const char *name, enum diff_run_figure figure)
{
	const struct diff_run_summary *s = &w->diff->runs.figures[figure];
	const char *unit = figure == DIFF_RUN_MEMORY ? "bytes" : "nanoseconds";
	struct format_text interval = format_percent_interval(100 * s->change_low, 100 * s->change_high);
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_printf(&row, "| %s", name);
	buffer_printf(&row, " | %s | %s", format_value(s->mean[DIFF_BASE], unit).text,
		format_value(s->mean[DIFF_HEAD], unit).text);
	buffer_printf(&row, " | %s | %s |\n",
		format_change(s->mean[DIFF_BASE], s->mean[DIFF_BASE] * (1 + s->change)).text,
		interval.text[0] ? interval.text : format_unknown);
	markdown_emit(w, &row);
}

/* Appends the outliers of one figure and side in one line. */
static void emit_outliers(struct markdown_writer *w, const struct diff_outlier *outliers, size_t count)
{
	const char *unit = outliers->figure == DIFF_RUN_MEMORY ? "bytes" : "nanoseconds";
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_printf(&row, "- outliers, which are included: %s of %s, median %s:", figure_names[outliers->figure],
		outliers->side == DIFF_BASE ? "base" : "head", format_value(outliers->median, unit).text);
	for (size_t i = 0; i < count && i < MAX_OUTLIERS; i++)
		buffer_printf(&row, "%s run %zu %s", i > 0 ? "," : "", outliers[i].run + 1,
			format_value(outliers[i].value, unit).text);
	if (count > MAX_OUTLIERS)
		buffer_printf(&row, " and %zu more", count - MAX_OUTLIERS);
	buffer_append_byte(&row, '\n');
	markdown_emit(w, &row);
}

/* Outliers of one figure and side follow each other. */
static void write_outliers(struct markdown_writer *w)
{
	const struct diff_outlier *all = w->diff->runs.outliers;
	size_t count = w->diff->runs.outlier_count, end;

	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && all[end].figure == all[i].figure && all[end].side == all[i].side;)
			end++;
		emit_outliers(w, &all[i], end - i);
	}
}

static void markdown_write_runs(struct markdown_writer *w)
{
	const struct diff_runs *runs = &w->diff->runs;
	bool any = false;

	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		any = any || runs->known[i];
	if (!any)
		return;
	markdown_emit_string(w, "| per run | base | head | change | 95 % interval |\n|:--|--:|--:|--:|--:|\n");
	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		if (runs->known[i])
			emit_run_figure(w, figure_names[i], (enum diff_run_figure)i);
	markdown_emit_string(w, "\n");
}

/* Returns whether the changes of self values have a column that says what they consist of. */
static bool has_causes(const struct markdown_writer *w, enum summary_order order)
{
	return w->diff->bottlenecks_explain && order != SUMMARY_TOTAL_CHANGES;
}

/* Returns whether changes of total values have a column that says what threads wait for. */
static bool markdown_has_waits(const struct markdown_writer *w, enum summary_order order)
{
	return w->diff->waiting != DIFF_WAITING_NONE && order == SUMMARY_TOTAL_CHANGES;
}

static void emit_change(struct markdown_writer *w, const struct diff_function *f, enum summary_order order)
{
	const struct diff_estimate *e = order == SUMMARY_TOTAL_CHANGES ? &f->total : &f->self;
	const struct diff_change *change =
		order == SUMMARY_TOTAL_CHANGES ? change_of(w->diff, (uint32_t)(f - w->diff->functions)) : NULL;
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_append_string(&row, "| ");
	if (change && change_has_names(change))
		change_append_names(w->diff, change, markdown_name, &row);
	else
		markdown_name(&row, diff_string(w->diff, f->shown));
	buffer_append_string(&row, " | ");
	markdown_escape(&row, format_module(diff_string(w->diff, f->shown_in)), 100);
	append_figures(w, &row, e);
	buffer_printf(&row, " %s%s%s |", diff_state_name(e->state), summary_same_code(f, e->state) ? "°" : "",
		summary_short_of_proof(e) ? "\\*" : "");
	if (has_causes(w, order))
		buffer_printf(&row, " %s |", diff_cause(w->diff, f));
	if (markdown_has_waits(w, order)) {
		buffer_append_byte(&row, ' ');
		if (change)
			change_append_waits(w->diff, change, markdown_name, &row);
		buffer_append_string(&row, " |");
	}
	buffer_append_byte(&row, '\n');
	markdown_emit(w, &row);
}

static void write_heading(struct markdown_writer *w, enum summary_order order)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	summary_heading(w->diff, order, &text);
	markdown_emit_text(w, "**", &text, "**\n\n");
}

static void write_columns(struct markdown_writer *w, enum summary_order order)
{
	bool has_interval = !w->diff->is_exact;

	markdown_emit_string(w, "| function | module | base | head | Δ | change | points |");
	markdown_emit_string(w, has_interval ? " 95 % interval | state |" : " state |");
	markdown_emit_string(w, has_causes(w, order)           ? " because of |\n"
				: markdown_has_waits(w, order) ? " waiting for |\n"
							       : "\n");
	markdown_emit_string(w, "|:--|:--|--:|--:|--:|--:|--:|");
	markdown_emit_string(w, has_interval ? "--:|:--|" : ":--|");
	markdown_emit_string(w, has_causes(w, order) || markdown_has_waits(w, order) ? ":--|\n" : "\n");
}

static bool markdown_write_changes(struct markdown_writer *w, enum summary_order order, struct error *err)
{
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };
	bool short_of_proof = false, same_code = false;

	if (!summary_list(w->diff, order, question_rows(w->input, MAX_ROWS), &list, err))
		return false;
	if (list.count == 0)
		return true;
	write_heading(w, order);
	write_columns(w, order);
	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &w->diff->functions[list.ids[i]];
		const struct diff_estimate *e = order == SUMMARY_TOTAL_CHANGES ? &f->total : &f->self;

		emit_change(w, f, order);
		short_of_proof = short_of_proof || summary_short_of_proof(e);
		same_code = same_code || summary_same_code(f, e->state);
	}
	markdown_emit_string(w, "\n");
	if (same_code) {
		emit_sentences(w, "° ",
			order == SUMMARY_TOTAL_CHANGES ? summary_same_code_total : summary_same_code_self, "\n\n");
	}
	if (short_of_proof) {
		markdown_emit_string(w, "\\* ");
		markdown_emit_string(w, summary_short_of_proof_words);
		markdown_emit_string(w, "\n\n");
	}
	return true;
}

/* ---- Waits ---- */

static void markdown_append_function(const struct markdown_writer *w, struct buffer *row, uint32_t function)
{
	if (function == PROFILE_NONE)
		buffer_append_string(row, format_unknown);
	else
		markdown_name(row, diff_string(w->diff, w->diff->functions[function].shown));
}

/* The site that the verdict names is marked. */
static void emit_site(struct markdown_writer *w, size_t number)
{
	const struct diff_wait_site *site = &w->diff->wait_sites[number];
	const char *mark = number == w->diff->named_wait ? "**" : "";
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_printf(&row, "| %s", mark);
	markdown_append_function(w, &row, site->function);
	buffer_printf(&row, "%s | %s", mark, profile_wait_info(site->wait_class)->reason);
	if (diff_string(w->diff, site->lock)[0]) {
		buffer_append_string(&row, ", most for ");
		markdown_name(&row, diff_string(w->diff, site->lock));
	}
	buffer_printf(&row, " | %s | %s | %s | %s | ", format_value(site->base, w->unit).text,
		format_value(site->head, w->unit).text, format_delta(site->delta, w->unit).text,
		format_change(site->base, site->head).text);
	markdown_append_function(w, &row, diff_released_by(w->diff, site));
	buffer_append_string(&row, " |\n");
	markdown_emit(w, &row);
}

/* Places by how much their waits changed, as far as the metric has them. */
static void write_places(struct markdown_writer *w)
{
	size_t written = 0;

	for (size_t i = 0; i < w->diff->wait_site_count; i++) {
		const struct diff_wait_site *site = &w->diff->wait_sites[i];

		if (!diff_has_wait_class(w->diff, site->wait_class) || site->delta == 0 || written == MAX_SITES)
			continue;
		if (written++ == 0)
			markdown_emit_string(w, "**Where threads wait**\n\n"
						"| place | waiting | base | head | Δ | change | released by |\n"
						"|:--|:--|--:|--:|--:|--:|:--|\n");
		emit_site(w, i);
	}
	if (written > 0)
		markdown_emit_string(w, "\n");
}

/* ---- Other sections ---- */

static void write_title(struct markdown_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	summary_title(w->input, &text);
	if (text.size > 0)
		markdown_emit_text(w, "**", &text, "**\n\n");
}

static void markdown_write_side(struct markdown_writer *w, enum diff_side side, const char *label)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 }, part = { 0 };

	if (!w->input->profiles[side])
		return;
	buffer_init(&text, (size_t)1 << 20);
	buffer_init(&part, (size_t)1 << 20);
	if (summary_command(w->input, side)[0])
		buffer_printf(&text, "%.500s: ", summary_command(w->input, side));
	summary_quality(w->input->profiles[side], &text);
	summary_labels(w->input->profiles[side], ". Labels: ", &text);
	buffer_append(&text, "", 0);
	buffer_printf(&part, "- %s: ", label);
	if (!text.failed)
		markdown_escape(&part, text.data, MARKDOWN_MAX_SENTENCE);
	buffer_append_byte(&part, '\n');
	part.failed |= text.failed;
	markdown_emit(w, &part);
}

static void markdown_write_basis(struct markdown_writer *w)
{
	markdown_emit_string(w, "<details><summary>How this was measured</summary>\n\n");
	emit_sentences(w, "- ", summary_points_words, "\n");
	emit_sentences(w, "- ", summary_scale, "\n");
	emit_sentences(w, "- ", summary_evidence, "\n");
	write_outliers(w);
	markdown_write_side(w, DIFF_BASE, "base");
	markdown_write_side(w, DIFF_HEAD, "head");
	markdown_emit_string(w, "\n</details>\n");
}

/* ---- The first lines ---- */

/* Appends a sentence in which names stand between backticks, as code. If a name has a backtick, all are plain text. */
static void append_with_names(struct buffer *row, char *sentence)
{
	bool is_paired = true, is_name = false;
	char *rest = sentence;

	for (const char *at = sentence; *at; at++)
		is_paired ^= *at == '`';
	while (is_paired && rest) {
		const char *part = strsep(&rest, "`");

		markdown_escape(row, part, MARKDOWN_MAX_SENTENCE);
		if (rest)
			buffer_append_string(row, is_name ? "</code>" : "<code>");
		is_name = !is_name;
	}
	if (!is_paired)
		markdown_escape(row, sentence, MARKDOWN_MAX_SENTENCE);
}

static void emit_verdict(struct markdown_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 }, row = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	buffer_init(&row, (size_t)1 << 20);
	summary_verdict(w->diff, &text);
	buffer_append_string(&row, "\n### ");
	if (!text.failed)
		append_with_names(&row, text.data);
	buffer_append_string(&row, "\n\n");
	row.failed |= text.failed;
	markdown_emit(w, &row);
}

static void emit_line(struct markdown_writer *w, struct buffer *text)
{
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, (size_t)1 << 20);
	if (text->size == 0)
		return;
	if (!text->failed)
		append_with_names(&row, text->data);
	buffer_append_string(&row, "\n\n");
	row.failed |= text->failed;
	markdown_emit(w, &row);
}

static void markdown_write_others(struct markdown_writer *w)
{
	const struct diff_change *others[HEADLINE_OTHERS];
	size_t count = headline_others(w->diff, others);

	if (count == 0)
		return;
	markdown_emit_string(w, headline_others_words(w->diff));
	markdown_emit_string(w, "\n\n");
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer row = { 0 }, text = { 0 };

		buffer_init(&row, MARKDOWN_MAX_BYTES);
		buffer_init(&text, MARKDOWN_MAX_BYTES);
		headline_other(w->diff, others[i], &text);
		buffer_append_string(&row, "- ");
		change_append_names(w->diff, others[i], markdown_name, &row);
		if (!text.failed)
			markdown_escape(&row, text.data, MARKDOWN_MAX_SENTENCE);
		headline_waits(w->diff, others[i], markdown_name, &row);
		buffer_append_byte(&row, '\n');
		markdown_emit(w, &row);
	}
	markdown_emit_string(w, "\n");
}

static void write_question(struct markdown_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, MARKDOWN_MAX_BYTES);
	question_sentences(w->input, &text);
	emit_line(w, &text);
}

/* Writes the part between the verdict and the details, as in text. */
static void write_headline(struct markdown_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer requests = { 0 }, next = { 0 };

	buffer_init(&requests, MARKDOWN_MAX_BYTES);
	buffer_init(&next, MARKDOWN_MAX_BYTES);
	render_requests_words(w->diff, &requests);
	headline_next(w->input, &next);
	emit_line(w, &requests);
	markdown_write_others(w);
	markdown_commits(w);
	emit_line(w, &next);
}

bool render_markdown(const struct render_input *input, struct buffer *out, struct error *err)
{
	struct markdown_writer w = { .input = input, .diff = input->diff, .out = out, .start = out->size };

	if (input->diff->sides != DIFF_SIDES)
		return error_set(err, ERROR_USAGE,
			"Markdown is written for a diff of two profiles; for one, use --text or --json");
	w.unit = diff_string(input->diff, input->diff->unit);
	markdown_emit_string(&w, markdown_marker);
	emit_verdict(&w);
	write_title(&w);
	write_question(&w);
	if (input->diff->gate_failed)
		markdown_emit_string(&w, "A limit given with `--fail-on` is exceeded.\n\n");
	write_headline(&w);
	groups_markdown(&w);
	if (!lines_markdown(&w, err))
		return false;
	question_markdown(&w);
	markdown_warnings(&w, input->diff->strings, input->diff->warnings, input->diff->warning_count);
	markdown_write_ledger(&w);
	markdown_write_runs(&w);
	write_places(&w);
	if (!markdown_write_changes(&w, SUMMARY_SELF_INCREASES, err) ||
		!markdown_write_changes(&w, SUMMARY_SELF_DECREASES, err) ||
		!markdown_write_changes(&w, SUMMARY_TOTAL_CHANGES, err))
		return false;
	markdown_write_basis(&w);
	markdown_finish(&w);
	return buffer_ok(out, err);
}
