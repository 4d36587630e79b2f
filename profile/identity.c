/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/identity.h"

#include "profile/model.h"

#include "profile/name_scan.h"
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

/* ---- Keys ---- */

bool profile_is_nameless(const char *name, size_t bytes)
{
	static const char *const names[] = { "", "(anonymous)", "<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>",
		"<setcomp>", "{closure}" };
	static const char block[] = "block ";

	if (bytes >= sizeof(block) - 1 && memcmp(name, block, sizeof(block) - 1) == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = strlen(names[i]);

		if (bytes == size ? memcmp(name, names[i], size) == 0
				  : size > 0 && bytes > size && name[bytes - size - 1] == '.' &&
					    memcmp(name + bytes - size, names[i], size) == 0)
			return true;
	}
	return false;
}

/*
 * Appends the name of a function of a script with the whole path of its file, since any two files may have functions of
 * one name. V8 tells line and column where a function is defined, other run times may tell the line.
 */
static void identity_append_script(const struct profile_key_source *source, const struct profile_script_name *script,
	bool is_of_v8, struct buffer *out)
{
	const char *file_end = script->file + script->file_bytes;

	if (is_of_v8) {
		buffer_append(out, script->function, script->function_bytes);
		buffer_append_byte(out, ' ');
		buffer_append(out, script->file, script->file_bytes);
	} else {
		buffer_append(out, source->name, (size_t)(file_end - source->name));
	}
	if (!profile_is_nameless(script->function, script->function_bytes))
		return;
	if (*file_end == ':')
		buffer_append_string(out, file_end);
	else if (source->line > 0)
		buffer_printf(out, ":%" PRIu32, source->line);
}

/*
 * Appends "`" and the file of a function whose name has no namespace, class or package: in C, two files may have static
 * functions of one name. A script's is its whole path. One without a name gets its line as well.
 */
static void append_file(const char *name, const struct profile_key_source *source, struct buffer *out)
{
	struct span file = { source->file, source->file + strlen(source->file) };
	bool has_no_name = profile_is_nameless(name, strlen(name));

	if (((strstr(name, "::") || strchr(name, '.')) && !strstr(name, NAME_ANONYMOUS) && !has_no_name))
		return;
	if (!name_is_script(file.start, file.end))
		file = identity_last_part(file);
	if (span_size(file) == 0)
		return;
	buffer_append_byte(out, '`');
	buffer_append(out, file.start, span_size(file));
	if (has_no_name && source->line > 0)
		buffer_printf(out, ":%" PRIu32, source->line);
}

void profile_function_key(const struct profile_key_source *source, struct buffer *out)
{
	struct profile_script_name script;
	struct span name = { source->name, source->name + strlen(source->name) };
	bool is_of_v8 = profile_javascript_name(source->name, &script);

	if (is_unnamed(name, source->module)) {
		if (source->fingerprint)
			buffer_printf(out, "[code %016" PRIx64 "]", source->fingerprint);
		else
			buffer_append_string(out, "[unnamed]");
	} else if (is_of_v8 || profile_script_name(source->name, &script) != PROFILE_LANGUAGE_NATIVE) {
		identity_append_script(source, &script, is_of_v8, out);
	} else {
		size_t at = out->size;

		profile_spell_name(source->name, out);
		if (!out->failed)
			append_file(out->size > at ? out->data + at : "", source, out);
	}
	buffer_append_byte(out, '`');
	buffer_append_string(out, source->module);
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
