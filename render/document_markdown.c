/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes blocks of a document as Markdown, in which words of foreign files have no meaning but their own. */
#include "render/document.h"
#include "render/format.h"

#include <string.h>

enum { REMARK_BYTES = 200, NAME_COLUMNS = 90, MAX_SENTENCE_BYTES = 4096, MAX_CELL_BYTES = 200, LEAST_FENCE = 3 };

static const struct {
	const char *before, *after;
} layout[] = {
	[DOCUMENT_VERDICT] = { "### ", "\n\n" },
	[DOCUMENT_HEADING] = { "**", "**\n\n" },
	[DOCUMENT_PARAGRAPH] = { "", "\n\n" },
	[DOCUMENT_NOTE] = { "", "\n\n" },
	[DOCUMENT_ITEM] = { "- ", "\n" },
	[DOCUMENT_NUMBERED] = { "", "\n" },
	[DOCUMENT_SIDE] = { "- ", "\n" },
	[DOCUMENT_MORE] = { "and ", "\n\n" },
	[DOCUMENT_GAP] = { "", "\n" },
	[DOCUMENT_FOLD] = { "<details><summary>", "</summary>\n\n" },
	[DOCUMENT_FOLD_END] = { "", "</details>\n" },
};

/* ---- Words ---- */

static bool is_letter(uint32_t code)
{
	return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

/*
 * Returns whether Markdown or HTML may give a character a meaning of its own. Punctuation without a meaning inside a
 * word stays as it is, so that the source is readable.
 */
static bool markdown_is_special(uint32_t before, uint32_t code, char next)
{
	if (code == ':')
		return next == '/';
	if (code == '\'')
		return !is_letter(before) || !is_letter((uint8_t)next);
	return code < 0x80 && strchr("\\`*_{}[]<>#+!|~&@\"$^", (int)code) != NULL;
}

/*
 * Appends foreign text of at most about `max_bytes`. Special characters become character references, which neither
 * Markdown, HTML nor a host's mentions and automatic links interpret.
 */
static void markdown_escape(struct buffer *out, const char *text, size_t size, size_t max_bytes)
{
	CLEANUP(cleanup_free) char *copy = memory_copy_text(text, size);
	const char *at = copy;
	size_t end = out->size + max_bytes;
	uint32_t before = 0;

	if (!copy) {
		out->failed = true;
		return;
	}
	for (uint32_t code; (code = unicode_next(&at)) != 0; before = code) {
		code = unicode_clean(code);
		if (out->size > end) {
			unicode_append(out, 0x2026);
			return;
		}
		if (markdown_is_special(before, code, *at))
			buffer_printf(out, "&#%u;", code);
		else
			unicode_append(out, code);
	}
}

/* Backticks are not used, within which nothing can be escaped. */
static void append_code(struct buffer *out, const char *code, size_t size, size_t max_bytes)
{
	buffer_append_string(out, "<code>");
	markdown_escape(out, size ? code : "(no name)", size ? size : SIZE_MAX, max_bytes);
	buffer_append_string(out, "</code>");
}

static void markdown_name(struct buffer *out, const char *name, size_t size)
{
	CLEANUP(cleanup_free) char *copy = memory_copy_text(name, size);
	CLEANUP(buffer_deinit) struct buffer shortened = { 0 };

	buffer_init(&shortened, (size_t)1 << 20);
	if (copy)
		profile_shorten_name(copy, NAME_COLUMNS, &shortened);
	buffer_append(&shortened, "", 0);
	out->failed |= !copy || shortened.failed;
	if (!out->failed)
		append_code(out, shortened.data, shortened.size, MAX_SENTENCE_BYTES);
}

/* Returns the end of the code or the name that begins here; NULL: none does. */
static const char *end_of_code(const char *words)
{
	return *words == DOCUMENT_NAME[0] || *words == DOCUMENT_CODE[0] ? strchr(words, DOCUMENT_END[0]) : NULL;
}

/* Returns whether each backtick outside of names has another one. */
static bool has_pairs(const char *words)
{
	bool is_paired = true;

	for (; *words; words++) {
		const char *end = end_of_code(words);

		words = end ? end : words;
		is_paired ^= *words == '`';
	}
	return is_paired;
}

static void markdown_words(struct buffer *out, const char *words, size_t max_bytes)
{
	static const char marks[] = DOCUMENT_NAME DOCUMENT_END DOCUMENT_BOLD DOCUMENT_CODE DOCUMENT_BREAK "`";
	bool is_paired = has_pairs(words), is_code = false;
	char ends[sizeof(marks)] = { 0 };

	memcpy(ends, marks, sizeof(marks) - 1 - !is_paired);
	while (*words) {
		size_t size = strcspn(words, ends);
		const char *end = end_of_code(words + size);

		if (size > 0)
			markdown_escape(out, words, size, max_bytes);
		words += size;
		if (end && *words == DOCUMENT_NAME[0])
			markdown_name(out, words + 1, (size_t)(end - words) - 1);
		else if (end)
			append_code(out, words + 1, (size_t)(end - words) - 1, max_bytes);
		else if (*words == '`')
			buffer_append_string(out, (is_code = !is_code) ? "<code>" : "</code>");
		else
			buffer_append_string(out, *words == DOCUMENT_BOLD[0]    ? "**"
						  : *words == DOCUMENT_BREAK[0] ? "<br>"
										: "");
		words = end ? end : words;
		words += *words != '\0';
	}
}

/* ---- Writing within the limit ---- */

/* Appends a part as a whole, if it fits. Returns whether it did. */
static bool markdown_emit(struct document *d, const struct buffer *part)
{
	size_t end = d->out->size - d->start + part->size;

	if (part->failed)
		d->out->failed = true;
	else if (d->full || end > DOCUMENT_MAX_BYTES - REMARK_BYTES)
		d->full = true;
	else if (end > d->end)
		d->left_out = true;
	else
		buffer_append(d->out, part->data, part->size);
	return !d->out->failed && !d->full && end <= d->end;
}

void document_markdown_put(struct document *d, enum document_block block, const char *words)
{
	CLEANUP(buffer_deinit) struct buffer part = { 0 };

	buffer_init(&part, (size_t)1 << 20);
	buffer_append_string(&part, layout[block].before);
	buffer_append_string(&part, block == DOCUMENT_NOTE && words[0] == '*' ? "\\" : "");
	if (block == DOCUMENT_NOTE && words[0] == '*')
		buffer_append_byte(&part, (uint8_t)*words++);
	markdown_words(&part, words, MAX_SENTENCE_BYTES);
	buffer_append_string(&part, layout[block].after);
	markdown_emit(d, &part);
}

/* ---- Tables ---- */

static void append_titles(const struct table *table, struct buffer *row)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (!table_has(table, i))
			continue;
		buffer_append_string(row, "| ");
		markdown_words(row, table->columns[i].title, MAX_CELL_BYTES);
		buffer_append_byte(row, ' ');
	}
	buffer_append_string(row, "|\n");
	for (size_t i = 0; i < table->column_count; i++)
		if (table_has(table, i))
			buffer_append_string(row, table->columns[i].left ? "|:--" : "|--:");
	buffer_append_string(row, "|\n");
}

