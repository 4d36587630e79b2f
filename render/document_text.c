/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes blocks of a document as text for a terminal. */
#include "render/document.h"

#include <string.h>

enum { NAME_COLUMNS = 60 };

/* The text that is put before a block, and the columns before its other lines. */
static const struct {
	const char *before;
	size_t indent;
	bool is_bold;
} layout[] = {
	[DOCUMENT_VERDICT] = { "", 0, true },
	[DOCUMENT_HEADING] = { "", 0, true },
	[DOCUMENT_PARAGRAPH] = { "", 0, false },
	[DOCUMENT_NOTE] = { "", 2, false },
	[DOCUMENT_ITEM] = { "- ", 2, false },
	[DOCUMENT_NUMBERED] = { "", 3, false },
	[DOCUMENT_INDENTED] = { "", 4, false },
	[DOCUMENT_SIDE] = { "", 6, false },
	[DOCUMENT_MORE] = { "  and ", 2, false },
	[DOCUMENT_FOLD] = { "", 0, true },
};

void document_text_words(struct buffer *out, const char *words)
{
	while (*words) {
		size_t size = strcspn(words, DOCUMENT_NAME DOCUMENT_END DOCUMENT_BOLD DOCUMENT_CODE DOCUMENT_BREAK);
		const char *end = words[size] == DOCUMENT_NAME[0] ? strchr(words + size, DOCUMENT_END[0]) : NULL;

		buffer_append(out, words, size);
		words += size;
		if (end) {
			CLEANUP(cleanup_free) char *name = memory_copy_text(words + 1, (size_t)(end - words) - 1);

			out->failed |= !name;
			if (name)
				profile_shorten_name(name, NAME_COLUMNS, out);
			words = end;
		}
		words += *words != '\0';
	}
}

void document_text_put(struct document *d, enum document_block block, const char *words)
{
	enum table_style style;
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (block == DOCUMENT_GAP || block == DOCUMENT_FOLD_END)
		return;
	style = layout[block].is_bold ? TABLE_BOLD : TABLE_PLAIN;
	buffer_init(&text, d->words.max_bytes);
	buffer_append_string(&text, layout[block].before);
	document_text_words(&text, words);
	if (text.failed) {
		d->out->failed = true;
		return;
	}
	buffer_append_string(d->out, block == DOCUMENT_HEADING || block == DOCUMENT_FOLD ? "\n" : "");
	buffer_append_string(d->out, table_style_on(style, d->colour));
	wrap_append(d->out, text.data, &(struct wrap){ .width = d->width, .indent = layout[block].indent });
	buffer_append_string(d->out, table_style_off(style, d->colour));
}
