/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a comparison as text: its verdict and tables of functions, callers and measurements. */
#include "render/changes.h"
#include "render/format.h"
#include "render/groups.h"
#include "render/headline.h"
#include "render/question.h"
#include "render/requests.h"
#include "render/summary.h"
#include "render/table.h"
#include "render/text_writer.h"

#include <string.h>

enum { MAX_MOVED = 10, MAX_FORMER_BYTES = 1 << 24, MAX_LINE_BYTES = 1 << 20 };

/* ---- Columns ---- */

/* Exact counts have no intervals: the column `at` is left out of `columns`, or of a row's `cells`. */
static size_t shown_columns(const struct text_writer *w, struct table_column *columns, size_t at, size_t count)
{
	if (!w->diff->is_exact)
		return count;
	memmove(columns + at, columns + at + 1, (count - at - 1) * sizeof(*columns));
	return count - 1;
}

static void shown_cells(const struct text_writer *w, const char **cells, size_t at, size_t count)
{
	if (w->diff->is_exact)
		memmove(cells + at, cells + at + 1, (count - at - 1) * sizeof(*cells));
}

/* ---- Figures of an estimate ---- */

struct figures {
	struct format_text base, head, delta, change, points, interval;
};

static struct figures make_figures(const struct text_writer *w, const struct diff_estimate *e)
{
	return (struct figures){
		.base = format_value(e->base, w->unit),
		.head = format_value(e->head, w->unit),
		.delta = format_delta(e->delta, w->unit),
		.change = format_change(e->base, e->head),
		.points = format_points(summary_points(w->diff, e->delta)),
		.interval = format_interval(summary_points(w->diff, e->ci_low), summary_points(w->diff, e->ci_high)),
	};
}

static enum table_style state_style(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_MORE:
	case DIFF_STATE_NEW:
		return TABLE_RED;
	case DIFF_STATE_LESS:
	case DIFF_STATE_GONE:
		return TABLE_BLUE;
	case DIFF_STATE_UNPROVEN:
		return TABLE_DIM;
	case DIFF_STATE_SAME:
	case DIFF_STATE_MOVED:
		return TABLE_PLAIN;
	}
	return TABLE_PLAIN;
}

/* ---- Ledger by origin ---- */

static void add_ledger_row(
	const struct text_writer *w, struct table *table, const char *title, const struct diff_estimate *e)
{
	struct figures f = make_figures(w, e);
	struct format_text base_share = format_percent(format_share(e->base, w->diff->total.base));
	struct format_text head_share = format_percent(format_share(e->head, w->diff->total.head));
	const char *cells[] = { title, f.base.text, base_share.text, f.head.text, head_share.text, f.delta.text,
		f.change.text, f.points.text, f.interval.text };

	table_add(table, cells, TABLE_PLAIN);
}

static void add_origin(
	const struct text_writer *w, struct table *table, const char *title, const struct diff_origin *origin)
{
	struct diff_estimate e = summary_beside(origin);

	if (summary_has_beside(origin))
		add_ledger_row(w, table, title, &e);
}

static void write_run_queue(const struct text_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, 1024);
	buffer_printf(&text, "%s ", summary_run_queue_words);
	summary_machine_words(w->input, &text);
	text_paragraph(w, text.failed ? summary_run_queue_words : text.data, 2);
}

