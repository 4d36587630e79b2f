/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortens the name of a function to a width. The viewer does the same (viewer/common/format.js, drawing/labels.js). */
#include "profile/model.h"
#include "profile/name_scan.h"

#include <ctype.h>
#include <string.h>

#define ELLIPSIS "…"

/* Longer names are cut before anything else is done with them. */
enum { MAX_NAME_BYTES = 1 << 16 };

static bool shorten_fits(const char *text, size_t width)
{
	return unicode_text_width(text) <= width;
}

/* ---- Without arguments ---- */

/* Appends `{lambda(int)#1}` as `{lambda#1}`. */
static void append_braces(const char *at, const char *end, struct buffer *out)
{
	const char *arguments = name_has(at, "{lambda(") ? name_skip(at + 7) : NULL;

	if (arguments && arguments < end) {
		buffer_append(out, at, 7);
		at = arguments;
	}
	buffer_append(out, at, (size_t)(end - at));
}

/* Cuts the qualifiers that may follow the arguments of a function of C++. */
static void cut_qualifiers(struct buffer *out)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &", " " };

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
		size_t size = strlen(qualifiers[i]);

		if (out->size < size || memcmp(out->data + out->size - size, qualifiers[i], size) != 0)
			continue;
		out->size -= size;
		i = SIZE_MAX; /* from the first one again */
	}
	buffer_append(out, "", 0);
}

/*
 * Appends a name without its arguments, `shop::parse` for `shop::parse(int) const`, and a function of Python without
 * the word that it is one of another function. A bracket behind a dot is a receiver of Go: `main.(*Server).run`.
 */
static void without_arguments(const char *name, struct buffer *out)
{
	bool cut = false;

	for (const char *at = name, *next; *at; at = next) {
		next = name_skip(at);
		if (name_has(at, NAME_ANONYMOUS)) {
			buffer_append_string(out, "{anon}");
		} else if (*at == '(' && next > at + 1 && at > name && at[-1] != '.') {
			cut = true;
			next += at[-1] == ' ' && next[0] == ' ';
		} else if (name_has(at, ".<locals>")) {
			next = at + strlen(".<locals>");
		} else if (*at == '{') {
			append_braces(at, next, out);
		} else {
			buffer_append(out, at, (size_t)(next - at));
		}
	}
	if (cut && !out->failed)
		cut_qualifiers(out);
}

/* ---- Without the arguments of templates ---- */

/* Returns whether `<` opens a part of a name, and no arguments: `<lambda>`, `parse.<genexpr>`. */
static bool is_part(const char *name, const char *at, const char *end)
{
	if (at > name && at[-1] != '.')
		return false;
	for (at++; at < end - 1; at++)
		if (!name_is_word(*at))
			return false;
	return true;
}

/* Returns where the type in `<TYPE as TRAIT>` ends; NULL: it is no such pair. */
static const char *end_of_type(const char *at, const char *end)
{
	for (at++; at < end - 1; at = name_skip(at))
		if (name_has(at, " as "))
			return at;
	return NULL;
}

/* Rust writes `collect::<Vec<u8>>`. */
static void cut_separator(struct buffer *out)
{
	if (out->size > 2 && !out->failed)
		out->data[out->size -= 2] = '\0';
}

/* Appends a name without what stands in its angle brackets, and in square ones behind a word: `map<…>::at`. */
static void without_templates(const char *name, const char *stop, struct buffer *out)
{
	for (const char *at = name, *next, *type; at < stop; at = next) {
		next = name_skip(at);
		next = next < stop ? next : stop;
		type = *at == '<' && at == name ? end_of_type(at, next) : NULL;
		if (type)
			without_templates(at + 1, type, out);
		else if (*at == '<' && next > at + 2 && at > name && at[-1] == ':')
			cut_separator(out);
		else if (*at == '<' && next > at + 2 && !is_part(name, at, next))
			buffer_append_string(out, "<" ELLIPSIS ">");
		else if (*at == '[' && next > at + 2 && at > name && name_is_word(at[-1]))
			buffer_append_string(out, "[" ELLIPSIS "]");
		else
			buffer_append(out, at, (size_t)(next - at));
	}
}

