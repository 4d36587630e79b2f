/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a history as text on one screen: the answer, the changes that are open, those that came and went, drifts,
 * the functions over time, the commands that show a point, and last what limits all this.
 */
#include "render/history_bars.h"
#include "render/table.h"
#include "render/text_writer.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_ROWS = 100000,
	MOST_PAIRS = 1, /* on a terminal: the page has them all */
	MOST_BARS = 60,
	LEAST_BARS = 16,
	LEAST_NAME = 12,
	NAME_COLUMNS = 32,
	VALUE_COLUMNS = 9,
};

/* Returns how many rows a list has: a screen is of several lists. */
static size_t history_text_rows_of(const struct text_writer *w)
{
	return w->is_whole ? MOST_ROWS : w->rows;
}

static void write_more(const struct text_writer *w, size_t left_out)
{
	if (left_out > 0)
		buffer_printf(w->out, "  and %s more\n", format_count((double)left_out).text);
}

/* Appends a sentence that is made by a function. */
static bool write_words(const struct text_writer *w, const struct history_words *words,
	void (*say)(const struct history_words *, struct buffer *), struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, HISTORY_MAX_TEXT_BYTES);
	say(words, &text);
	buffer_append(&text, "", 0);
	if (!buffer_ok(&text, err))
		return false;
	if (text.size > 0)
		text_paragraph(w, text.data, 0);
	return true;
}

/* ---- Changes ---- */

static enum table_style change_style(const struct history_change *change)
{
	return !history_words_is_open(change) ? TABLE_PLAIN : history_words_is_more(change) ? TABLE_RED : TABLE_BLUE;
}

/*
 * Adds the line over the changes of a point: "since 18 Nov 14:02, version 41 → 42"; of those that are gone again: "from
 * 10 Nov 14:02 to 12 Nov 14:02".
 */
static void add_point(const struct history_words *words, const struct history_change *change, struct table *table)
{
	const struct history_point *points = words->series->points;
	const char *fact = history_words_fact(words, change);
	CLEANUP(buffer_deinit) struct buffer line = { 0 };

	buffer_init(&line, HISTORY_MAX_TEXT_BYTES);
	buffer_printf(&line, "%s %s", history_words_is_open(change) ? "since" : "from",
		history_words_time(words, points[change->point].at).text);
	if (!history_words_is_open(change))
		buffer_printf(&line, " to %s", history_words_time(words, points[change->went].at).text);
	buffer_printf(&line, "%s%s", fact[0] ? ", " : "", fact);
	table->failed |= line.failed;
	if (!line.failed)
		table_add_group(table, line.data);
}

static void history_text_add_open(
	const struct history_words *words, const struct history_change *change, struct table *table)
{
	struct format_text values = history_words_values(words, change->function, change->before, change->after),
			   delta = history_words_delta(change), interval = history_words_interval(change),
			   evidence = history_words_evidence(change);
	const char *cells[] = { history_words_name(words, change->function), history_words_time_kind(change),
		values.text, delta.text, interval.text, evidence.text, history_words_code(change) };

	table_add(table, cells, change_style(change));
}

static bool history_text_write_open(const struct text_writer *w, const struct history_words *words, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "time", .left = true, .drop = 4 },
		{ .title = "before → after" },
		{ .title = "change" },
		{ .title = "95 % interval", .drop = 2 },
		{ .title = "evidence", .left = true, .drop = 3 },
		{ .title = "code", .left = true, .drop = 1 },
	};
	const struct history_series *series = words->series;
	CLEANUP(table_deinit) struct table table = { 0 };
	size_t point = SIZE_MAX, listed = 0, left_out = 0;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];

		if (!history_words_is_open(change))
			continue;
		if (listed == history_text_rows_of(w)) {
			left_out++;
			continue;
		}
		if (change->point != point)
			add_point(words, change, &table);
		history_text_add_open(words, change, &table);
		point = change->point;
		listed++;
	}
	if (listed == 0)
		return true;
	text_heading(w, "Open changes");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	write_more(w, left_out);
	return write_words(w, words, history_words_of_changes, err);
}

