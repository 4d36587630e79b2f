/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a history as a comment of a pull request or a message. The answers come first, then the changes of each
 * series. Each section ends at its share of the comment, so that there is something of every one.
 */
#include "render/history_bars.h"
#include "render/markdown_writer.h"

#include <string.h>

enum { OPEN_END = 30000, WENT_END = 45000, BARS = 24, FACT_BYTES = 200, COMMAND_BYTES = 2048, DRIFT_BYTES = 2000 };

/* The first line, by which a comment is found again to be replaced. */
static const char marker[] = "<!-- kelvin-history -->\n";

struct message {
	struct markdown_writer w;
	const struct render_history *input;
	struct history_words words;
	struct history_bars bars;
	bool left_out;
};

/* Appends a sentence in which names stand in backticks, as code. */
static void history_markdown_append_sentence(struct buffer *out, const char *text)
{
	bool is_code = false;

	for (;;) {
		size_t size = strcspn(text, "`");
		CLEANUP(cleanup_free) char *part = strndup(text, size);

		if (!part) {
			out->failed = true;
			return;
		}
		markdown_escape(out, part, MARKDOWN_MAX_SENTENCE);
		text += size;
		if (!*text)
			break;
		buffer_append_string(out, is_code ? "</code>" : "<code>");
		is_code = !is_code;
		text++;
	}
	buffer_append_string(out, is_code ? "</code>" : "");
}

/* Writes what a function says, between two strings. */
static void history_markdown_emit_words(struct message *m, const char *before,
	void (*say)(const struct history_words *, struct buffer *), const char *after)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	CLEANUP(buffer_deinit) struct buffer part = { 0 };

	buffer_init(&text, HISTORY_MAX_TEXT_BYTES);
	buffer_init(&part, HISTORY_MAX_TEXT_BYTES);
	say(&m->words, &text);
	buffer_append(&text, "", 0);
	buffer_append_string(&part, before);
	if (!text.failed)
		history_markdown_append_sentence(&part, text.data);
	buffer_append_string(&part, after);
	part.failed |= text.failed;
	markdown_emit(&m->w, &part);
}

/* Appends a part if it ends before `end`; else remembers that something was left out. */
static void history_markdown_emit_until(struct message *m, const struct buffer *part, size_t end)
{
	if (!part->failed && m->w.out->size - m->w.start + part->size > end)
		m->left_out = true;
	else
		markdown_emit(&m->w, part);
}

/* ---- Changes ---- */

static void append_bars(const struct message *m, const struct history_change *change, struct buffer *row)
{
	double range[2];

	buffer_append_string(row, "<code>");
	history_bars_append(&m->bars, change->function, change->is_self, range, row);
	buffer_append_string(row, "</code> |\n");
}

/* Appends when a point was, and the fact that changed there. */
static void append_point(const struct message *m, const struct history_change *change, struct buffer *row)
{
	const char *fact = history_words_fact(&m->words, change);

	buffer_append_string(row, history_words_time(&m->words, m->words.series->points[change->point].at).text);
	if (fact[0]) {
		buffer_append_string(row, "<br>");
		markdown_escape(row, fact, FACT_BYTES);
	}
}

static void emit_open(struct message *m, const struct history_change *change)
{
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_append_string(&row, "| ");
	append_point(m, change, &row);
	buffer_append_string(&row, " | ");
	markdown_name(&row, history_words_name(&m->words, change->function));
	buffer_printf(&row, " %s | %s | **%s** | %s | %s | %s | ", history_words_time_kind(change),
		history_words_values(&m->words, change->function, change->before, change->after).text,
		history_words_delta(change).text, history_words_interval(change).text,
		history_words_evidence(change).text, history_words_code(change));
	append_bars(m, change, &row);
	history_markdown_emit_until(m, &row, OPEN_END);
}

static void history_markdown_write_open(struct message *m)
{
	const struct history_series *series = m->words.series;
	struct history_words_count count = history_words_count(series);

	if (count.more + count.less == 0)
		return;
	markdown_emit_string(&m->w,
		"| since | function | before → after | change | 95 % interval | evidence | code | over time |\n"
		"|:--|:--|--:|--:|--:|:--|:--|:--|\n");
	for (size_t i = 0; i < series->change_count; i++)
		if (history_words_is_open(&series->changes[i]))
			emit_open(m, &series->changes[i]);
	history_markdown_emit_words(m, "\n", history_words_of_changes, "\n\n");
}

