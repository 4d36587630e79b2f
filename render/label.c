/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/label.h"

#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

static const size_t max_label_bytes = 4096;
static const char ellipsis[] = "…";

/* Whether a bracket belongs to the name: Go's receiver `main.(*Server).run`, operators of C++. */
static bool is_part_of_name(const char *text, size_t length)
{
	if (length > 0 && text[length - 1] == '.')
		return true;
	while (length > 0 && strchr("-<>", text[length - 1]))
		length--;
	return length >= 8 && memcmp(text + length - 8, "operator", 8) == 0;
}

/* Appends `name` with `mark` in place of each pair of brackets and its contents; false if the brackets do not match. */
static bool without_brackets(const char *name, const char brackets[2], const char *mark, struct buffer *out)
{
	unsigned int depth = 0, kept = 0;

	for (const char *c = name; *c; c++) {
		bool part = depth == 0 && is_part_of_name(out->data ? out->data : "", out->size);

		if (*c == brackets[0] && part) {
			buffer_append_byte(out, (uint8_t)*c);
			kept++;
		} else if (*c == brackets[1] && depth == 0 && (kept || part)) {
			buffer_append_byte(out, (uint8_t)*c);
			kept -= kept > 0;
		} else if (*c == brackets[0]) {
			if (depth++ == 0)
				buffer_append_string(out, mark);
		} else if (*c == brackets[1] && depth > 0) {
			depth--;
		} else if (depth == 0) {
			buffer_append_byte(out, (uint8_t)*c);
		}
	}
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->data[--out->size] = '\0';
	return depth == 0 && out->size > 0;
}

/* Go's name without the directories of its package: `sha256.Sum` of `crypto/internal/sha256.Sum`. */
static const char *package_of(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~%-";
	const char *package = name;
	size_t size;

	while ((size = strspn(package, letters)) > 0 && package[size] == '/')
		package += size + 1;
	return memchr(package, '.', size) ? package : name;
}

/* The part after the last `::` outside arguments, or after the directories of a package; else the whole name. */
static const char *leaf_of(const char *name)
{
	const char *leaf = name;

	for (const char *at = name; (at = strstr(at, "::")) != NULL; at += 2)
		if (at[2])
			leaf = at + 2;
	return leaf == name ? package_of(name) : leaf;
}

static bool fits(const struct buffer *text, size_t columns)
{
	return text->data && unicode_text_width(text->data) <= columns;
}

static void append_cut(const char *text, size_t columns, struct buffer *out)
{
	size_t used = 1;

	for (uint32_t code; (code = unicode_next(&text)) != 0;) {
		used += unicode_width(code);
		if (used > columns)
			break;
		unicode_append(out, code);
	}
	buffer_append_string(out, ellipsis);
}

void label_append(const char *name, size_t columns, struct buffer *out)
{
	static const char round[2] = { '(', ')' }, angle[2] = { '<', '>' };
	CLEANUP(buffer_deinit) struct buffer whole = { 0 }, plain = { 0 }, bare = { 0 }, leaf = { 0 };
	const char *shortest;
	char *near;

	buffer_init(&whole, max_label_bytes);
	buffer_init(&plain, max_label_bytes);
	buffer_init(&bare, max_label_bytes);
	buffer_init(&leaf, max_label_bytes);
	profile_shorten_name(name, LABEL_LONGEST, &whole);
	buffer_append(&whole, "", 0);
	if (!whole.data || fits(&whole, columns)) {
		buffer_append_string(out, whole.data ? whole.data : "");
		return;
	}
	shortest = whole.data;
	/* Code without a name loses the function that it lies near, which it is not. */
	near = strstr(whole.data, "+0x") ? strstr(whole.data, PROFILE_NEAR) : NULL;
	if (near)
		*near = '\0';
	if (without_brackets(shortest, round, "", &plain))
		shortest = plain.data;
	if (unicode_text_width(shortest) > columns && without_brackets(shortest, angle, "‹…›", &bare))
		shortest = bare.data;
	if (unicode_text_width(shortest) > columns && leaf_of(shortest) != shortest) {
		shortest = leaf_of(shortest);
		buffer_printf(&leaf, "%s%s%s", ellipsis, shortest[-1] == '/' ? "/" : "::", shortest);
		if (fits(&leaf, columns))
			shortest = leaf.data;
	}
	if (unicode_text_width(shortest) <= columns)
		buffer_append_string(out, shortest);
	else
		append_cut(shortest, columns, out);
}
