/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the lists of callers and callees: as text, Markdown and JSON. */
#include "render/format.h"
#include "render/json_text.h"
#include "render/markdown_writer.h"
#include "render/question.h"
#include "render/summary.h"
#include "render/table.h"
#include "render/text_writer.h"

#include <math.h>
#include <string.h>

enum { USUAL_ROWS = 10 };

/* The figures of a row. Shares are of the functions that are asked about. */
struct row_figures {
	struct format_text base, base_share, head, head_share, delta, change, interval;
};

static struct row_figures row_figures(const struct render_input *input, const struct diff_neighbour *row)
{
	const struct diff *diff = input->diff;
	const struct diff_neighbours *all = input->question->neighbours;
	const char *unit = diff_string(diff, diff->unit);

	return (struct row_figures){
		.base = format_value(row->time.base, unit),
		.base_share = format_percent(format_share(row->time.base, all->base)),
		.head = format_value(row->time.head, unit),
		.head_share = format_percent(format_share(row->time.head, all->head)),
		.delta = format_delta(row->time.delta, unit),
		.change = format_change(row->time.base, row->time.head),
		.interval = summary_interval_of_base(&row->time),
	};
}

/* ---- Text ---- */

enum { COLUMNS = 11 };

static const struct table_column columns[COLUMNS] = {
	{ .title = "function", .left = true, .flexible = true, .is_name = true },
	{ .title = "id", .left = true },
	{ .title = "module", .left = true, .flexible = true, .drop = 5 },
	{ .title = "base", .drop = 2 },
	{ .title = "share", .drop = 1 },
	{ .title = "head", .drop = 2 },
	{ .title = "share", .drop = 1 },
	{ .title = "Δ" },
	{ .title = "change", .drop = 3 },
	{ .title = "95 % interval", .drop = 4 },
	{ .title = "state", .left = true },
};

/* A column without entries is left out: those of base and of evidence in the report of one profile. */
static void question_lists_add_row(const struct text_writer *w, struct table *table, const struct question_list *list,
	const struct diff_neighbour *row)
{
	const struct diff *diff = w->diff;
	const struct diff_function *f = row->function == PROFILE_NONE ? NULL : &diff->functions[row->function];
	struct row_figures figures = row_figures(w->input, row);
	bool compared = diff->sides == DIFF_SIDES;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1] = "";

	if (f && w->input->question->has_ids)
		question_id(diff, f, id);
	const char *cells[COLUMNS] = { f ? diff_string(diff, f->shown) : list->nobody, id,
		f ? format_module(diff_string(diff, f->shown_in)) : "", compared ? figures.base.text : "",
		compared ? figures.base_share.text : "", figures.head.text, figures.head_share.text,
		compared ? figures.delta.text : "", compared ? figures.change.text : "",
		compared ? figures.interval.text : "", compared ? diff_state_name(row->time.state) : "" };

	table_add(table, cells, TABLE_PLAIN);
}

static bool write_list(const struct text_writer *w, const struct question_list *list, struct error *err)
{
	struct table_column titled[COLUMNS];
	CLEANUP(table_deinit) struct table table = { 0 };
	size_t rows = question_rows(w->input, USUAL_ROWS);

	if (!list->neighbours)
		return true;
	memcpy(titled, columns, sizeof(titled));
	if (w->diff->sides != DIFF_SIDES)
		titled[5].title = w->diff->is_duration ? "time" : "value";
	table_init(&table, titled, COLUMNS);
	for (size_t i = 0; i < list->neighbours->count && i < rows; i++)
		question_lists_add_row(w, &table, list, &list->neighbours->rows[i]);
	text_heading(w, list->heading);
	if (list->neighbours->count == 0)
		text_paragraph(w, "Nothing was recorded of it.", 2);
	else if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	if (list->neighbours->count > rows)
		buffer_printf(w->out, "  and %s more\n", format_count((double)(list->neighbours->count - rows)).text);
	return true;
}

/* ---- The functions that are asked about ---- */

enum { ABOUT_COLUMNS = 10, ABOUT_FUNCTIONS = 3 };

static const struct table_column about_columns[ABOUT_COLUMNS] = {
	{ .title = "function", .left = true, .flexible = true, .is_name = true },
	{ .title = "id", .left = true },
	{ .title = "", .left = true },
	{ .title = "base", .drop = 2 },
	{ .title = "head", .drop = 2 },
	{ .title = "Δ" },
	{ .title = "change", .drop = 3 },
	{ .title = "95 % interval", .drop = 4 },
	{ .title = "state", .left = true },
	{ .title = "code", .left = true, .drop = 1 },
};

