/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/wrap.h"

#include "common/cleanup.h"
#include "common/unicode.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool in_word(char character)
{
	return isalnum((unsigned char)character) != 0;
}

/*
 * The end of what is quoted from `at` on, before `limit`; NULL: nothing is. A single quote may be an apostrophe, which
 * stands behind a letter.
 */
static const char *end_of_quoted(const char *text, const char *at, const char *limit)
{
	const char quote = *at;

	if (quote != '`' && (quote != '\'' || (at > text && in_word(at[-1]))))
		return NULL;
	while ((at = memchr(at + 1, quote, (size_t)(limit - at - 1))) != NULL)
		if (quote == '`' || !in_word(at[1]))
			return at + 1;
	return NULL;
}

/* The end of the word at `text`, of at most `most` bytes where it has spaces. */
static const char *end_of_word(const char *text, size_t most)
{
	const char *end = text + strcspn(text, " "), *limit = text + strnlen(text, most);

	for (const char *at = text; at < end && at < limit; at++) {
		const char *quoted = end_of_quoted(text, at, limit), *close;

		if (!quoted)
			continue;
		close = quoted + strcspn(quoted, " ");
		if (close > limit)
			break;
		if (close > end)
			end = close;
		at = quoted - 1;
	}
	if (end > text && isdigit((unsigned char)end[-1]) && end[0] == ' ' && end[1] == '%')
		end += 1 + strcspn(end + 1, " ");
	return end;
}

/* Appends a word behind a gap, in columns, or on the next line. The first word has no line before it. */
static bool wrap_append_word(struct buffer *out, const char *text, const char *end, const struct wrap *wrap, size_t gap,
	size_t *column, bool is_first)
{
	const char *mark = wrap->mark ? wrap->mark : "";
	CLEANUP(buffer_deinit) struct buffer word = BUFFER_INIT((size_t)1 << 20);
	size_t columns;

	while (text < end)
		unicode_append(&word, unicode_clean(unicode_next(&text)));
	buffer_append(&word, "", 0);
	if (word.failed) {
		out->failed = true;
		return false;
	}
	columns = unicode_text_width(word.data);
	if (!is_first && *column + gap + columns + strlen(mark) > wrap->width) {
		buffer_printf(out, "%s\n", mark);
		*column = 0;
		gap = wrap->indent;
	}
	buffer_printf(out, "%*s%s", (int)gap, "", word.data);
	*column += gap + columns;
	return true;
}

void wrap_append(struct buffer *out, const char *text, const struct wrap *wrap)
{
	size_t column = 0;

	for (bool is_first = true; text[strspn(text, " ")] != '\0'; is_first = false) {
		size_t gap = strspn(text, " ");
		const char *end = end_of_word(text + gap, wrap->width - wrap->indent);

		if (!wrap_append_word(out, text + gap, end, wrap, gap, &column, is_first))
			return;
		text = end;
	}
	buffer_append_byte(out, '\n');
}
