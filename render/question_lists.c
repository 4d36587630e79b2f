/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the lists of callers and callees: into documents and as JSON. */
#include "render/json_text.h"
#include "render/parts.h"
#include "render/question.h"

#include <math.h>
#include <string.h>

enum { USUAL_ROWS = 10 };

/* What takes time on the side of a report, or of head. */
static const char *title_of_head(const struct diff *diff)
{
	return diff->sides == DIFF_SIDES ? "head" : diff->is_duration ? "time" : "value";
}

static void question_lists_add_row(const struct document *d, struct table *table, const struct question_list *list,
	const struct diff_neighbour *row)
{
	const struct diff *diff = d->diff;
	const struct diff_function *f = row->function == PROFILE_NONE ? NULL : &diff->functions[row->function];
	const struct diff_neighbours *all = d->input->question->neighbours;
	const struct diff_estimate *e = &row->time;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1] = "";

	TABLE_ADD(table, TABLE_PLAIN, f ? diff_string(diff, f->shown) : list->nobody, f ? parts_id(d, f, id) : "",
		f ? format_module(diff_string(diff, f->shown_in)) : "", format_value(e->base, d->unit).text,
		format_percent(format_share(e->base, all->base)).text, format_value(e->head, d->unit).text,
		format_percent(format_share(e->head, all->head)).text, format_delta(e->delta, d->unit).text,
		format_change(e->base, e->head).text, summary_interval_of_base(e).text, diff_state_name(e->state));
}

static void put_question_list(struct document *d, const struct question_list *list)
{
	bool is_single = d->diff->sides != DIFF_SIDES;
	const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "id", .left = true, .only = DOCUMENT_TEXT },
		{ .title = "module", .left = true, .flexible = true, .drop = 5, .only = DOCUMENT_TEXT },
		{ .title = "base", .drop = 2, .hidden = is_single },
		{ .title = "share", .drop = 1, .hidden = is_single },
		{ .title = title_of_head(d->diff), .drop = 2 },
		{ .title = "share", .drop = 1 },
		{ .title = "Δ", .hidden = is_single },
		{ .title = "change", .drop = 3, .only = DOCUMENT_TEXT, .hidden = is_single },
		{ .title = "95 % interval", .drop = 4, .has_dash = true, .hidden = is_single },
		{ .title = "state", .left = true, .hidden = is_single },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	size_t rows = question_rows(d->input, USUAL_ROWS);

	if (!list->neighbours)
		return;
	for (size_t i = 0; i < list->neighbours->count && i < rows; i++)
		question_lists_add_row(d, &table, list, &list->neighbours->rows[i]);
	if (list->neighbours->count == 0) {
		document_put(d, DOCUMENT_HEADING, list->heading);
		document_put(d, DOCUMENT_NOTE, "Nothing was recorded of it.");
		return;
	}
	buffer_append_string(&d->words, list->heading);
	document_table(d, &table);
	if (list->neighbours->count > rows) {
		buffer_printf(&d->words, "%s more", format_count((double)(list->neighbours->count - rows)).text);
		document_put(d, DOCUMENT_MORE, "");
	}
}

/* ---- The functions that are asked about ---- */

enum { ABOUT_FUNCTIONS = 3 };

static void add_about(const struct document *d, struct table *table, const struct diff_function *f, bool is_self)
{
	const struct diff_estimate *e = is_self ? &f->self : &f->total;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];

	TABLE_ADD(table, TABLE_PLAIN, is_self ? diff_string(d->diff, f->shown) : "", is_self ? parts_id(d, f, id) : "",
		is_self ? "itself" : "with all it calls", format_value(e->base, d->unit).text,
		format_value(e->head, d->unit).text, format_delta(e->delta, d->unit).text,
		format_change(e->base, e->head).text, summary_interval_of_base(e).text, diff_state_name(e->state),
		is_self && f->code != DIFF_CODE_UNKNOWN ? diff_code_name(f->code) : "");
}

/* The functions of an expression that means many are told by the lists alone. */
static void put_about(struct document *d)
{
	bool is_single = d->diff->sides != DIFF_SIDES;
	const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "id", .left = true },
		{ .title = "", .left = true },
		{ .title = "base", .drop = 2, .hidden = is_single },
		{ .title = title_of_head(d->diff), .drop = 2 },
		{ .title = "Δ", .hidden = is_single },
		{ .title = "change", .drop = 3, .hidden = is_single },
		{ .title = "95 % interval", .drop = 4, .hidden = is_single },
		{ .title = "state", .left = true, .hidden = is_single },
		{ .title = "code", .left = true, .drop = 1 },
	};
	const bool *meant = d->input->question ? d->input->question->meant : NULL;
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; meant && i < d->diff->function_count; i++)
		if (meant[i] && table.row_count <= (size_t)2 * ABOUT_FUNCTIONS) {
			add_about(d, &table, &d->diff->functions[i], true);
			add_about(d, &table, &d->diff->functions[i], false);
		}
	if (table.row_count > (size_t)2 * ABOUT_FUNCTIONS)
		return;
	buffer_append_string(&d->words, table.row_count == 2 ? "The function" : "The functions");
	document_table(d, &table);
}

