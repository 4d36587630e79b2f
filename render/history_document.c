/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a history as text on one screen, or as Markdown: the answer, the changes that are open, those that came and
 * went, drifts, the functions over time, the commands that show a point, and what limits all this. Of a comment, each
 * list ends at its share, so that there is something of every one.
 */
#include "render/document.h"
#include "render/history_bars.h"

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
	/* Those that follow are of Markdown, which has a limit of bytes. */
	CELL_BARS = 24,
	OPEN_END = 30000,
	WENT_END = 45000,
	DRIFT_BYTES = 2000,
	COMMAND_BYTES = 2048,
};

/* Returns how many rows a list has: a screen is of several lists. */
static size_t most_rows(const struct document *d, size_t usual)
{
	return d->is_whole || !document_is_text(d) ? MOST_ROWS : usual;
}

static void put_left_out(struct document *d, size_t left_out)
{
	if (left_out == 0)
		return;
	buffer_printf(&d->words, "%s more", format_count((double)left_out).text);
	document_put(d, DOCUMENT_MORE, "");
}

/* ---- Changes ---- */

/* The parts of a list's rows that are made first. */
struct history_cells {
	struct buffer since, name, bars;
};

static void history_cells_deinit(struct history_cells *cells)
{
	buffer_deinit(&cells->since);
	buffer_deinit(&cells->name);
	buffer_deinit(&cells->bars);
}

/* Makes the cells of a comment that have more than one thing in them; on a terminal there are columns for each. */
static void make_cells(const struct document *d, const struct history_bars *bars, const struct history_change *change,
	struct history_cells *cells)
{
	const struct history_words *words = bars->words;
	const char *fact = history_words_fact(words, change), *name = history_words_name(words, change->function);
	double range[2];

	buffer_init(&cells->since, HISTORY_MAX_TEXT_BYTES);
	buffer_init(&cells->name, d->words.max_bytes);
	buffer_init(&cells->bars, HISTORY_MAX_TEXT_BYTES);
	if (document_is_text(d)) {
		buffer_append_string(&cells->name, name);
		return;
	}
	buffer_printf(&cells->since, "%s%s%s", history_words_time(words, words->series->points[change->point].at).text,
		fact[0] ? DOCUMENT_BREAK : "", fact);
	document_name(&cells->name, name);
	buffer_printf(&cells->name, " %s", history_words_time_kind(change));
	buffer_append_string(&cells->bars, DOCUMENT_CODE);
	history_bars_append(bars, change->function, change->is_self, range, &cells->bars);
	buffer_append_string(&cells->bars, DOCUMENT_END);
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

static void add_listed(const struct document *d, const struct history_bars *bars, const struct history_change *change,
	struct table *table)
{
	const struct history_words *words = bars->words;
	CLEANUP(history_cells_deinit) struct history_cells cells = { 0 };

	make_cells(d, bars, change, &cells);
	table->failed |= cells.since.failed || cells.name.failed || cells.bars.failed;
	if (history_words_is_open(change))
		TABLE_ADD(table, history_words_is_more(change) ? TABLE_RED : TABLE_BLUE, cells.since.data,
			cells.name.data, history_words_time_kind(change),
			history_words_values(words, change->function, change->before, change->after).text,
			history_words_delta(change).text, history_words_interval(change).text,
			history_words_evidence(change).text, history_words_code(change), cells.bars.data);
	else
		TABLE_ADD(table, TABLE_PLAIN, cells.since.data,
			history_words_time(words, words->series->points[change->went].at).text, cells.name.data,
			history_words_time_kind(change), history_words_course(words, change).text,
			history_words_evidence(change).text, cells.bars.data);
}

/* Adds the changes of one kind, under a line for each point. Returns how many there was no room for. */
static size_t add_changes(const struct document *d, const struct history_bars *bars, bool is_open, struct table *table)
{
	const struct history_series *series = bars->words->series;
	size_t listed = 0, left_out = 0, most = most_rows(d, is_open ? d->rows : d->half);
	const struct history_change *before = NULL;

	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];

