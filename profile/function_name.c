/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include <ctype.h>
#include <string.h>

bool profile_python_name(const char *name, struct profile_script_name *parts)
{
	static const char prefix[] = "py::";
	const char *function = name + sizeof(prefix) - 1, *colon;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	colon = strchr(function, ':');
	/* `py::detail::cast` is a function of C++. */
	if (!colon || colon == function || colon[1] == ':' || colon[1] == '\0')
		return false;
	*parts = (struct profile_script_name){ function, (size_t)(colon - function), colon + 1, strlen(colon + 1), 0 };
	return true;
}

/* Returns a colon that is none of `::`, and in no {closure:WHERE}; NULL: there is none. */
static const char *php_separator(const char *function)
{
	size_t depth = 0;

	for (const char *at = function; *at; at++) {
		depth += *at == '{';
		depth -= *at == '}' && depth > 0;
		if (at[0] == ':' && at[1] == ':')
			at++;
		else if (at[0] == ':' && depth == 0)
			return at;
	}
	return NULL;
}

static bool split_name(const char *function, const char *colon, struct profile_script_name *parts)
{
	if (!colon || colon == function || colon[1] == '\0')
		return false;
	*parts = (struct profile_script_name){ function, (size_t)(colon - function), colon + 1, strlen(colon + 1), 0 };
	return true;
}

bool profile_php_name(const char *name, struct profile_script_name *parts)
{
	static const char prefix[] = "php::";
	const char *function = name + sizeof(prefix) - 1;

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && split_name(function, php_separator(function), parts);
}

/* Returns a colon that is neither one of `::` nor that of <class:NAME> or <module:NAME>; NULL: there is none. */
static const char *ruby_separator(const char *label)
{
	for (const char *at = strchr(label, ':'); at; at = strchr(at + 1, ':')) {
		if (at[1] == ':')
			at++;
		else if (!(at - label >= 6 && strncmp(at - 6, "<class", 6) == 0) &&
			 !(at - label >= 7 && strncmp(at - 7, "<module", 7) == 0))
			return at;
	}
	return NULL;
}

bool profile_ruby_name(const char *name, struct profile_script_name *parts)
{
	static const char prefix[] = "rb::";
	const char *label = name + sizeof(prefix) - 1;

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && split_name(label, ruby_separator(label), parts);
}

/* V8 has the function's tier and name follow one of these; node uses the first, older versions the others. */
static const char *const javascript_kinds[] = {
	"JS:", "LazyCompile:", "Function:", "InterpretedFunction:", "Script:", "Eval:"
};

/* Returns the length of the kind before a JavaScript function's name; 0: it is none. */
static size_t javascript_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(javascript_kinds) / sizeof(javascript_kinds[0]); i++) {
		size_t size = strlen(javascript_kinds[i]);

		if (strncmp(name, javascript_kinds[i], size) == 0)
			return size;
	}
	return 0;
}

/*
 * Returns where the file's name begins: behind the first space that a path or a scheme follows, since names of
 * functions (`get size`) and directories have spaces too; else behind the last one. NULL: there is no file.
 */
static const char *javascript_file(const char *function)
{
	const char *last = NULL;

	for (const char *space = strchr(function, ' '); space; space = strchr(space + 1, ' ')) {
		last = space;
		if (glob_matches_any(GLOBS("/*", "file:*", "node:*"), space + 1))
			return space + 1;
	}
	return last ? last + 1 : NULL;
}

/* The length of a WebAssembly function's name before `-12-turbofan`, which tells its index and its tier; else all of
 * it. */
static size_t without_wasm_tier(const char *function, size_t bytes)
{
	static const char *const tiers[] = { "-liftoff", "-turbofan", "-interpreter" };

	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
		size_t size = strlen(tiers[i]), at = bytes;

		if (bytes <= size || memcmp(function + bytes - size, tiers[i], size) != 0)
			continue;
		at -= size;
		while (at > 0 && isdigit((unsigned char)function[at - 1]))
			at--;
		return at > 1 && at < bytes - size && function[at - 1] == '-' ? at - 1 : bytes;
	}
	return bytes;
}