static void add_figures(const struct text_writer *w, struct table *table, const struct diff_function *f, bool is_self)
{
	const struct diff_estimate *e = is_self ? &f->self : &f->total;
	bool compared = w->diff->sides == DIFF_SIDES;
	struct format_text base = format_value(e->base, w->unit), head = format_value(e->head, w->unit),
			   delta = format_delta(e->delta, w->unit), change = format_change(e->base, e->head),
			   interval = summary_interval_of_base(e);
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];
	const char *cells[ABOUT_COLUMNS] = { is_self ? diff_string(w->diff, f->shown) : "",
		is_self ? text_id(w, f, id) : "", is_self ? "itself" : "with all it calls", compared ? base.text : "",
		head.text, compared ? delta.text : "", compared ? change.text : "", compared ? interval.text : "",
		compared ? diff_state_name(e->state) : "",
		is_self && f->code != DIFF_CODE_UNKNOWN ? diff_code_name(f->code) : "" };

	table_add(table, cells, TABLE_PLAIN);
}

/* The functions of an expression that means many are told by the lists alone. */
static bool question_lists_write_functions(const struct text_writer *w, struct error *err)
{
	const bool *meant = w->input->question ? w->input->question->meant : NULL;
	struct table_column titled[ABOUT_COLUMNS];
	CLEANUP(table_deinit) struct table table = { 0 };
	size_t count = 0;

	for (size_t i = 0; meant && i < w->diff->function_count; i++)
		count += meant[i];
	if (count == 0 || count > ABOUT_FUNCTIONS)
		return true;
	memcpy(titled, about_columns, sizeof(titled));
	if (w->diff->sides != DIFF_SIDES)
		titled[4].title = w->diff->is_duration ? "time" : "value";
	table_init(&table, titled, ABOUT_COLUMNS);
	for (size_t i = 0; i < w->diff->function_count; i++)
		if (meant[i]) {
			add_figures(w, &table, &w->diff->functions[i], true);
			add_figures(w, &table, &w->diff->functions[i], false);
		}
	text_heading(w, count == 1 ? "The function" : "The functions");
	return table_write(&table, w->width, w->colour, w->out, err);
}

bool question_text(const struct text_writer *w, struct error *err)
{
	struct question_list lists[QUESTION_LISTS];

	question_lists(w->input, lists);
	return question_lists_write_functions(w, err) && write_list(w, &lists[0], err) && write_list(w, &lists[1], err);
}

/* ---- Markdown ---- */

static void question_lists_emit_row(
	struct markdown_writer *w, const struct question_list *list, const struct diff_neighbour *row)
{
	struct row_figures figures = row_figures(w->input, row);
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, MARKDOWN_MAX_BYTES);
	buffer_append_string(&text, "| ");
	if (row->function == PROFILE_NONE)
		buffer_append_string(&text, list->nobody);
	else
		markdown_name(&text, diff_string(w->diff, w->diff->functions[row->function].shown));
	buffer_printf(&text, " | %s | %s | %s | %s | %s | %s | %s |\n", figures.base.text, figures.base_share.text,
		figures.head.text, figures.head_share.text, figures.delta.text,
		figures.interval.text[0] ? figures.interval.text : format_unknown, diff_state_name(row->time.state));
	markdown_emit(w, &text);
}

void question_markdown(struct markdown_writer *w)
{
	struct question_list lists[QUESTION_LISTS];

	question_lists(w->input, lists);
	for (size_t i = 0; i < QUESTION_LISTS; i++) {
		const struct diff_neighbour_list *rows = lists[i].neighbours;

		if (!rows || rows->count == 0)
			continue;
		markdown_emit_string(w, "**");
		markdown_emit_string(w, lists[i].heading);
		markdown_emit_string(w, "**\n\n| function | base | share | head | share | Δ | 95 % interval | state |\n"
					"|:--|--:|--:|--:|--:|--:|--:|:--|\n");
		for (size_t k = 0; k < rows->count && k < question_rows(w->input, USUAL_ROWS); k++)
			question_lists_emit_row(w, &lists[i], &rows->rows[k]);
		markdown_emit_string(w, "\n");
	}
}

/* ---- JSON ---- */

static void put_ns(const struct diff *diff, struct buffer *out, const char *name, double value)
{
	buffer_printf(out, ",\"%s%s\":", name, diff->is_time ? "_ns" : "");
	json_text_number(out, value);
}

static void put_percent(struct buffer *out, const char *name, double value)
{
	buffer_printf(out, ",\"%s\":", name);
	json_text_number(out, value);
}