		if (!(is_open ? history_words_is_open : history_words_has_gone)(change))
			continue;
		if (listed == most) {
			left_out++;
			continue;
		}
		if (!before || change->point != before->point || change->went != before->went)
			add_point(bars->words, change, table);
		add_listed(d, bars, change, table);
		before = change;
		listed++;
	}
	return left_out;
}

static void put_open(struct document *d, const struct history_bars *bars)
{
	static const struct table_column columns[] = {
		{ .title = "since", .left = true, .is_text = true, .only = DOCUMENT_MARKDOWN },
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "time", .left = true, .drop = 4, .only = DOCUMENT_TEXT },
		{ .title = "before → after" },
		{ .title = "change", .is_bold = true },
		{ .title = "95 % interval", .drop = 2 },
		{ .title = "evidence", .left = true, .drop = 3 },
		{ .title = "code", .left = true, .drop = 1 },
		{ .title = "over time", .left = true, .is_text = true, .only = DOCUMENT_MARKDOWN },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	size_t left_out = add_changes(d, bars, true, &table);

	if (table.row_count == 0)
		return;
	buffer_append_string(&d->words, document_is_text(d) ? "Open changes" : "");
	d->end = OPEN_END;
	document_table(d, &table);
	d->end = DOCUMENT_MAX_BYTES;
	put_left_out(d, left_out);
	history_words_of_changes(bars->words, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
}

static void put_went(struct document *d, const struct history_bars *bars)
{
	static const struct table_column columns[] = {
		{ .title = "from", .left = true, .is_text = true, .only = DOCUMENT_MARKDOWN },
		{ .title = "to", .left = true, .only = DOCUMENT_MARKDOWN },
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "time", .left = true, .drop = 2, .only = DOCUMENT_TEXT },
		{ .title = "before → in it → last" },
		{ .title = "evidence", .left = true, .drop = 1, .only = DOCUMENT_TEXT },
		{ .title = "over time", .left = true, .is_text = true, .only = DOCUMENT_MARKDOWN },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	size_t left_out = add_changes(d, bars, false, &table);

	if (table.row_count == 0)
		return;
	if (document_is_text(d)) {
		buffer_append_string(&d->words, "Came and went");
	} else {
		buffer_printf(&d->words, "%zu came and went", history_words_count(bars->words->series).went);
		document_put(d, DOCUMENT_FOLD, "");
	}
	d->end = WENT_END;
	document_table(d, &table);
	d->end = DOCUMENT_MAX_BYTES;
	put_left_out(d, left_out);
	document_put(d, DOCUMENT_FOLD_END, "");
	document_put(d, DOCUMENT_GAP, "");
}

static void put_drift_table(struct document *d, const struct history_words *words)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "first → last" },
		{ .title = "change" },
		{ .title = "q", .drop = 1 },
	};
	size_t count = words->series->drift_count, most = most_rows(d, d->half);
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < count && i < most; i++) {
		const struct history_drift *drift = &words->series->drifts[i];

		TABLE_ADD(&table, TABLE_PLAIN, history_words_name(words, drift->function),
			history_words_values(words, drift->function, drift->first, drift->last).text,
			(drift->function == HISTORY_WHOLE ? format_change(drift->first, drift->last)
							  : format_points(drift->last - drift->first))
				.text,
			history_words_q(drift->q).text);
	}
	buffer_append_string(&d->words, "Drifts: a slow trend, without a moment when it began");
	document_table(d, &table);
	put_left_out(d, count > most ? count - most : 0);
}