/* ---- The last part ---- */

/*
 * Returns the length of what parts a name at `at`: `::`, PHP's `\\`, or a dot before a word or a bracket; 0: nothing. A
 * method of Go is not parted from its receiver.
 */
static size_t separator_at(const char *name, const char *at)
{
	if (at[0] == ':' && at[1] == ':')
		return 2;
	if (at[0] == '\\')
		return 1;
	return at[0] == '.' && !(at > name && at[-1] == ')') &&
	       (name_is_word(at[1]) || (at[1] != '\0' && strchr("(<{", at[1])));
}

/* Returns whether a part of a name says by itself what is meant: an operator or a lambda needs what is before it. */
static bool is_telling(const char *part)
{
	if (name_has(part, "operator") || (name_has(part, "func") && isdigit((unsigned char)part[4])))
		return false;
	return (name_is_word(*part) && !isdigit((unsigned char)*part) && *part != '$') || *part == '~' ||
	       name_has(part, "(*");
}

/*
 * Returns the last part of a name that tells what it is: `Sum`, `Less::operator()`, `sort::{{closure}}`; else all of
 * it.
 */
static const char *shorten_last_part(const char *name)
{
	const char *leaf = name;

	/* The name of code without a symbol has the dots of its library's file. */
	if (strstr(name, "+0x"))
		return name;
	for (const char *at = name; *at; at = name_skip(at)) {
		size_t size = separator_at(name, at);

		at += size > 1;
		if (size > 0 && is_telling(at + 1))
			leaf = at + 1;
	}
	return leaf;
}

/* ---- All ---- */

/* Appends the name in the longest of its forms that fits. */
static void append_form(char *whole, size_t width, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer plain = { 0 }, bare = { 0 }, leaf = { 0 };
	const char *shortest = whole, *last;
	char *near = strstr(whole, "+0x") ? strstr(whole, PROFILE_NEAR) : NULL;

	buffer_init(&plain, (size_t)MAX_NAME_BYTES * 4);
	buffer_init(&bare, (size_t)MAX_NAME_BYTES * 4);
	buffer_init(&leaf, (size_t)MAX_NAME_BYTES * 4);
	/* Code without a name loses the function that it lies near, which it is not. */
	if (near && !shorten_fits(whole, width))
		*near = '\0';
	if (!shorten_fits(shortest, width) && (without_arguments(shortest, &plain), plain.size > 0))
		shortest = plain.data;
	if (!shorten_fits(shortest, width) &&
		(without_templates(shortest, shortest + strlen(shortest), &bare), bare.size > 0))
		shortest = bare.data;
	last = shorten_fits(shortest, width) ? shortest : shorten_last_part(shortest);
	if (last > shortest) {
		const char *mark = last[-1] == ':' ? ELLIPSIS "::" : last[-1] == '.' ? ELLIPSIS "." : ELLIPSIS "\\";

		buffer_printf(&leaf, "%s%s", mark, last);
		shortest = leaf.data && shorten_fits(leaf.data, width) ? leaf.data : last;
	}
	if (plain.failed || bare.failed || leaf.failed)
		out->failed = true;
	else
		unicode_append_middle(out, shortest, width);
}

void profile_shorten_name(const char *name, size_t width, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer clean = BUFFER_INIT((size_t)MAX_NAME_BYTES * 4);

	while (*name && clean.size < MAX_NAME_BYTES)
		unicode_append(&clean, unicode_clean(unicode_next(&name)));
	if (clean.failed)
		out->failed = true;
	else if (width > 0 && clean.size > 0)
		append_form(clean.data, width, out);
}
