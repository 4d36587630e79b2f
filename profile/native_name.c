/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/native_name.h"

#include "profile/identity.h"
#include "profile/name_scan.h"
#include "profile/spelling.h"

#include <ctype.h>
#include <string.h>

/* Longer names are shown as they are. */
enum { MOST_BYTES = 1 << 16 };

/* ---- Go ---- */

/*
 * Returns the length of the directories of a package: of `crypto/internal/` in `crypto/internal/sha256.Sum`; 0: no
 * package.
 */
static size_t go_directories(const char *name)
{
	const char *package = name, *end = name;

	for (;; end++) {
		if (*end == '/' && end > package)
			package = end + 1;
		else if (!isalnum((unsigned char)*end) && (*end == '\0' || !strchr("_.~%-", *end)))
			break;
	}
	return memchr(package, '.', (size_t)(end - package)) ? (size_t)(package - name) : 0;
}

/* Returns the length of the version at the end of a package's path: of `v2` in `v2.Parse`; 0: it is none. */
static size_t go_version(const char *package)
{
	size_t digits = package[0] == 'v' ? strspn(package + 1, "0123456789") : 0;

	return digits > 0 && package[digits + 1] == '.' ? digits + 1 : 0;
}

static void append_go(const char *name, size_t directories, struct buffer *out)
{
	size_t version = go_version(name + directories), start = directories;

	/* The package of `github.com/jackc/pgx/v5.Connect` is pgx. */
	if (version > 0) {
		for (start--; start > 0 && name[start - 1] != '/'; start--)
			;
		buffer_append(out, name + start, directories - 1 - start);
	}
	buffer_append_string(out, name + directories + version);
}

void profile_native_package(const char *name, struct buffer *out)
{
	size_t directories = go_directories(name);

	if (directories > 0)
		buffer_append(out, name, directories + strcspn(name + directories, "."));
}

/* ---- Rust ---- */

/* Appends types without their paths: `Vec<T> as Extend` of `alloc::vec::Vec<T> as core::iter::Extend`. */
static void append_without_paths(const char *at, const char *end, struct buffer *out)
{
	while (at < end) {
		const char *word = at;

		while (word < end && name_is_word(*word))
			word++;
		if (word == at || !name_has(word, "::"))
			buffer_append(out, at, word == at ? 1 : (size_t)(word - at));
		at = word == at ? at + 1 : name_has(word, "::") ? word + 2 : word;
	}
}

/* Appends `<TYPE as TRAIT>::f`, and `TYPE::f` for `<TYPE>::f`; false if the name has another form. */
static bool append_rust(const char *name, struct buffer *out)
{
	const char *end = name[0] == '<' ? name_skip(name) : name;
	bool is_one_word;

	if (end <= name + 2 || !name_has(end, "::"))
		return false;
	is_one_word = !memchr(name, ' ', (size_t)(end - name));
	append_without_paths(name + is_one_word, end - is_one_word, out);
	buffer_append_string(out, end);
	return true;
}

/* ---- C++ ---- */

/* Words before what a name is about, which is no result: `virtual thunk to f()`, `guard variable for f()::x`. */
static bool is_about(const char *name, const char *end)
{
	static const char *const words[] = { " to", " for" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t size = strlen(words[i]);

		if ((size_t)(end - name) > size && memcmp(end - size, words[i], size) == 0)
			return true;
	}
	return false;
}

const char *profile_native_without_result(const char *name)
{
	const char *start = name, *at = name;
	bool converts = false; /* it is `operator TYPE`, whose type may have spaces */

	for (const char *next; *at; at = next) {
		next = name_skip(at);
		converts |= next - at == 8 && memcmp(at, "operator", 8) == 0 && next[0] == ' ' && next[1] != '<';
		if (*at == '(' && !name_has(at, NAME_ANONYMOUS))
			return start > name && is_about(name, start - 1) ? name : start;
		if (*at == ' ' && !converts && at[1] != '<' && (at[1] != '(' || name_has(at + 1, NAME_ANONYMOUS)))
			start = at + 1;
	}
	return name;
}