static void put_drift_sentence(struct document *d, const struct history_words *words)
{
	const struct history_series *series = words->series;
	size_t listed = 0;

	if (series->drift_count == 0)
		return;
	buffer_append_string(&d->words, "Slow trends, without a moment when they began: ");
	for (; listed < series->drift_count && d->words.size < DRIFT_BYTES; listed++) {
		const struct history_drift *drift = &series->drifts[listed];

		buffer_append_string(&d->words, listed ? ", " : "");
		document_name(&d->words, history_words_name(words, drift->function));
		buffer_printf(
			&d->words, " %s", history_words_values(words, drift->function, drift->first, drift->last).text);
	}
	if (listed < series->drift_count)
		buffer_printf(&d->words, " and %zu more", series->drift_count - listed);
	document_put(d, DOCUMENT_PARAGRAPH, ".");
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

static void put_line_of(
	const struct document *d, const struct history_text_lines *lines, uint32_t function, bool is_self)
{
	const struct history_words *words = lines->bars.words;
	CLEANUP(buffer_deinit) struct buffer drawn = { 0 };
	double range[2];

	buffer_init(&drawn, 4096);
	history_bars_append(&lines->bars, function, is_self, range, &drawn);
	d->out->failed |= drawn.failed;
	if (drawn.failed)
		return;
	buffer_append_string(d->out, "  ");
	append_padded(d->out, history_words_name(words, function), lines->name_columns, true);
	buffer_append_string(d->out, "  ");
	append_padded(d->out, history_words_value(words, function, range[0]).text, VALUE_COLUMNS, false);
	buffer_printf(d->out, " %s %s\n", drawn.data, history_words_value(words, function, range[1]).text);
}

/* Marks below the bars where the program was deployed. */
static void put_deploys(const struct document *d, const struct history_text_lines *lines)
{
	const struct history_series *series = lines->bars.words->series;
	size_t point = 0, pending = VALUE_COLUMNS + 1;
	bool any = false;

	for (size_t i = 0; i < series->point_count; i++)
		any = any || series->points[i].is_deploy;
	if (!any)
		return;
	buffer_append_string(d->out, "  ");
	append_padded(d->out, "deploys", lines->name_columns, false);
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
			buffer_append_byte(d->out, ' ');
		buffer_append_byte(d->out, '^');
	}
	buffer_append_byte(d->out, '\n');
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
static size_t room_for_bars(const struct document *d, struct history_text_lines *lines)
{
	size_t beside = 2 + 2 + 2 * (VALUE_COLUMNS + 1), room;

	if (beside + lines->name_columns + LEAST_BARS > d->width)
		lines->name_columns =
			beside + LEAST_NAME + LEAST_BARS < d->width ? d->width - beside - LEAST_BARS : LEAST_NAME;
	room = beside + lines->name_columns < d->width ? d->width - beside - lines->name_columns : 1;
	return room < MOST_BARS ? room : MOST_BARS;
}

static void put_lined(struct document *d, const struct history_words *words, const struct lined *lined, size_t count)
{
	struct history_text_lines lines = { .name_columns = name_columns_of(words, lined, count) };

	history_bars_init(&lines.bars, words, room_for_bars(d, &lines));
	document_put(d, DOCUMENT_HEADING, "Over time, each from its least to its greatest value");
	for (size_t i = 0; i < count; i++)
		put_line_of(d, &lines, lined[i].function, lined[i].is_self);
	put_deploys(d, &lines);
	history_bars_deinit(&lines.bars);
}

static void put_lines_of_series(struct document *d, const struct history_words *words)
{
	const struct history_series *series = words->series;
	CLEANUP(cleanup_free)
	struct lined *lined = memory_zeroed(series->change_count + series->drift_count + 1, sizeof(*lined));
	size_t count = 0, most = most_rows(d, d->half);

	for (size_t i = 0; i < series->change_count && count < most; i++)
		if (!series->changes[i].has_moved)
			add_lined(lined, &count, series->changes[i].function, series->changes[i].is_self);
	for (size_t i = 0; i < series->drift_count && count < most; i++)
		add_lined(lined, &count, series->drifts[i].function, false);
	if (count != 0)
		put_lined(d, words, lined, count);
}

/* ---- Commands ---- */

static void put_pair(
	struct document *d, const struct history_words *words, const struct render_history *input, size_t point)
{
	CLEANUP(buffer_deinit) struct buffer command = { 0 };

	buffer_init(&command, HISTORY_MAX_TEXT_BYTES);
	buffer_append_string(&command, "  ");
	history_words_command(words, input, point, &command);
	d->out->failed |= command.failed;
	if (!command.failed)
		wrap_append(d->out, command.data, &(struct wrap){ .width = d->width, .indent = 4, .mark = " \\" });
}

/* Writes the points of open changes, the latest first. */
static void put_pairs(struct document *d, const struct history_words *words, const struct render_history *input)
{
	size_t written = 0, left_out = 0;

	for (size_t point = words->series->point_count; point-- > 0;) {
		if (!history_words_has_open(words->series, point))
			continue;
		if (!d->is_whole && written == MOST_PAIRS) {
			left_out++;
			continue;
		}
		if (written++ == 0)
			document_put(d, DOCUMENT_HEADING, "To see the call paths behind a change");
		put_pair(d, words, input, point);
	}
	if (left_out == 0)
		return;
	buffer_printf(&d->words, "  Those of %zu more moment%s: -o FILE.html, or --text FILE.", left_out,
		left_out == 1 ? "" : "s");
	document_put(d, DOCUMENT_NOTE, "");
}

/* Writes the command for the point of the largest open change. */
static void put_command(struct document *d, const struct history_words *words, const struct render_history *input)
{
	const struct history_change *largest = history_words_largest(words->series);
	size_t before;

	if (!largest)
		return;
	buffer_append_string(&d->words, "The call paths behind the largest: " DOCUMENT_CODE);
	before = d->words.size;
	history_words_command(words, input, largest->point, &d->words);
	/* A command that is cut off cannot be run. */
	if (d->words.size - before > COMMAND_BYTES)
		d->words.size = 0;
	else
		document_put(d, DOCUMENT_PARAGRAPH, DOCUMENT_END);
}

/* ---- Sections ---- */

static void put_notices(
	struct document *d, const char *heading, const struct history *history, const uint32_t *notices, size_t count)
{
	if (count == 0)
		return;
	document_put(d, DOCUMENT_HEADING, document_is_text(d) ? heading : "");
	for (size_t i = 0; i < count; i++)
		document_put(d, DOCUMENT_ITEM, history_string(history, notices[i]));
	document_put(d, DOCUMENT_GAP, "");
}

static void put_verdict_of_series(struct document *d, const struct history_words *words)
{
	history_words_verdict(words, &d->words);
	document_put(d, DOCUMENT_VERDICT, "");
}

static void put_facts_of_series(struct document *d, const struct history_words *words)
{
	history_words_facts(words, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
}

static void put_series(struct document *d, const struct history_words *words, const struct render_history *input)
{
	const struct history_series *series = words->series;
	CLEANUP(history_bars_deinit) struct history_bars bars = { 0 };
	bool is_text = document_is_text(d);

	history_bars_init(&bars, words, CELL_BARS);
	(is_text ? put_facts_of_series : put_verdict_of_series)(d, words);
	put_open(d, &bars);
	put_went(d, &bars);
	if (is_text) {
		put_drift_table(d, words);
		put_lines_of_series(d, words);
		put_pairs(d, words, input);
	} else {
		put_drift_sentence(d, words);
		put_command(d, words, input);
		put_facts_of_series(d, words);
	}
	put_notices(d, "Notices", words->history, series->notices, series->notice_count);
}

static bool put_history(struct document *d, const struct render_history *input, struct error *err)
{
	const struct history *history = input->history;
	bool has_titles = document_is_text(d) && history->series_count > 1;

	for (size_t i = 0; i < history->series_count; i++) {
		struct history_words words = history_words_of(history, &history->series[i]);

		document_put(d, DOCUMENT_HEADING, has_titles ? history_words_title(&words) : "");
		put_series(d, &words, input);
	}
	put_notices(d, "Profiles that are in no series", history, history->notices, history->notice_count);
	return document_finish(d, err);
}

/* The answers of all series come first, then what each rests on. */
bool render_history_text(const struct render_history *input, const struct render_text_options *options,
	struct buffer *out, struct error *err)
{
	CLEANUP(document_deinit) struct document d = document_text(options, out);

	for (size_t i = 0; i < input->history->series_count; i++) {
		struct history_words words = history_words_of(input->history, &input->history->series[i]);

		put_verdict_of_series(&d, &words);
	}
	return put_history(&d, input, err);
}

/* Each series has its answer with it. */
bool render_history_markdown(const struct render_history *input, struct buffer *out, struct error *err)
{
	CLEANUP(document_deinit) struct document d = document_markdown("kelvin-history", out);

	return put_history(&d, input, err);
}
