/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/document.h"

#include "render/question.h"

enum {
	DEFAULT_WIDTH = 100,
	MIN_WIDTH = 40,
	MAX_WIDTH = 1000,
	DEFAULT_ROWS = 20,
	MAX_ROWS = 10000,
	COMMENT_ROWS = 15,
	MAX_WORDS_BYTES = 1 << 24
};

static size_t clamp(unsigned int value, size_t fallback, size_t least, size_t most)
{
	size_t chosen = value ? value : fallback;

	return chosen < least ? least : chosen > most ? most : chosen;
}

struct document document_text(const struct render_text_options *options, struct buffer *out)
{
	static const struct render_text_options defaults = { 0 };
	struct document d = { .form = DOCUMENT_TEXT, .out = out };

	options = options ? options : &defaults;
	buffer_init(&d.words, MAX_WORDS_BYTES);
	d.width = clamp(options->width, DEFAULT_WIDTH, MIN_WIDTH, MAX_WIDTH);
	d.is_whole = options->is_whole;
	d.rows = clamp(options->rows, DEFAULT_ROWS, 1, MAX_ROWS);
	d.half = (d.rows + 1) / 2;
	d.colour = options->colour;
	return d;
}

struct document document_markdown(const char *marker, struct buffer *out)
{
	struct document d = { .form = DOCUMENT_MARKDOWN, .out = out, .start = out->size, .end = DOCUMENT_MAX_BYTES };

	buffer_init(&d.words, MAX_WORDS_BYTES);
	d.rows = d.half = COMMENT_ROWS;
	buffer_printf(out, "<!-- %s -->\n", marker);
	return d;
}

void document_deinit(struct document *d)
{
	buffer_deinit(&d->words);
}

bool document_finish(struct document *d, struct error *err)
{
	if (d->full || d->left_out)
		document_markdown_remark(d);
	return buffer_ok(d->out, err);
}

void document_take(struct document *d, const struct render_input *input)
{
	d->input = input;
	d->diff = input->diff;
	d->unit = diff_string(input->diff, input->diff->unit);
	d->rows = question_rows(input, d->rows);
	d->half = question_rows(input, d->half);
}

void document_name(struct buffer *words, const char *name)
{
	buffer_printf(words, DOCUMENT_NAME "%s" DOCUMENT_END, name);
}

void document_put(struct document *d, enum document_block block, const char *words)
{
	bool needs_words = block != DOCUMENT_GAP && block != DOCUMENT_FOLD_END;

	buffer_append_string(&d->words, words);
	buffer_append(&d->words, "", 0);
	if (d->words.failed)
		d->out->failed = true;
	else if (d->words.size == 0 && needs_words)
		return;
	else
		(document_is_text(d) ? document_text_put : document_markdown_put)(d, block, d->words.data);
	d->words.size = 0;
}

size_t document_table(struct document *d, const struct table *table)
{
	if (table->failed)
		d->out->failed = true;
	if (table->failed || table->row_count == 0) {
		d->words.size = 0;
		return 0;
	}
	document_put(d, DOCUMENT_HEADING, "");
	if (!document_is_text(d))
		return document_markdown_table(d, table);
	table_write(table, d->width, d->colour, d->out);
	return table->row_count;
}