/* `JSC-FTL: NAME#HASH`, after "JSC-", for each of the tiers of JavaScript and of WebAssembly. */
static bool split_jsc_name(const char *name, struct profile_script_name *parts)
{
	enum { HASH_BYTES = 6 };
	static const char *const tiers[] = { "LLInt: ", "Baseline: ", "DFG: ", "FTL: ", "IPInt: ", "BBQ: ", "OMG: " };
	static const char prefix[] = "JSC-";

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
		const char *function = name + sizeof(prefix) - 1 + strlen(tiers[i]), *hash;

		if (strncmp(name + sizeof(prefix) - 1, tiers[i], strlen(tiers[i])) != 0)
			continue;
		*parts = (struct profile_script_name){ .function = function, .function_bytes = strlen(function) };
		parts->file = function + parts->function_bytes;
		hash = strrchr(function, '#');
		if (hash && parts->file - hash == HASH_BYTES + 1)
			parts->function_bytes = (size_t)(hash - function);
		return true;
	}
	return false;
}

/* Cuts `:12` from the end of a file's name, and reads the number. */
static bool function_name_cut_number(const char *file, size_t *bytes, uint32_t *number)
{
	enum { MOST_DIGITS = 9 };
	size_t digits = 0;
	uint32_t value = 0, unit = 1;

	for (; digits < *bytes && digits < MOST_DIGITS && isdigit((unsigned char)file[*bytes - 1 - digits]);
		digits++, unit *= 10)
		value += unit * (uint32_t)(file[*bytes - 1 - digits] - '0');
	if (digits == 0 || digits == *bytes || file[*bytes - 1 - digits] != ':')
		return false;
	*bytes -= digits + 1;
	*number = value;
	return true;
}

bool profile_javascript_name(const char *name, struct profile_script_name *parts)
{
	size_t kind = javascript_kind(name);
	const char *function = name + kind;
	uint32_t last = 0, first = 0;

	if (kind == 0)
		return split_jsc_name(name, parts);
	function += strspn(function, "~^*+'");
	*parts = (struct profile_script_name){ .function = function, .function_bytes = strlen(function) };
	parts->file = javascript_file(function);
	if (!parts->file) {
		parts->file = function + parts->function_bytes;
		parts->function_bytes = without_wasm_tier(function, parts->function_bytes);
		return true;
	}
	parts->function_bytes = (size_t)(parts->file - 1 - function);
	parts->file_bytes = strlen(parts->file);
	/* A line and a column, or a line alone. */
	if (function_name_cut_number(parts->file, &parts->file_bytes, &last))
		parts->line = function_name_cut_number(parts->file, &parts->file_bytes, &first) ? first : last;
	return true;
}

enum profile_language profile_script_name(const char *name, struct profile_script_name *parts)
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (profile_languages[i].read_name && profile_languages[i].read_name(name, parts))
			return (enum profile_language)i;
	return PROFILE_LANGUAGE_NATIVE;
}

void profile_shown_name(const char *name, const char *module, struct buffer *out)
{
	enum profile_activity activity = profile_activity_of_frame(name, module);
	const struct profile_language_row *row = &profile_languages[profile_language_of(name, module)];
	struct profile_script_name parts = { 0 };

	if (row->read_name)
		row->read_name(name, &parts);
	if (parts.function_bytes > 0)
		buffer_append(out, parts.function, parts.function_bytes);
	else if (parts.file_bytes > 0)
		buffer_append_string(out, "(anonymous)");
	else if (activity != PROFILE_ACTIVITY_NONE)
		buffer_append_string(out, profile_activity_words(activity));
	else if (row->append_shown && (row != profile_languages || !profile_is_made_at_run_time(module)))
		row->append_shown(name, out);
	else
		buffer_append_string(out, name);
}

static const char *const *const first_functions = GLOBS("_start", "clone", "clone3", "__clone", "__clone2", "__clone3",
	"__GI___clone*", "runtime.goexit*", "ret_from_fork*");

bool profile_is_first_function(const char *name)
{
	return glob_matches_any(first_functions, name);
}
