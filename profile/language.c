/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/language.h"

#include "profile/profile.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

const char *profile_language_name(enum profile_language language)
{
	static const char *const names[PROFILE_LANGUAGE_COUNT] = { "native", "python", "javascript", "java", "kernel" };

	return names[language];
}

bool profile_python_name(const char *name, struct profile_python_name *parts)
{
	static const char prefix[] = "py::";
	const char *function = name + sizeof(prefix) - 1, *colon;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	colon = strchr(function, ':');
	/* `py::detail::cast` is a function of C++. */
	if (!colon || colon == function || colon[1] == ':' || colon[1] == '\0')
		return false;
	*parts = (struct profile_python_name){ function, (size_t)(colon - function), colon + 1 };
	return true;
}

/* V8 has the function's tier and name follow one of these; node uses the first, older versions the others. */
static const char *const javascript_kinds[] = {
	"JS:", "LazyCompile:", "Function:", "InterpretedFunction:", "Script:", "Eval:"
};

/* The length of the kind before a JavaScript function's name; 0: it is none. */
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
 * Where the file's name begins: behind the first space that a path or a scheme follows, since names of functions
 * (`get size`) and directories have spaces too; else behind the last one. NULL: there is no file.
 */
static const char *javascript_file(const char *function)
{
	static const char *const starts[] = { "/", "file:", "node:" };
	const char *last = NULL;

	for (const char *space = strchr(function, ' '); space; space = strchr(space + 1, ' ')) {
		last = space;
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
			if (strncmp(space + 1, starts[i], strlen(starts[i])) == 0)
				return space + 1;
	}
	return last ? last + 1 : NULL;
}

/* Cuts `:12` from the end of a file's name, and reads the number. */
static bool cut_number(const char *file, size_t *bytes, uint32_t *number)
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

bool profile_javascript_name(const char *name, struct profile_javascript_name *parts)
{
	size_t kind = javascript_kind(name);
	const char *function = name + kind;
	uint32_t last = 0, first = 0;

	if (kind == 0)
		return false;
	function += strspn(function, "~^*+'");
	*parts = (struct profile_javascript_name){ .function = function, .function_bytes = strlen(function) };
	parts->file = javascript_file(function);
	if (!parts->file) {
		parts->file = function + parts->function_bytes;
		return true;
	}
	parts->function_bytes = (size_t)(parts->file - 1 - function);
	parts->file_bytes = strlen(parts->file);
	/* A line and a column, or a line alone. */
	if (cut_number(parts->file, &parts->file_bytes, &last))
		parts->line = cut_number(parts->file, &parts->file_bytes, &first) ? first : last;
	return true;
}

static bool language_matches(const char *text, const char *const *globs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		/* Nearly all globs begin with a letter. This is looked at for every function, and fnmatch() is slow. */
		if ((globs[i][0] == '*' || globs[i][0] == text[0]) && fnmatch(globs[i], text, 0) == 0)
			return true;
	return false;
}

#define LANGUAGE_MATCHES(text, globs) language_matches((text), (globs), sizeof(globs) / sizeof((globs)[0]))

static const char *const python_modules[] = { "python", "python[0-9]*", "libpython*.so", "pypy", "pypy[0-9]*",
	"libpypy*.so" };

static const char *const node_modules[] = { "node", "nodejs", "libnode.so" };

/*
 * Code that V8 has built in for what a function does before it is optimized, when it becomes part of the function's own
 * code: the handlers of bytecodes, the entry to them, and caches of how properties were found.
 */
static const char *const javascript_operations[] = { "Builtins_*Handler", "Builtins_InterpreterEntryTrampoline*",
	"Builtins_InterpreterPushArgs*", "Builtins_Baseline*", "Builtins_*_Baseline*", "Builtins_*WithFeedback*",
	"Builtins_LoadIC*", "Builtins_KeyedLoadIC*", "Builtins_LoadGlobalIC*", "Builtins_StoreIC*",
	"Builtins_KeyedStoreIC*", "Builtins_StoreGlobalIC*", "Builtins_DefineNamedOwnIC*", "Builtins_DefineKeyedOwnIC*",
	"Builtins_KeyedHasIC*", "Builtins_CloneObjectIC*" };

static const char *const generated_stubs[] = { "Builtin:*", "Stub:*", "BytecodeHandler:*", "RegExp:*", "Bytecode*",
	"Interpreter*", "I2C/C2I adapters*", "StubRoutines (*", "vtable chunks", "vtable stub*", "itable stub*",
	"MethodHandles adapters*", "*Runtime1 stub", "call_stub" };

bool profile_is_made_at_run_time(const char *module)
{
	return strcmp(module, PROFILE_JIT_MODULE) == 0 || strcmp(module, "//anon") == 0;
}

enum profile_language profile_language_of(const char *name, const char *module)
{
	struct profile_javascript_name javascript;
	struct profile_python_name python;

	if (strncmp(module, "[kernel", 7) == 0)
		return PROFILE_LANGUAGE_KERNEL;
	if (profile_python_name(name, &python) ||
		(profile_is_made_at_run_time(module) && strcmp(name, PROFILE_PYTHON_GONE) == 0))
		return PROFILE_LANGUAGE_PYTHON;
	if (profile_javascript_name(name, &javascript))
		return PROFILE_LANGUAGE_JAVASCRIPT;
	return profile_is_made_at_run_time(module) && profile_java_is_method(name) ? PROFILE_LANGUAGE_JAVA
										   : PROFILE_LANGUAGE_NATIVE;
}

enum profile_language profile_language_interpreted_by(const char *name, const char *module)
{
	if (LANGUAGE_MATCHES(module, python_modules))
		return PROFILE_LANGUAGE_PYTHON;
	return LANGUAGE_MATCHES(module, node_modules) && LANGUAGE_MATCHES(name, javascript_operations)
		       ? PROFILE_LANGUAGE_JAVASCRIPT
		       : PROFILE_LANGUAGE_NATIVE;
}

bool profile_is_generated_stub(const char *name)
{
	return LANGUAGE_MATCHES(name, generated_stubs);
}

void profile_shown_name(const char *name, struct buffer *out)
{
	struct profile_javascript_name javascript;
	struct profile_python_name python;

	if (profile_python_name(name, &python))
		buffer_append(out, python.function, python.function_bytes);
	else if (profile_javascript_name(name, &javascript) && javascript.function_bytes > 0)
		buffer_append(out, javascript.function, javascript.function_bytes);
	else if (profile_javascript_name(name, &javascript) && javascript.file_bytes > 0)
		buffer_append_string(out, "(anonymous)");
	else if (profile_activity_of_frame(name, "") != PROFILE_ACTIVITY_NONE)
		buffer_append_string(out, profile_activity_words(profile_activity_of_frame(name, "")));
	else
		buffer_append_string(out, name);
}