static bool text_diff_write_ledger(const struct text_writer *w, struct error *err)
{
	enum { COLUMNS = 9, INTERVAL = 8 };
	struct table_column columns[COLUMNS] = {
		{ .title = "origin", .left = true },
		{ .title = "base", .drop = 1 },
		{ .title = "share", .drop = 3 },
		{ .title = "head", .drop = 1 },
		{ .title = "share", .drop = 3 },
		{ .title = "Δ" },
		{ .title = "change", .drop = 2 },
		{ .title = "points" },
		{ .title = "95 % interval", .drop = 4 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };

	table_init(&table, columns, shown_columns(w, columns, INTERVAL, COLUMNS));
	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		add_origin(w, &table, profile_origin_name(summary_origins[i]), &w->diff->origins[summary_origins[i]]);
	add_ledger_row(w, &table, "total", &w->diff->total);
	add_origin(w, &table, summary_interrupts_title, &w->diff->interrupts);
	if (summary_has_run_queue(w->diff))
		add_ledger_row(w, &table, summary_run_queue_title, &w->diff->waits[PROFILE_WAIT_RUN_QUEUE].total);
	add_origin(w, &table, summary_compilation_title, &w->diff->compilation);
	text_heading(w, "By origin of the code");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	text_sentences(w, summary_points_words);
	if (summary_has_beside(&w->diff->interrupts))
		text_paragraph(w, summary_interrupts_words, 2);
	if (summary_has_run_queue(w->diff))
		write_run_queue(w);
	if (summary_has_beside(&w->diff->compilation))
		text_paragraph(w, summary_compilation_words, 2);
	if (summary_has_interpreter(w->diff))
		text_paragraph(w, summary_interpreter_words, 2);
	return true;
}

/* ---- Changes ---- */

enum { CHANGE_COLUMNS = 14, CHANGE_INTERVAL = 9 };

static const char same_code_mark[] = "°", short_of_proof_mark[] = "*";

static void text_diff_append_part(struct buffer *out, const char *name)
{
	enum { PART_COLUMNS = 60 };

	profile_shorten_name(name, PART_COLUMNS, out);
}

/*
 * Writes the names of the change of a row of total times, and what is waited for in it; else the name of the function.
 */
static void text_diff_name_change(const struct text_writer *w, const struct diff_function *f, bool is_total,
	struct buffer *name, struct buffer *because)
{
	const struct diff_change *change = is_total ? change_of(w->diff, (uint32_t)(f - w->diff->functions)) : NULL;

	buffer_init(name, MAX_LINE_BYTES);
	buffer_init(because, MAX_LINE_BYTES);
	if (change && change_has_names(change))
		change_append_names(w->diff, change, text_diff_append_part, name);
	else
		buffer_append_string(name, diff_string(w->diff, f->shown));
	if (change)
		change_append_waits(w->diff, change, text_diff_append_part, because);
	else if (!is_total)
		buffer_append_string(because, diff_cause(w->diff, f));
	w->out->failed = w->out->failed || name->failed || because->failed;
}

static void text_diff_add_change(
	const struct text_writer *w, struct table *table, const struct diff_function *f, bool is_total)
{
	const struct diff_estimate *e = is_total ? &f->total : &f->self, *other = is_total ? &f->self : &f->total;
	struct figures figures = make_figures(w, e);
	char state[24], id[PROFILE_FUNCTION_ID_DIGITS + 1];
	struct format_text other_base = format_value(other->base, w->unit),
			   other_head = format_value(other->head, w->unit);
	CLEANUP(buffer_deinit) struct buffer name = { 0 }, because = { 0 };

	text_diff_name_change(w, f, is_total, &name, &because);
	const char *cells[CHANGE_COLUMNS] = { name.data ? name.data : "", text_id(w, f, id),
		format_module(diff_string(w->diff, f->shown_in)), profile_origin_name(f->origin), figures.base.text,
		figures.head.text, figures.delta.text, figures.change.text, figures.points.text, figures.interval.text,
		other_base.text, other_head.text, state, because.data ? because.data : "" };

	snprintf(state, sizeof(state), "%s%s", diff_state_name(e->state),
		summary_same_code(f, e->state) ? same_code_mark
		: summary_short_of_proof(e)    ? short_of_proof_mark
					       : "");
	shown_cells(w, cells, CHANGE_INTERVAL, CHANGE_COLUMNS);
	table_add(table, cells, state_style(e->state));
}

static bool any_same_code(const struct diff *diff, const struct summary_list *list, bool is_total)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_function *f = &diff->functions[list->ids[i]];

		if (summary_same_code(f, is_total ? f->total.state : f->self.state))
			return true;
	}
	return false;
}

static bool any_short_of_proof(const struct diff *diff, const struct summary_list *list, bool is_total)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_function *f = &diff->functions[list->ids[i]];

		if (summary_short_of_proof(is_total ? &f->total : &f->self))
			return true;
	}
	return false;
}

/* Explains the marks beside the states. */
static void text_diff_write_marks(const struct text_writer *w, const struct summary_list *list, bool is_total)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (any_same_code(w->diff, list, is_total)) {
		buffer_init(&text, 1024);
		(is_total ? summary_same_code_total : summary_same_code_self)(w->diff, &text);
		text_mark(w, same_code_mark, text.failed ? "" : text.data);
	}
	if (any_short_of_proof(w->diff, list, is_total))
		text_mark(w, short_of_proof_mark, summary_short_of_proof_words);
}

static bool text_diff_write_changes(
	const struct text_writer *w, enum summary_order order, size_t limit, struct error *err)
{
	bool is_total = order == SUMMARY_TOTAL_CHANGES, has_reasons;
	struct table_column columns[CHANGE_COLUMNS] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "id", .left = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 6 },
		{ .title = "origin", .left = true, .drop = 5 },
		{ .title = "base", .drop = 2 },
		{ .title = "head", .drop = 2 },
		{ .title = "Δ" },
		{ .title = "change", .drop = 3 },
		{ .title = "points" },
		{ .title = "95 % interval", .drop = 4 },
		{ .title = is_total ? "base self" : "base total", .drop = 7 },
		{ .title = is_total ? "head self" : "head total", .drop = 7 },
		{ .title = "state", .left = true, .drop = 1 },
		/*
		 * A column of self values where the profiles tell of bottlenecks; of total values where threads wait.
		 */
		{ .title = is_total ? "waiting for" : "because of", .left = true, .flexible = is_total, .drop = 2 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!summary_list(w->diff, order, limit, &list, err))
		return false;
	if (list.count == 0)
		return true;
	has_reasons = is_total ? w->diff->waiting != DIFF_WAITING_NONE : w->diff->bottlenecks_explain;
	table_init(&table, columns, shown_columns(w, columns, CHANGE_INTERVAL, CHANGE_COLUMNS - !has_reasons));
	for (size_t i = 0; i < list.count; i++)
		text_diff_add_change(w, &table, &w->diff->functions[list.ids[i]], is_total);
	text_list_heading(w, order);
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	if (list.proven_left_out > 0)
		buffer_printf(
			w->out, "  and %s more that are proven\n", format_count((double)list.proven_left_out).text);
	text_diff_write_marks(w, &list, is_total);
	return true;
}