/* Appends a figure or words of our own. */
static void append_own(struct buffer *row, const char *text)
{
	for (; *text; text++)
		buffer_printf(row, *text == '*' ? "\\%c" : "%c", *text);
}

static void append_cell(const struct table *table, size_t number, size_t column, struct buffer *row)
{
	const struct table_column *c = &table->columns[column];
	const char *cell = table->cells[number * table->column_count + column];
	enum table_style style = table->styles[number];
	bool is_bold = (style == TABLE_MAIN && column == 0) ||
		       (c->is_bold && cell[0] && (style == TABLE_RED || style == TABLE_BLUE));

	buffer_append_string(row, is_bold ? "| **" : "| ");
	if (c->has_dash && !cell[0])
		buffer_append_string(row, format_unknown);
	else if (c->is_name && !strpbrk(cell, DOCUMENT_NAME DOCUMENT_CODE))
		markdown_name(row, cell, strlen(cell));
	else if (c->is_code)
		append_code(row, cell, strlen(cell), MAX_CELL_BYTES);
	else if (c->is_name || c->is_text)
		markdown_words(row, cell, MAX_CELL_BYTES);
	else
		append_own(row, cell);
	buffer_append_string(row, is_bold ? "** " : " ");
}

size_t document_markdown_table(struct document *d, const struct table *table)
{
	size_t end = d->end, written = 0;

	for (size_t i = 0; i <= table->row_count && written == i; i++) {
		CLEANUP(buffer_deinit) struct buffer row = { 0 };

		buffer_init(&row, DOCUMENT_MAX_BYTES);
		if (i == 0)
			append_titles(table, &row);
		for (size_t column = 0; i > 0 && column < table->column_count; column++)
			if (table_has(table, column))
				append_cell(table, i - 1, column, &row);
		buffer_append_string(&row, i > 0 ? "|\n" : "");
		written += markdown_emit(d, &row);
	}
	d->end = DOCUMENT_MAX_BYTES;
	document_put(d, DOCUMENT_GAP, "");
	d->end = end;
	return written > 0 ? written - 1 : 0;
}

/* ---- Code ---- */

/* Returns the longest row of backticks in lines: a fence is longer than those in it. */
static size_t longest_ticks(const char *lines)
{
	size_t longest = 0, length = 0;

	for (; *lines; lines++) {
		length = *lines == '`' ? length + 1 : 0;
		longest = length > longest ? length : longest;
	}
	return longest;
}

void document_code(struct document *d, const char *language, const char *lines)
{
	size_t ticks = longest_ticks(lines) + 1;
	CLEANUP(buffer_deinit) struct buffer part = { 0 }, fence = { 0 };

	buffer_init(&part, (size_t)2 * DOCUMENT_MAX_BYTES);
	buffer_init(&fence, DOCUMENT_MAX_BYTES);
	for (size_t i = 0; i < (ticks < LEAST_FENCE ? LEAST_FENCE : ticks); i++)
		buffer_append_byte(&fence, '`');
	part.failed = fence.failed;
	if (!part.failed)
		buffer_printf(&part, "%s%s\n%s%s\n\n", fence.data, language, lines, fence.data);
	markdown_emit(d, &part);
}

void document_markdown_remark(struct document *d)
{
	buffer_append_string(d->out, "\n\nThe rest does not fit into a comment; see the HTML report.\n");
}
