/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortens the name of a function to a width. */
#include "profile/profile.h"

#include <string.h>

static const uint32_t ellipsis = 0x2026;

/* Longer names are cut before anything else is done with them. */
enum { MAX_NAME_BYTES = 1 << 16 };

/* Where the argument list at the end of a name opens; NULL when there is none or it is empty. */
static const char *find_arguments(const char *name, size_t size, const char **close)
{
	const char *end = name + size;
	size_t depth = 0;

	while (end > name && end[-1] != ')')
		end--;
	/* Only " const" and the like may follow the list. */
	if (end == name || size - (size_t)(end - name) > 12)
		return NULL;
	*close = end - 1;
	for (const char *at = *close;; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (depth == 0)
			return *close - at > 1 && at > name ? at : NULL;
		if (at == name)
			return NULL;
	}
}

static bool shorten_ends_with(const struct buffer *text, const char *end)
{
	size_t size = strlen(end);

	return text->size >= size && memcmp(text->data + text->size - size, end, size) == 0;
}

/* Replaces the arguments of templates: `map<int, char>::at` -> `map<…>::at`. False if the brackets do not match. */
static bool collapse_templates(const char *name, struct buffer *out)
{
	size_t depth = 0;

	for (char previous = '\0'; *name; previous = *name++) {
		if (*name == '<' && depth == 0 &&
			(shorten_ends_with(out, "operator") || shorten_ends_with(out, "operator<"))) {
			buffer_append_byte(out, '<');
		} else if (*name == '<') {
			if (depth++ == 0) {
				buffer_append_byte(out, '<');
				unicode_append(out, ellipsis);
			}
		} else if (*name == '>' && depth > 0 && previous != '-') {
			if (--depth == 0)
				buffer_append_byte(out, '>');
		} else if (depth == 0) {
			buffer_append_byte(out, (uint8_t)*name);
		}
	}
	return depth == 0 && out->data;
}

static void append_columns(struct buffer *out, const char *text, size_t width)
{
	for (uint32_t code; (code = unicode_next(&text)) != 0;) {
		if (unicode_width(code) > width)
			return;
		width -= unicode_width(code);
		unicode_append(out, code);
	}
}

static void cut_middle(const char *text, size_t width, struct buffer *out)
{
	size_t all = unicode_text_width(text), tail = (width - 1) / 2, skipped = 0;

	if (all <= width) {
		buffer_append_string(out, text);
		return;
	}
	append_columns(out, text, width - 1 - tail);
	unicode_append(out, ellipsis);
	while (all - skipped > tail) {
		uint32_t code = unicode_next(&text);

		if (code == 0)
			return;
		skipped += unicode_width(code);
	}
	buffer_append_string(out, text);
}

/* Templates of the standard library, and the short names by which source code calls them. */
static const char *const written_as[][2] = {
	{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string" },
	{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string" },
	{ "std::basic_string_view<char, std::char_traits<char> >", "std::string_view" },
	{ "std::basic_string_view<char, std::char_traits<char>>", "std::string_view" },
	{ "std::__cxx11::", "std::" },
};

/* Appends the name with U+FFFD in place of characters that must not reach a terminal. */
static void append_clean(const char *name, struct buffer *out)
{
	while (*name && out->size < MAX_NAME_BYTES) {
		size_t i = 0, count = sizeof(written_as) / sizeof(*written_as);

		while (i < count && strncmp(name, written_as[i][0], strlen(written_as[i][0])) != 0)
			i++;
		if (i == count) {
			unicode_append(out, unicode_clean(unicode_next(&name)));
		} else {
			buffer_append_string(out, written_as[i][1]);
			name += strlen(written_as[i][0]);
		}
	}
}

void profile_shorten_name(const char *name, size_t width, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer clean = { 0 }, bare = { 0 }, collapsed = { 0 };
	const char *close, *open;

	buffer_init(&clean, (size_t)MAX_NAME_BYTES * 4);
	buffer_init(&bare, (size_t)MAX_NAME_BYTES * 4);
	buffer_init(&collapsed, (size_t)MAX_NAME_BYTES * 4);
	if (width == 0)
		return;
	append_clean(name, &clean);
	if (clean.failed) {
		out->failed = true;
		return;
	}
	if (clean.size == 0)
		return;
	if (unicode_text_width(clean.data) <= width) {
		cut_middle(clean.data, width, out);
		return;
	}
	open = find_arguments(clean.data, clean.size, &close);
	if (open) {
		buffer_append(&bare, clean.data, (size_t)(open + 1 - clean.data));
		unicode_append(&bare, ellipsis);
		buffer_append_string(&bare, close);
	} else {
		buffer_append(&bare, clean.data, clean.size);
	}
	if (!bare.failed && unicode_text_width(bare.data) > width && !collapse_templates(bare.data, &collapsed))
		collapsed.size = 0;
	if (bare.failed || collapsed.failed)
		out->failed = true;
	else
		cut_middle(collapsed.size > 0 ? collapsed.data : bare.data, width, out);
}