/*
 * Appends the earlier name of a renamed function. For code that was inlined or split off, appends where it went or came
 * from.
 */
static void append_former(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	const char *other = diff_string(diff, diff->functions[f->moved_to].shown);

	if (f->tier == DIFF_TIER_MOVED)
		buffer_append_string(out, other);
	else
		buffer_printf(out, "%s %s", f->total.delta > 0 ? "(part of)" : "(now in)", other);
}

static bool write_moved(const struct text_writer *w, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "was", .left = true, .flexible = true, .is_name = true },
		{ .title = "base", .drop = 2 },
		{ .title = "head", .drop = 1 },
		{ .title = "Δ" },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!summary_list(w->diff, SUMMARY_MOVED, MAX_MOVED, &list, err))
		return false;
	if (list.count == 0)
		return true;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &w->diff->functions[list.ids[i]];
		struct figures figures = make_figures(w, &f->total);
		CLEANUP(buffer_deinit) struct buffer former = { 0 };

		buffer_init(&former, MAX_FORMER_BYTES);
		append_former(w->diff, f, &former);
		if (!buffer_ok(&former, err))
			return false;
		const char *cells[] = { diff_string(w->diff, f->shown), former.data ? former.data : "",
			figures.base.text, figures.head.text, figures.delta.text };

		table_add(&table, cells, TABLE_PLAIN);
	}
	text_list_heading(w, SUMMARY_MOVED);
	return table_write(&table, w->width, w->colour, w->out, err);
}

static bool any_change(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		if (summary_proven(diff->functions[i].self.state) || summary_proven(diff->functions[i].total.state))
			return true;
	}
	return false;
}

/* ---- The first lines ---- */

static void write_cleaned(const struct text_writer *w, struct buffer *text, size_t indent)
{
	buffer_append(text, "", 0);
	if (text->failed)
		w->out->failed = true;
	else if (text->size > 0)
		text_paragraph(w, text->data, indent);
}

/* Appends how many requests both sides answered, and how long they took. */
static void requests_line(const struct text_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, MAX_LINE_BYTES);
	render_requests_words(w->diff, &text);
	write_cleaned(w, &text, 0);
}

/* Appends a line for each change that is proven beside the one that the verdict names. */
static void text_diff_write_others(const struct text_writer *w)
{
	const struct diff_change *others[HEADLINE_OTHERS];
	size_t count = headline_others(w->diff, others);

	if (count > 0)
		text_paragraph(w, headline_others_words(w->diff), 0);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer text = { 0 };

		buffer_init(&text, MAX_LINE_BYTES);
		buffer_append_string(&text, "- ");
		change_append_names(w->diff, others[i], text_diff_append_part, &text);
		headline_other(w->diff, others[i], &text);
		headline_waits(w->diff, others[i], text_diff_append_part, &text);
		write_cleaned(w, &text, 2);
	}
}

static void write_next(const struct text_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, MAX_LINE_BYTES);
	headline_next(w->input, &text);
	write_cleaned(w, &text, 0);
}

void text_verdict(const struct text_writer *w)
{
	buffer_append_string(w->out, table_style_on(TABLE_BOLD, w->colour));
	text_sentences(w, summary_verdict);
	buffer_append_string(w->out, table_style_off(TABLE_BOLD, w->colour));
	if (w->diff->gate_failed)
		text_paragraph(w, "A limit given with --fail-on is exceeded.", 0);
}

bool text_two_sided(const struct text_writer *w, struct error *err)
{
	text_verdict(w);
	requests_line(w);
	text_diff_write_others(w);
	text_commits(w);
	write_next(w);
	if (!groups_text(w, err) || !question_text(w, err))
		return false;
	buffer_append_byte(w->out, '\n');
	text_sentences(w, summary_scale);
	text_sentences(w, summary_evidence);
	text_side(w, DIFF_BASE, "base: ");
	text_waits(w, DIFF_BASE, "base: ");
	text_side(w, DIFF_HEAD, "head: ");
	text_waits(w, DIFF_HEAD, "head: ");
	if (!text_diff_write_ledger(w, err))
		return false;
	if (!any_change(w->diff))
		text_heading(w, "No function is proven to have changed.");
	if (!text_diff_write_changes(w, SUMMARY_SELF_INCREASES, w->half, err) ||
		!text_diff_write_changes(w, SUMMARY_SELF_DECREASES, w->half, err) ||
		!text_diff_write_changes(w, SUMMARY_TOTAL_CHANGES, w->half, err) || !write_moved(w, err) ||
		!text_waiting_changes(w, err))
		return false;
	return true;
}