static void question_lists_put_compared(
	const struct render_input *input, const struct diff_neighbour *row, struct buffer *out)
{
	const struct diff *diff = input->diff;
	const struct diff_neighbours *all = input->question->neighbours;

	put_ns(diff, out, "base", row->raw[DIFF_BASE]);
	put_ns(diff, out, "head", row->raw[DIFF_HEAD]);
	put_ns(diff, out, "delta", row->time.delta);
	put_percent(out, "base_pct", format_share(row->time.base, all->base));
	put_percent(out, "head_pct", format_share(row->time.head, all->head));
	if (isfinite(row->time.ci_low) && isfinite(row->time.ci_high)) {
		JSON_TEXT(out, ",\"ci\":[");
		json_text_number(out, summary_points(diff, row->time.ci_low));
		JSON_TEXT(out, ",");
		json_text_number(out, summary_points(diff, row->time.ci_high));
		JSON_TEXT(out, "]");
	} else {
		JSON_TEXT(out, ",\"ci\":null");
	}
	put_percent(out, "q", row->time.q);
	buffer_printf(out, ",\"state\":\"%s\"", diff_state_name(row->time.state));
}

static bool question_lists_put_row(
	const struct render_input *input, const struct diff_neighbour *row, struct buffer *out)
{
	const struct diff *diff = input->diff;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];

	JSON_TEXT(out, "{\"function\":");
	if (row->function == PROFILE_NONE) {
		JSON_TEXT(out, "null");
	} else {
		question_id(diff, &diff->functions[row->function], id);
		buffer_printf(out, "%u,\"id\":\"%s\",\"name\":", row->function, id);
		if (!json_text_string(out, diff_string(diff, diff->functions[row->function].name)))
			return false;
	}
	if (diff->sides == DIFF_SIDES) {
		question_lists_put_compared(input, row, out);
	} else {
		put_ns(diff, out, "total", row->raw[DIFF_HEAD]);
		put_percent(out, "pct", format_share(row->time.head, input->question->neighbours->head));
	}
	JSON_TEXT(out, "}");
	return true;
}

static bool put_list(const struct render_input *input, const struct question_list *list, struct buffer *out)
{
	size_t count = list->neighbours->count, rows = question_rows(input, count);

	rows = rows < count ? rows : count;
	buffer_printf(out, ",\n \"%s\": [", list->json);
	for (size_t i = 0; i < rows; i++) {
		buffer_append_string(out, i ? ",\n  " : "\n  ");
		if (!question_lists_put_row(input, &list->neighbours->rows[i], out))
			return false;
	}
	buffer_append_string(out, rows ? "\n ]" : "]");
	if (rows < count)
		buffer_printf(out, ",\n \"%s_left_out\": %zu", list->json, count - rows);
	return true;
}

static bool question_lists_put_text(struct buffer *out, const char *name, const char *text)
{
	buffer_printf(out, "\"%s\": ", name);
	if (text)
		return json_text_string(out, text);
	JSON_TEXT(out, "null");
	return true;
}

static bool put_where(const struct profile_selection *selection, struct buffer *out)
{
	JSON_TEXT(out, ", \"where\": [");
	for (size_t i = 0; i < selection->where_count; i++) {
		buffer_append_string(out, i ? ", {" : "{");
		if (!question_lists_put_text(out, "key", profile_selection_key_name(&selection->where[i])))
			return false;
		JSON_TEXT(out, ", ");
		if (!question_lists_put_text(out, "value", selection->where[i].value))
			return false;
		JSON_TEXT(out, "}");
	}
	JSON_TEXT(out, "]");
	return true;
}

static bool put_selection(const struct render_input *input, struct buffer *out)
{
	const struct render_question *question = input->question;
	const struct profile_selection *selection = question->selection;

	JSON_TEXT(out, ",\n \"selection\": {");
	if (!question_lists_put_text(out, "focus", selection->focus))
		return false;
	JSON_TEXT(out, ", ");
	if (!question_lists_put_text(out, "hide", selection->hide))
		return false;
	JSON_TEXT(out, ", ");
	if (!question_lists_put_text(out, "only",
		    selection->only == PROFILE_ORIGIN_UNKNOWN ? NULL : profile_origin_name(selection->only)) ||
		!put_where(selection, out))
		return false;
	if (input->diff->sides == DIFF_SIDES)
		put_percent(out, "base_pct", question_percent(input, DIFF_BASE));
	put_percent(out, "head_pct", question_percent(input, DIFF_HEAD));
	JSON_TEXT(out, "}");
	return true;
}

bool question_json(const struct render_input *input, struct buffer *out)
{
	struct question_list lists[QUESTION_LISTS];

	question_lists(input, lists);
	if (input->question && input->question->selection && !put_selection(input, out))
		return false;
	for (size_t i = 0; i < QUESTION_LISTS; i++)
		if (lists[i].neighbours && !put_list(input, &lists[i], out))
			return false;
	return true;
}