static void add_went(const struct history_words *words, const struct history_change *change, struct table *table)
{
	struct format_text values = history_words_course(words, change), evidence = history_words_evidence(change);
	const char *cells[] = { history_words_name(words, change->function), history_words_time_kind(change),
		values.text, evidence.text };

	table_add(table, cells, TABLE_PLAIN);
}

static bool history_text_write_went(const struct text_writer *w, const struct history_words *words, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "time", .left = true, .drop = 2 },
		{ .title = "before → in it → last" },
		{ .title = "evidence", .left = true, .drop = 1 },
	};
	const struct history_series *series = words->series;
	CLEANUP(table_deinit) struct table table = { 0 };
	size_t listed = 0, left_out = 0, most = w->is_whole ? MOST_ROWS : w->half;
	const struct history_change *before = NULL;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];

		if (!history_words_has_gone(change))
			continue;
		if (listed == most) {
			left_out++;
			continue;
		}
		if (!before || change->point != before->point || change->went != before->went)
			add_point(words, change, &table);
		add_went(words, change, &table);
		before = change;
		listed++;
	}
	if (listed == 0)
		return true;
	text_heading(w, "Came and went");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	write_more(w, left_out);
	return true;
}

static bool history_text_write_drifts(const struct text_writer *w, const struct history_words *words, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "first → last" },
		{ .title = "change" },
		{ .title = "q", .drop = 1 },
	};
	const struct history_series *series = words->series;
	CLEANUP(table_deinit) struct table table = { 0 };
	size_t left_out = 0, most = w->is_whole ? MOST_ROWS : w->half;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < series->drift_count; i++) {
		const struct history_drift *drift = &series->drifts[i];
		struct format_text values = history_words_values(words, drift->function, drift->first, drift->last),
				   delta = drift->function == HISTORY_WHOLE ? format_change(drift->first, drift->last)
									    : format_points(drift->last - drift->first),
				   q = history_words_q(drift->q);
		const char *cells[] = { history_words_name(words, drift->function), values.text, delta.text, q.text };

		if (table.row_count == most)
			left_out++;
		else
			table_add(&table, cells, TABLE_PLAIN);
	}
	if (table.row_count == 0)
		return true;
	text_heading(w, "Drifts: a slow trend, without a moment when it began");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	write_more(w, left_out);
	return true;
}

/* ---- Functions over time ---- */

/* The lines of functions: the bars of each stand behind its name. */
struct history_text_lines {
	struct history_bars bars;
	size_t name_columns;
};

/* Appends a text, cleaned, and spaces up to a width. */
static void append_padded(struct buffer *out, const char *text, size_t width, bool is_name)
{
	CLEANUP(buffer_deinit) struct buffer cell = { 0 };
	size_t used;

	buffer_init(&cell, HISTORY_MAX_TEXT_BYTES);
	if (is_name)
		profile_shorten_name(text, width, &cell);
	else
		unicode_append_middle(&cell, text, width);
	buffer_append(&cell, "", 0);
	out->failed |= cell.failed;
	if (cell.failed)
		return;
	buffer_append(out, cell.data, cell.size);
	for (used = unicode_text_width(cell.data); used < width; used++)
		buffer_append_byte(out, ' ');
}

static void history_text_write_line(
	const struct text_writer *w, const struct history_text_lines *lines, uint32_t function, bool is_self)
{
	const struct history_words *words = lines->bars.words;
	CLEANUP(buffer_deinit) struct buffer drawn = { 0 };
	double range[2];

	buffer_init(&drawn, 4096);
	history_bars_append(&lines->bars, function, is_self, range, &drawn);
	w->out->failed |= drawn.failed;
	if (drawn.failed)
		return;
	buffer_append_string(w->out, "  ");
	append_padded(w->out, history_words_name(words, function), lines->name_columns, true);
	buffer_append_string(w->out, "  ");
	append_padded(w->out, history_words_value(words, function, range[0]).text, VALUE_COLUMNS, false);
	buffer_printf(w->out, " %s %s\n", drawn.data, history_words_value(words, function, range[1]).text);
}

