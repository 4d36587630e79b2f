/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/language.h"

#include "profile/profile.h"

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

static bool language_matches(const char *text, const char *const *globs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		/* Nearly all globs begin with a letter. This is looked at for every function, and fnmatch() is slow. */
		if ((globs[i][0] == '*' || globs[i][0] == text[0]) && fnmatch(globs[i], text, 0) == 0)
			return true;
	return false;
}

#define LANGUAGE_MATCHES(text, globs) language_matches((text), (globs), sizeof(globs) / sizeof((globs)[0]))

/* V8 tells in which tier a function is by one of these, and has it followed by the function's name. */
static const char *const javascript_names[] = { "JS:*", "LazyCompile:*", "Function:*", "InterpretedFunction:*",
	"Script:*", "Eval:*" };

static const char *const python_modules[] = { "python", "python[0-9]*", "libpython*.so", "pypy", "pypy[0-9]*",
	"libpypy*.so" };

static const char *const generated_stubs[] = { "Builtin:*", "Stub:*", "BytecodeHandler:*", "RegExp:*", "Bytecode*",
	"Interpreter*", "I2C/C2I adapters*", "StubRoutines (*", "vtable chunks", "vtable stub*", "itable stub*",
	"MethodHandles adapters*", "*Runtime1 stub", "call_stub" };

static bool is_generated(const char *module)
{
	return strcmp(module, PROFILE_JIT_MODULE) == 0 || strcmp(module, "//anon") == 0;
}

enum profile_language profile_language_of(const char *name, const char *module)
{
	struct profile_python_name python;

	if (strncmp(module, "[kernel", 7) == 0)
		return PROFILE_LANGUAGE_KERNEL;
	if (profile_python_name(name, &python) || (is_generated(module) && strcmp(name, PROFILE_PYTHON_GONE) == 0))
		return PROFILE_LANGUAGE_PYTHON;
	if (LANGUAGE_MATCHES(name, javascript_names))
		return PROFILE_LANGUAGE_JAVASCRIPT;
	return is_generated(module) && profile_java_is_method(name) ? PROFILE_LANGUAGE_JAVA : PROFILE_LANGUAGE_NATIVE;
}

enum profile_language profile_language_interpreted_by(const char *module)
{
	return LANGUAGE_MATCHES(module, python_modules) ? PROFILE_LANGUAGE_PYTHON : PROFILE_LANGUAGE_NATIVE;
}

bool profile_is_generated_stub(const char *name)
{
	return LANGUAGE_MATCHES(name, generated_stubs);
}

void profile_shown_name(const char *name, struct buffer *out)
{
	struct profile_python_name python;

	if (profile_python_name(name, &python))
		buffer_append(out, python.function, python.function_bytes);
	else
		buffer_append_string(out, name);
}