/* Returns the length of an inner namespace of a standard library at `at`: of `__cxx11::`. */
static size_t inner_namespace(const char *at)
{
	return name_has(at, "__cxx11::") ? 9 : name_has(at, "__1::") ? 5 : 0;
}

/*
 * Returns the end of `, std::allocator<char> ` and the like, which a program seldom states; NULL: it is another
 * argument.
 */
static const char *skip_default(const char *at)
{
	static const char *const defaults[] = { "allocator<", "char_traits<", "less<", "hash<", "equal_to<",
		"default_delete<" };

	if (!name_has(at, ", std::"))
		return NULL;
	at += 7;
	at += inner_namespace(at);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		const char *open = at + strlen(defaults[i]) - 1, *end;

		if (!name_has(at, defaults[i]))
			continue;
		end = name_skip(open);
		return end == open + 1 ? NULL : end + (end[0] == ' ' && end[1] == '>');
	}
	return NULL;
}

/* Writes `std::string` for `std::basic_string<char>` at the end of the text, and all its like. */
static void rename_basic(struct buffer *out)
{
	static const char argument[] = "<char>", prefix[] = "std::basic_";
	size_t tail = sizeof(argument) - 1, head = sizeof(prefix) - 1, word = 0, end;
	char *text = out->data;

	if (out->failed || out->size < tail + head || memcmp(text + out->size - tail, argument, tail) != 0)
		return;
	end = out->size - tail;
	while (word < end && name_is_word(text[end - 1 - word]))
		word++;
	/* The word has "basic_" in it; "std::" stands before. */
	if (word < 6 || end < word + 5 || memcmp(text + end - word - 5, prefix, head) != 0)
		return;
	memmove(text + end - word, text + end - word + 6, word - 6);
	out->size = end - 6;
	text[out->size] = '\0';
}

static void append_cpp(const char *name, struct buffer *out)
{
	for (const char *at = profile_native_without_result(name), *end; *at;) {
		bool begins = at == name || !name_is_word(at[-1]);

		if (begins && name_has(at, "std::") && inner_namespace(at + 5) > 0) {
			buffer_append_string(out, "std::");
			at += 5 + inner_namespace(at + 5);
		} else if (name_has(at, "[abi:") && (end = strchr(at, ']')) != NULL) {
			at = end + 1;
		} else if ((end = skip_default(at)) != NULL) {
			at = end;
		} else {
			if (*at == '>' && out->size > 1 && memcmp(out->data + out->size - 2, "> ", 2) == 0)
				out->size--;
			buffer_append_byte(out, (uint8_t)*at);
			if (*at++ == '>')
				rename_basic(out);
		}
	}
}

/* ---- All ---- */

void profile_native_shown(const char *name, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer bare = { 0 }, shown = { 0 };
	size_t size = profile_bare_size(name), directories;
	const char *near;

	if (strlen(name) > MOST_BYTES) {
		buffer_append_string(out, name);
		return;
	}
	buffer_init(&bare, MOST_BYTES + 1);
	buffer_init(&shown, (size_t)2 * MOST_BYTES);
	buffer_append(&bare, name, size);
	buffer_append(&bare, "", 0);
	if (bare.failed) {
		out->failed = true;
		return;
	}
	name = bare.data;
	directories = go_directories(name);
	near = strstr(name, PROFILE_NEAR);
	if (directories > 0) {
		append_go(name, directories, &shown);
	} else if (!append_rust(name, &shown)) {
		/* What stands near code without a name is the name of another function. */
		if (near)
			buffer_append(&shown, name, (size_t)(near - name) + strlen(PROFILE_NEAR));
		append_cpp(near ? near + strlen(PROFILE_NEAR) : name, &shown);
	}
	if (shown.failed)
		out->failed = true;
	else
		buffer_append(out, shown.data, shown.size);
}