void question_put(struct document *d)
{
	struct question_list lists[QUESTION_LISTS];

	question_lists(d->input, lists);
	if (document_is_text(d))
		put_about(d);
	for (size_t i = 0; i < QUESTION_LISTS; i++)
		put_question_list(d, &lists[i]);
}

/* ---- JSON ---- */

static void question_lists_put_compared(
	const struct render_input *input, const struct diff_neighbour *row, struct buffer *out)
{
	const struct diff *diff = input->diff;
	const struct diff_neighbours *all = input->question->neighbours;
	const struct diff_estimate *e = &row->time;

	json_text_member_number(out, diff->is_time ? "base_ns" : "base", row->raw[DIFF_BASE]);
	json_text_member_number(out, diff->is_time ? "head_ns" : "head", row->raw[DIFF_HEAD]);
	json_text_member_number(out, diff->is_time ? "delta_ns" : "delta", e->delta);
	json_text_member_number(out, "base_pct", format_share(e->base, all->base));
	json_text_member_number(out, "head_pct", format_share(e->head, all->head));
	json_text_member_interval(out, "ci", summary_points(diff, e->ci_low), summary_points(diff, e->ci_high));
	json_text_member_number(out, "q", e->q);
	json_text_member(out, "state", diff_state_name(e->state));
}

static void question_lists_put_row(
	const struct render_input *input, const struct diff_neighbour *row, struct buffer *out)
{
	const struct diff *diff = input->diff;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];

	json_text_open(out, '{');
	if (row->function == PROFILE_NONE) {
		json_text_member_null(out, "function");
	} else {
		question_id(diff, &diff->functions[row->function], id);
		json_text_member_integer(out, "function", row->function);
		json_text_member(out, "id", id);
		json_text_member(out, "name", diff_string(diff, diff->functions[row->function].name));
	}
	if (diff->sides == DIFF_SIDES) {
		question_lists_put_compared(input, row, out);
	} else {
		json_text_member_number(out, diff->is_time ? "total_ns" : "total", row->raw[DIFF_HEAD]);
		json_text_member_number(out, "pct", format_share(row->time.head, input->question->neighbours->head));
	}
	json_text_close(out, '}');
}

static void put_list(const struct render_input *input, const struct question_list *list, struct buffer *out)
{
	size_t count = list->neighbours->count, rows = question_rows(input, count);

	rows = rows < count ? rows : count;
	json_text_list(out, list->json);
	for (size_t i = 0; i < rows; i++) {
		json_text_line(out, 2);
		question_lists_put_row(input, &list->neighbours->rows[i], out);
	}
	json_text_end_list(out);
	json_text_left_out(out, list->json, count - rows);
}

static void put_selection(const struct render_input *input, struct buffer *out)
{
	const struct profile_selection *selection = input->question->selection;
	bool is_all = selection->only == PROFILE_ORIGIN_UNKNOWN;

	json_text_line(out, 1);
	json_text_key(out, "selection");
	buffer_append_string(out, " {");
	json_text_member_if(out, "focus", selection->focus ? selection->focus : "");
	json_text_member_if(out, "hide", selection->hide ? selection->hide : "");
	json_text_member_if(out, "only", is_all ? "" : profile_origin_name(selection->only));
	json_text_begin(out, "where", '[');
	for (size_t i = 0; i < selection->where_count; i++) {
		json_text_open(out, '{');
		json_text_member(out, "key", profile_selection_key_name(&selection->where[i]));
		json_text_member(out, "value", selection->where[i].value);
		json_text_close(out, '}');
	}
	json_text_close(out, ']');
	if (input->diff->sides == DIFF_SIDES)
		json_text_member_number(out, "base_pct", question_percent(input, DIFF_BASE));
	json_text_member_number(out, "head_pct", question_percent(input, DIFF_HEAD));
	json_text_close(out, '}');
}

void question_json(const struct render_input *input, struct buffer *out)
{
	struct question_list lists[QUESTION_LISTS];

	question_lists(input, lists);
	if (input->question && input->question->selection)
		put_selection(input, out);
	for (size_t i = 0; i < QUESTION_LISTS; i++)
		if (lists[i].neighbours)
			put_list(input, &lists[i], out);
}