static void emit_went(struct message *m, const struct history_change *change)
{
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_append_string(&row, "| ");
	append_point(m, change, &row);
	buffer_printf(&row, " | %s | ", history_words_time(&m->words, m->words.series->points[change->went].at).text);
	markdown_name(&row, history_words_name(&m->words, change->function));
	buffer_printf(
		&row, " %s | %s | ", history_words_time_kind(change), history_words_course(&m->words, change).text);
	append_bars(m, change, &row);
	history_markdown_emit_until(m, &row, WENT_END);
}

static void history_markdown_write_went(struct message *m)
{
	const struct history_series *series = m->words.series;
	size_t count = history_words_count(series).went;
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	if (count == 0)
		return;
	buffer_init(&title, 1024);
	buffer_printf(&title,
		"<details><summary>%zu came and went</summary>\n\n"
		"| from | to | function | before → in it → last | over time |\n|:--|:--|:--|--:|:--|\n",
		count);
	markdown_emit(&m->w, &title);
	for (size_t i = 0; i < series->change_count; i++)
		if (history_words_has_gone(&series->changes[i]))
			emit_went(m, &series->changes[i]);
	markdown_emit_string(&m->w, "\n</details>\n\n");
}

static void history_markdown_write_drifts(struct message *m)
{
	const struct history_series *series = m->words.series;
	size_t listed = 0;
	CLEANUP(buffer_deinit) struct buffer part = { 0 };

	if (series->drift_count == 0)
		return;
	buffer_init(&part, MARKDOWN_MAX_BYTES);
	buffer_append_string(&part, "Slow trends, without a moment when they began: ");
	for (; listed < series->drift_count && part.size < DRIFT_BYTES; listed++) {
		const struct history_drift *drift = &series->drifts[listed];

		buffer_append_string(&part, listed ? ", " : "");
		markdown_name(&part, history_words_name(&m->words, drift->function));
		buffer_printf(
			&part, " %s", history_words_values(&m->words, drift->function, drift->first, drift->last).text);
	}
	if (listed < series->drift_count)
		buffer_printf(&part, " and %zu more", series->drift_count - listed);
	buffer_append_string(&part, ".\n\n");
	markdown_emit(&m->w, &part);
}

/* ---- Commands and notices ---- */

/* Writes the command for the latest point with an open change. */
static void write_command(struct message *m)
{
	const struct history_change *newest = history_words_newest(m->words.series);
	CLEANUP(buffer_deinit) struct buffer command = { 0 };
	CLEANUP(buffer_deinit) struct buffer part = { 0 };

	if (!newest)
		return;
	buffer_init(&command, HISTORY_MAX_TEXT_BYTES);
	buffer_init(&part, HISTORY_MAX_TEXT_BYTES);
	history_words_command(&m->words, m->input, newest->point, &command);
	buffer_append(&command, "", 0);
	buffer_append_string(&part, "The call paths behind the newest: <code>");
	/* What was cut off is no command. */
	if (command.failed || command.size > COMMAND_BYTES)
		return;
	markdown_escape(&part, command.data, COMMAND_BYTES);
	buffer_append_string(&part, "</code>\n\n");
	markdown_emit(&m->w, &part);
}

static void history_markdown_write_notices(struct message *m, const uint32_t *notices, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer part = { 0 };

		buffer_init(&part, MARKDOWN_MAX_BYTES);
		buffer_append_string(&part, "- ");
		markdown_escape(&part, history_string(m->input->history, notices[i]), MARKDOWN_MAX_SENTENCE);
		buffer_append_byte(&part, '\n');
		markdown_emit(&m->w, &part);
	}
	markdown_emit_string(&m->w, count ? "\n" : "");
}

static bool history_markdown_write_series(struct message *m, struct error *err)
{
	if (!history_bars_init(&m->bars, &m->words, BARS, err))
		return false;
	history_markdown_emit_words(m, "### ", history_words_verdict, "\n\n");
	history_markdown_write_open(m);
	history_markdown_write_went(m);
	history_markdown_write_drifts(m);
	write_command(m);
	history_markdown_emit_words(m, "", history_words_facts, "\n\n");
	history_markdown_write_notices(m, m->words.series->notices, m->words.series->notice_count);
	history_bars_deinit(&m->bars);
	return true;
}

bool render_history_markdown(const struct render_history *input, struct buffer *out, struct error *err)
{
	const struct history *history = input->history;
	struct message m = { .w = { .out = out, .start = out->size }, .input = input };

	markdown_emit_string(&m.w, marker);
	for (size_t i = 0; i < history->series_count; i++) {
		m.words = history_words_of(history, &history->series[i]);
		if (!history_markdown_write_series(&m, err))
			return false;
	}
	history_markdown_write_notices(&m, history->notices, history->notice_count);
	m.w.full = m.w.full || m.left_out;
	markdown_finish(&m.w);
	return buffer_ok(out, err);
}