/* Marks below the bars where the program was deployed. */
static void write_deploys(const struct text_writer *w, const struct history_text_lines *lines)
{
	const struct history_series *series = lines->bars.words->series;
	size_t point = 0, pending = VALUE_COLUMNS + 1;
	bool any = false;

	for (size_t i = 0; i < series->point_count; i++)
		any = any || series->points[i].is_deploy;
	if (!any)
		return;
	buffer_append_string(w->out, "  ");
	append_padded(w->out, "deploys", lines->name_columns, false);
	pending += 2;
	for (size_t i = 0; i < lines->bars.count; i++) {
		bool is_deploy = false;

		for (; point < series->point_count &&
			series->points[point].at < history_bars_start(&lines->bars, i + 1);
			point++)
			is_deploy = is_deploy || series->points[point].is_deploy;
		if (!is_deploy) {
			pending++;
			continue;
		}
		for (; pending > 0; pending--)
			buffer_append_byte(w->out, ' ');
		buffer_append_byte(w->out, '^');
	}
	buffer_append_byte(w->out, '\n');
}

/* A line of the list: the time of a function that a list above has. */
struct lined {
	uint32_t function;
	bool is_self;
};

static void add_lined(struct lined *lined, size_t *count, uint32_t function, bool is_self)
{
	for (size_t i = 0; i < *count; i++)
		if (lined[i].function == function && lined[i].is_self == is_self)
			return;
	lined[(*count)++] = (struct lined){ function, is_self };
}

static size_t name_columns_of(const struct history_words *words, const struct lined *lined, size_t count)
{
	size_t most = sizeof("deploys") - 1;

	for (size_t i = 0; i < count; i++) {
		size_t width = unicode_text_width(history_words_name(words, lined[i].function));

		most = width > most ? width : most;
	}
	return most < NAME_COLUMNS ? most : NAME_COLUMNS;
}

/*
 * Returns how many bars have room beside names, both values, and the spaces between them; shortens names for a few of
 * them.
 */
static size_t room_for_bars(const struct text_writer *w, struct history_text_lines *lines)
{
	size_t beside = 2 + 2 + 2 * (VALUE_COLUMNS + 1), room;

	if (beside + lines->name_columns + LEAST_BARS > w->width)
		lines->name_columns =
			beside + LEAST_NAME + LEAST_BARS < w->width ? w->width - beside - LEAST_BARS : LEAST_NAME;
	room = beside + lines->name_columns < w->width ? w->width - beside - lines->name_columns : 1;
	return room < MOST_BARS ? room : MOST_BARS;
}

static bool write_lined(const struct text_writer *w, const struct history_words *words, const struct lined *lined,
	size_t count, struct error *err)
{
	struct history_text_lines lines = { .name_columns = name_columns_of(words, lined, count) };

	if (!history_bars_init(&lines.bars, words, room_for_bars(w, &lines), err))
		return false;
	text_heading(w, "Over time, each from its least to its greatest value");
	for (size_t i = 0; i < count; i++)
		history_text_write_line(w, &lines, lined[i].function, lined[i].is_self);
	write_deploys(w, &lines);
	history_bars_deinit(&lines.bars);
	return true;
}

static bool history_text_write_lines(const struct text_writer *w, const struct history_words *words, struct error *err)
{
	const struct history_series *series = words->series;
	CLEANUP(cleanup_free)
	struct lined *lined = calloc(series->change_count + series->drift_count + 1, sizeof(*lined));
	size_t count = 0, most = w->is_whole ? MOST_ROWS : w->half;

	if (!lined)
		return error_set_memory(err);
	for (size_t i = 0; i < series->change_count && count < most; i++)
		if (!series->changes[i].has_moved)
			add_lined(lined, &count, series->changes[i].function, series->changes[i].is_self);
	for (size_t i = 0; i < series->drift_count && count < most; i++)
		add_lined(lined, &count, series->drifts[i].function, false);
	return count == 0 || write_lined(w, words, lined, count, err);
}

