/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/identity.h"

#include "profile/model.h"
#include "profile/spelling.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* A piece of a name that is being trimmed; not NUL-terminated. */
struct span {
	const char *start, *end;
};

static size_t span_size(struct span s)
{
	return (size_t)(s.end - s.start);
}

static bool span_starts_with(struct span s, const char *prefix)
{
	size_t size = strlen(prefix);

	return span_size(s) >= size && memcmp(s.start, prefix, size) == 0;
}

static const char *identity_find_last(struct span s, char wanted)
{
	return memrchr(s.start, wanted, span_size(s));
}

static struct span identity_last_part(struct span path)
{
	const char *slash = identity_find_last(path, '/');

	return slash ? (struct span){ slash + 1, path.end } : path;
}

/*
 * Returns the part of a script's path that is the same in every checkout: the file's name. In a package it is the path
 * from the package's name on, since many of its files are called `index.js`; a package may lie below another one.
 */
static struct span script_part(struct span path)
{
	static const char packages[] = "/node_modules/";
	const char *package = NULL, *at = path.start;

	while ((at = memmem(at, (size_t)(path.end - at), packages, sizeof(packages) - 1)) != NULL) {
		at += sizeof(packages) - 2;
		package = at + 1;
	}
	return package ? (struct span){ package, path.end } : identity_last_part(path);
}

static const char *skip_digits(struct span s, const char *pos)
{
	while (pos < s.end && isdigit((unsigned char)*pos))
		pos++;
	return pos;
}

/*
 * Skips the digits behind a mark that numbers lambdas and closures in order of appearance, so that adding one does not
 * rename the others.
 */
static const char *skip_number(struct span s, const char *pos)
{
	static const char *const marks[] = { "$_", "'lambda", ".func", "{closure#", "-fn", "$$Lambda$" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t size = strlen(marks[i]);

		if ((size_t)(pos - s.start) >= size && memcmp(pos - size, marks[i], size) == 0)
			return skip_digits(s, pos);
	}
	return pos;
}

/* Skips `/0x00007f034c000400`: a JVM appends it to the names of classes that it makes at run time. */
static const char *skip_class_address(struct span s, const char *pos)
{
	enum { LEAST_DIGITS = 8 };
	const char *end = pos + 3;

	if (s.end - pos < 3 + LEAST_DIGITS || memcmp(pos, "/0x", 3) != 0)
		return pos;
	while (end < s.end && isxdigit((unsigned char)*end))
		end++;
	return end - pos >= 3 + LEAST_DIGITS ? end : pos;
}

/*
 * Returns the end of a lambda's, closure's or class's number at `pos`; `pos` itself if there is none. `in_go_closure`:
 * what was skipped last belongs to the name of a Go closure.
 */
static const char *end_of_number(struct span s, const char *pos, bool *in_go_closure)
{
	bool after_go_closure = *in_go_closure;
	const char *end = pos;

	*in_go_closure = false;
	if (isdigit((unsigned char)*pos)) {
		end = skip_number(s, pos);
		*in_go_closure = end > pos && pos - s.start >= 5 && memcmp(pos - 5, ".func", 5) == 0;
	} else if (*pos == '.' && after_go_closure) {
		end = skip_digits(s, pos + 1);
		*in_go_closure = end > pos + 1;
		return end > pos + 1 ? end : pos;
	} else if (*pos == '#' && memchr(s.start, '{', (size_t)(pos - s.start))) {
		end = skip_digits(s, pos + 1);
		return end > pos + 1 && end < s.end && *end == '}' ? end : pos;
	} else if (*pos == '/') {
		return skip_class_address(s, pos);
	}
	return end;
}

/*
 * Copies a name without the numbers of its lambdas and closures: `{lambda(int)#2}` -> `{lambda(int)}`, Go's `.func1.2`
 * -> `.func`.
 */
static void append_unnumbered(struct span s, struct buffer *out)
{
	const char *copied = s.start, *pos = s.start;
	bool in_go_closure = false;

	while (pos < s.end) {
		const char *end = end_of_number(s, pos, &in_go_closure);

		if (end == pos) {
			pos++;
			continue;
		}
		buffer_append(out, copied, (size_t)(pos - copied));
		copied = pos = end;
	}
	buffer_append(out, copied, (size_t)(pos - copied));
}

/* `2.36` is a version; `64` in `ld-linux-x86-64.so` is none. */
static bool is_version(const char *start, const char *end)
{
	if (start == end || !isdigit((unsigned char)*start) || !memchr(start, '.', (size_t)(end - start)))
		return false;
	for (const char *c = start; c < end; c++)
		if (!isdigit((unsigned char)*c) && *c != '.')
			return false;
	return true;
}

/* Returns a file's name without its version; `*suffix` is what the module's name has after the stem. */
static struct span module_stem(struct span file, const char **suffix)
{
	const char *so = memmem(file.start, span_size(file), ".so", 3);
	const char *dash;

	*suffix = "";
	if (!so || (so + 3 < file.end && so[3] != '.'))
		return file;
	*suffix = ".so";
	dash = memrchr(file.start, '-', (size_t)(so - file.start));
	return (struct span){ file.start, dash && is_version(dash + 1, so) ? dash : so };
}

