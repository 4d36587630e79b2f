/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/text_writer.h"

#include "render/question.h"
#include "render/summary.h"
#include "render/table.h"

#include <string.h>

enum { DEFAULT_WIDTH = 100, MIN_WIDTH = 40, MAX_WIDTH = 1000, DEFAULT_ROWS = 20, MAX_ROWS = 10000 };

static size_t clamp(unsigned int value, size_t fallback, size_t least, size_t most)
{
	size_t chosen = value ? value : fallback;

	return chosen < least ? least : chosen > most ? most : chosen;
}

struct text_writer text_writer_make(const struct render_text_options *options, struct buffer *out)
{
	static const struct render_text_options defaults = { 0 };
	struct text_writer w = { .out = out };

	options = options ? options : &defaults;
	w.width = clamp(options->width, DEFAULT_WIDTH, MIN_WIDTH, MAX_WIDTH);
	w.is_whole = options->is_whole;
	w.rows = clamp(options->rows, DEFAULT_ROWS, 1, MAX_ROWS);
	w.half = (w.rows + 1) / 2;
	w.colour = options->colour;
	return w;
}

void text_writer_take(struct text_writer *w, const struct render_input *input)
{
	w->input = input;
	w->diff = input->diff;
	w->unit = diff_string(input->diff, input->diff->unit);
	w->rows = question_rows(input, w->rows);
	w->half = question_rows(input, w->half);
}

const char *text_id(const struct text_writer *w, const struct diff_function *function, char *id)
{
	id[0] = '\0';
	if (w->input->question && w->input->question->has_ids)
		question_id(w->diff, function, id);
	return id;
}

void text_question(const struct text_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	question_sentences(w->input, &text);
	if (text.failed)
		w->out->failed = true;
	else if (text.size > 0)
		text_paragraph(w, text.data, 0);
}

void text_paragraph(const struct text_writer *w, const char *text, size_t indent)
{
	wrap_append(w->out, text, &(struct wrap){ .width = w->width, .indent = indent });
}

void text_sentences(const struct text_writer *w, void (*say)(const struct diff *, struct buffer *))
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	say(w->diff, &text);
	buffer_append(&text, "", 0);
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, 0);
}

void text_heading(const struct text_writer *w, const char *text)
{
	buffer_printf(w->out, "\n%s", table_style_on(TABLE_BOLD, w->colour));
	text_paragraph(w, text, 0);
	buffer_append_string(w->out, table_style_off(TABLE_BOLD, w->colour));
}

void text_lines(const struct text_writer *w, const char *text)
{
	uint32_t code = 0;

	while (*text) {
		code = unicode_next(&text);
		unicode_append(w->out, code == '\n' ? code : unicode_clean(code));
	}
	if (code != '\n')
		buffer_append_byte(w->out, '\n');
}

void text_mark(const struct text_writer *w, const char *mark, const char *words)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, 1024);
	buffer_printf(&text, "%s %s", mark, words);
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, 2);
}

void text_list_heading(const struct text_writer *w, enum summary_order order)
{
	CLEANUP(buffer_deinit) struct buffer heading = { 0 };

	buffer_init(&heading, (size_t)1 << 20);
	summary_heading(w->diff, order, &heading);
	if (heading.failed)
		w->out->failed = true;
	else
		text_heading(w, heading.data);
}

void text_title(const struct text_writer *w)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	summary_title(w->input, &text);
	if (text.failed)
		w->out->failed = true;
	else if (text.size > 0)
		text_paragraph(w, text.data, 0);
}

void text_side(const struct text_writer *w, enum diff_side side, const char *label)
{
	const char *command = summary_command(w->input, side), *name = w->input->names[side];
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	buffer_append_string(&text, label);
	if (command[0])
		buffer_printf(&text, "%s, ", command);
	if (name && name[0] && name != command)
		buffer_printf(&text, "%s, ", name);
	if (w->input->profiles[side])
		summary_quality(w->input->profiles[side], &text);
	summary_verified(w->input->profiles[side], ". ", &text);
	summary_labels(w->input->profiles[side], ". Labels: ", &text);
	buffer_append_byte(&text, '.');
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, 6);
}

bool text_warnings(const struct text_writer *w, const struct string_table *strings, const struct diff_warning *warnings,
	size_t count, struct error *err)
{
	if (count == 0)
		return true;
	text_heading(w, "Warnings");
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer text = { 0 };

		buffer_init(&text, (size_t)1 << 20);
		buffer_printf(&text, "- %s%s", string_table_get(strings, warnings[i].text),
			warnings[i].blocks_gate ? " (the limits of --fail-on are not checked because of this)" : "");
		if (!buffer_ok(&text, err))
			return false;
		text_paragraph(w, text.data, 2);
	}
	return true;
}
