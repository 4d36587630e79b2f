/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/markdown_writer.h"

#include <string.h>

enum { REMARK_BYTES = 200, NAME_COLUMNS = 90 };

const char markdown_marker[] = "<!-- kelvin-diff -->";

/* ---- Foreign text ---- */

/* Returns whether Markdown or HTML may give the character a meaning of its own. */
static bool markdown_is_special(uint32_t code)
{
	return code < 0x80 && strchr("\\`*_{}[]<>#+!|~&@:\"'$^", (int)code) != NULL;
}

/* Punctuation without a meaning inside a word stays as it is, so that the source is readable. */
void markdown_escape(struct buffer *out, const char *text, size_t max_bytes)
{
	size_t end = out->size + max_bytes;

	for (uint32_t code; (code = unicode_next(&text)) != 0;) {
		code = unicode_clean(code);
		if (out->size > end) {
			unicode_append(out, 0x2026);
			return;
		}
		if (markdown_is_special(code) && !(code == ':' && *text != '/'))
			buffer_printf(out, "&#%u;", code);
		else
			unicode_append(out, code);
	}
}

void markdown_name(struct buffer *out, const char *name)
{
	CLEANUP(buffer_deinit) struct buffer shortened = { 0 };

	buffer_init(&shortened, (size_t)1 << 20);
	profile_shorten_name(name, NAME_COLUMNS, &shortened);
	buffer_append(&shortened, "", 0);
	if (shortened.failed) {
		out->failed = true;
		return;
	}
	/* <code> is used instead of backticks, within which nothing can be escaped. */
	buffer_append_string(out, "<code>");
	markdown_escape(out, shortened.size ? shortened.data : "(no name)", MARKDOWN_MAX_SENTENCE);
	buffer_append_string(out, "</code>");
}

/* ---- Writing within the limit ---- */

void markdown_emit(struct markdown_writer *w, const struct buffer *part)
{
	if (part->failed) {
		w->out->failed = true;
		return;
	}
	if (w->full || w->out->size - w->start + part->size > MARKDOWN_MAX_BYTES - REMARK_BYTES) {
		w->full = true;
		return;
	}
	buffer_append(w->out, part->data, part->size);
}

void markdown_emit_string(struct markdown_writer *w, const char *text)
{
	CLEANUP(buffer_deinit) struct buffer part = { 0 };

	buffer_init(&part, MARKDOWN_MAX_BYTES);
	buffer_append_string(&part, text);
	markdown_emit(w, &part);
}

void markdown_emit_text(struct markdown_writer *w, const char *before, struct buffer *text, const char *after)
{
	CLEANUP(buffer_deinit) struct buffer part = { 0 };

	buffer_init(&part, (size_t)1 << 20);
	buffer_append(text, "", 0);
	buffer_append_string(&part, before);
	if (!text->failed)
		markdown_escape(&part, text->data, MARKDOWN_MAX_SENTENCE);
	buffer_append_string(&part, after);
	part.failed |= text->failed;
	markdown_emit(w, &part);
}

void markdown_warnings(struct markdown_writer *w, const struct string_table *strings,
	const struct diff_warning *warnings, size_t count)
{
	if (count == 0)
		return;
	markdown_emit_string(w, "**Warnings**\n\n");
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer part = { 0 };

		buffer_init(&part, MARKDOWN_MAX_BYTES);
		buffer_append_string(&part, "- ");
		markdown_escape(&part, string_table_get(strings, warnings[i].text), MARKDOWN_MAX_SENTENCE);
		buffer_append_byte(&part, '\n');
		markdown_emit(w, &part);
	}
	markdown_emit_string(w, "\n");
}

void markdown_finish(struct markdown_writer *w)
{
	if (w->full)
		buffer_append_string(w->out, "\n\nThe rest does not fit into a comment; see the HTML report.\n");
}