/*
 * `jitted-19425-2210.so`: `perf inject --jit` makes such a file of each function that was compiled at run time, and
 * names it by the process and a running number.
 */
static bool is_injected(struct span file)
{
	static const char prefix[] = "jitted-", suffix[] = ".so";
	struct span numbers = { file.start + sizeof(prefix) - 1, file.end - sizeof(suffix) + 1 };

	if (span_size(file) < sizeof(prefix) + sizeof(suffix) || !span_starts_with(file, prefix) ||
		memcmp(numbers.end, suffix, sizeof(suffix) - 1) != 0)
		return false;
	for (const char *c = numbers.start; c < numbers.end; c++)
		if (!isdigit((unsigned char)*c) && *c != '-')
			return false;
	return true;
}

void profile_module_name(const char *path, struct buffer *out)
{
	struct span stem, file = identity_last_part((struct span){ path, path + strlen(path) });
	const char *suffix;

	/* "[vdso]", "[kernel.kallsyms]" and "//anon" are names, not paths. */
	if (path[0] == '[' || strncmp(path, "//", 2) == 0) {
		buffer_append_string(out, path);
		return;
	}
	if (is_injected(file)) {
		buffer_append_string(out, PROFILE_JIT_MODULE);
		return;
	}
	stem = module_stem(file, &suffix);
	buffer_append(out, stem.start, span_size(stem));
	buffer_append_string(out, suffix);
}

/*
 * Returns whether the name is `libz.so.1.2.13+0x12ab` or `libz.so.1.2.13+0x12ab near deflate` in the module `libz.so`,
 * as functions without a symbol are named.
 */
static bool is_unnamed(struct span s, const char *module)
{
	const char *near = memmem(s.start, span_size(s), PROFILE_NEAR, sizeof(PROFILE_NEAR) - 1), *plus, *suffix;
	struct span stem;

	s.end = near ? near : s.end;
	plus = identity_find_last(s, '+');

	if (!plus || s.end - plus < 4 || memcmp(plus, "+0x", 3) != 0)
		return false;
	for (const char *c = plus + 3; c < s.end; c++)
		if (!isxdigit((unsigned char)*c))
			return false;
	stem = (struct span){ s.start, plus };
	if (strlen(module) == span_size(stem) && span_starts_with(stem, module))
		return true;
	stem = module_stem(stem, &suffix);
	return strlen(module) == span_size(stem) + strlen(suffix) && memcmp(module, stem.start, span_size(stem)) == 0 &&
	       strcmp(module + span_size(stem), suffix) == 0;
}

void profile_function_key(const char *name, const char *module, uint64_t fingerprint, struct buffer *out)
{
	struct span s = { name, name + strlen(name) }, file;
	struct profile_script_name script;

	if (is_unnamed(s, module)) {
		if (fingerprint)
			buffer_printf(out, "[code %016" PRIx64 "]", fingerprint);
		else
			buffer_append_string(out, "[unnamed]");
	} else if (profile_javascript_name(name, &script)) {
		/* All anonymous functions of a file are one: only their lines tell them apart, which any edit changes.
		 */
		s = (struct span){ script.function, script.function + script.function_bytes };
		append_unnumbered(s, out);
		buffer_append_byte(out, ' ');
		file = script_part((struct span){ script.file, script.file + script.file_bytes });
		buffer_append(out, file.start, span_size(file));
	} else if (span_starts_with(s, "py::") && identity_find_last(s, ':') > s.start + 3) {
		const char *colon = identity_find_last(s, ':');

		file = identity_last_part((struct span){ colon + 1, s.end });
		buffer_append(out, s.start, (size_t)(colon + 1 - s.start));
		buffer_append(out, file.start, span_size(file));
	} else if (profile_php_name(name, &script) || profile_ruby_name(name, &script)) {
		file = identity_last_part((struct span){ script.file, script.file + script.file_bytes });
		buffer_append(out, s.start, (size_t)(script.file - s.start));
		buffer_append(out, file.start, span_size(file));
	} else {
		s.end = name + profile_bare_size(name);
		append_unnumbered(s, out);
	}
	buffer_append_byte(out, '`');
	buffer_append_string(out, module);
}

/* Returns the length of a file's name without `:12` at its end, which is the line. */
static size_t bytes_before_line(const char *file, const char *end, uint32_t *line)
{
	const char *digits = end;
	struct text_cursor number;
	uint64_t found;

	while (digits > file && isdigit((unsigned char)digits[-1]))
		digits--;
	number = text_over(digits, (size_t)(end - digits));
	if (digits == file || digits[-1] != ':' || !text_take_number(&number, UINT32_MAX, &found))
		return (size_t)(end - file);
	*line = (uint32_t)found;
	return (size_t)(digits - 1 - file);
}

struct profile_key_parts profile_split_key(const char *key)
{
	const char *module = strrchr(key, '`'), *file;
	struct profile_key_parts parts = { .name_bytes = strlen(key), .module = "", .file = "" };

	if (!module)
		return parts;
	parts.module = module + 1;
	parts.name_bytes = (size_t)(module - key);
	file = memrchr(key, '`', parts.name_bytes);
	if (!file)
		return parts;
	parts.file = file + 1;
	parts.file_bytes = bytes_before_line(file + 1, module, &parts.line);
	parts.name_bytes = (size_t)(file - key);
	return parts;
}