/* ---- Commands ---- */

static bool write_pair(const struct text_writer *w, const struct history_words *words,
	const struct render_history *input, size_t point, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer command = { 0 };

	buffer_init(&command, HISTORY_MAX_TEXT_BYTES);
	buffer_append_string(&command, "  ");
	history_words_command(words, input, point, &command);
	if (!buffer_ok(&command, err))
		return false;
	wrap_append(w->out, command.data, &(struct wrap){ .width = w->width, .indent = 4, .mark = " \\" });
	return true;
}

/* Writes the points of open changes, the latest first. */
static bool history_text_write_pairs(const struct text_writer *w, const struct history_words *words,
	const struct render_history *input, struct error *err)
{
	const struct history_series *series = words->series;
	size_t written = 0, left_out = 0;

	for (size_t point = series->point_count; point-- > 0;) {
		if (!history_words_has_open(series, point))
			continue;
		if (!w->is_whole && written == MOST_PAIRS) {
			left_out++;
			continue;
		}
		if (written++ == 0)
			text_heading(w, "To see the call paths behind a change");
		if (!write_pair(w, words, input, point, err))
			return false;
	}
	if (left_out > 0) {
		char text[128];

		snprintf(text, sizeof(text), "  Those of %zu more moment%s: -o FILE.html, or --text FILE.", left_out,
			left_out == 1 ? "" : "s");
		text_paragraph(w, text, 2);
	}
	return true;
}

/* ---- Sections ---- */

static void history_text_write_notices(
	const struct text_writer *w, const struct history *history, const uint32_t *notices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		text_mark(w, "-", history_string(history, notices[i]));
}

static bool history_text_write_series(const struct text_writer *w, const struct history_words *words,
	const struct render_history *input, struct error *err)
{
	const struct history_series *series = words->series;

	if (!write_words(w, words, history_words_facts, err) || !history_text_write_open(w, words, err) ||
		!history_text_write_went(w, words, err) || !history_text_write_drifts(w, words, err) ||
		!history_text_write_lines(w, words, err) || !history_text_write_pairs(w, words, input, err))
		return false;
	if (series->notice_count > 0)
		text_heading(w, "Notices");
	history_text_write_notices(w, words->history, series->notices, series->notice_count);
	return true;
}

static bool write_verdict(const struct text_writer *w, const struct history_words *words, struct error *err)
{
	bool done;

	buffer_append_string(w->out, table_style_on(TABLE_BOLD, w->colour));
	done = write_words(w, words, history_words_verdict, err);
	buffer_append_string(w->out, table_style_off(TABLE_BOLD, w->colour));
	return done;
}

/* The answers of all series come first, then what each rests on. */
bool render_history_text(const struct render_history *input, const struct render_text_options *options,
	struct buffer *out, struct error *err)
{
	const struct text_writer w = text_writer_make(options, out);
	const struct history *history = input->history;

	for (size_t i = 0; i < history->series_count; i++) {
		struct history_words words = history_words_of(history, &history->series[i]);

		if (!write_verdict(&w, &words, err))
			return false;
	}
	for (size_t i = 0; i < history->series_count; i++) {
		struct history_words words = history_words_of(history, &history->series[i]);

		if (history->series_count > 1)
			text_heading(&w, history_words_title(&words));
		if (!history_text_write_series(&w, &words, input, err))
			return false;
	}
	if (history->notice_count > 0)
		text_heading(&w, "Profiles that are in no series");
	history_text_write_notices(&w, history, history->notices, history->notice_count);
	return buffer_ok(out, err);
}
