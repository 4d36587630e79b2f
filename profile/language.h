/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* In which language a function is written, and whose functions an interpreter runs. */

enum profile_language {
	PROFILE_LANGUAGE_NATIVE, /* machine code of any compiler, and all that is not known to be another one */
	PROFILE_LANGUAGE_PYTHON,
	PROFILE_LANGUAGE_JAVASCRIPT,
	PROFILE_LANGUAGE_JAVA, /* methods of classes, whatever language for the JVM they are written in */
	PROFILE_LANGUAGE_KERNEL,
};
enum { PROFILE_LANGUAGE_COUNT = 5 };

/* What a Python function is called whose code object could not be read. Its module is PROFILE_JIT_MODULE. */
#define PROFILE_PYTHON_GONE "python frame (gone)"

/* Lower-case words for JSON and the page: "native", "python", "javascript", "java", "kernel". */
const char *profile_language_name(enum profile_language language);

/* The language of a function, by the form of its name and by its module. */
enum profile_language profile_language_of(const char *name, const char *module);

/*
 * The language whose functions the code of a module interprets, in whatever function of it: CPython's C functions do
 * the work of a Python function's own operations. PROFILE_LANGUAGE_NATIVE: it interprets none. Of runtimes that compile
 * functions, only the code that runs a function before it is optimized does: V8's handlers of bytecodes, and what its
 * first compilers call for a single operation. What V8 or HotSpot do in C++ is a service to the compiled code, as
 * malloc() is.
 */
enum profile_language profile_language_interpreted_by(const char *name, const char *module);

/* Whether a module stands for code that is generated at run time, or for memory without a file, where such code lies.
 */
bool profile_is_made_at_run_time(const char *module);

/* Whether a name in code that is generated at run time is that of code which V8 or HotSpot generate for themselves. */
bool profile_is_generated_stub(const char *name);

/*
 * What stands between the two parts of the name of a function without one where an exported function before it is
 * known: `libz.so.1.2.13+0x12ab near deflate`. It is a hint for people, and no part of the key.
 */
#define PROFILE_NEAR " near "

/* The parts of `py::QUALNAME:FILENAME`, as CPython names a function to perf. Both point into the name. */
struct profile_python_name {
	const char *function; /* of `function_bytes`; not NUL-terminated */
	size_t function_bytes;
	const char *file;
};

/* Splits the name of a Python function; false if it has another form. */
bool profile_python_name(const char *name, struct profile_python_name *parts);

/*
 * The parts of `JS:*NAME FILE:LINE:COLUMN`, as V8 names a function to perf; all point into the name and are not
 * NUL-terminated. V8 compiles a function again and again, and marks in which tier it did (`~`, `^`, `+`, `*`).
 */
struct profile_javascript_name {
	const char *function; /* without its tier; empty: it is anonymous */
	size_t function_bytes;
	const char *file; /* empty: it is in no file */
	size_t file_bytes;
	uint32_t line; /* 0: not known */
};

/* Splits the name of a JavaScript function; false if it has another form. */
bool profile_javascript_name(const char *name, struct profile_javascript_name *parts);

/*
 * Appends a function's name as people read it: `S.run` for Python's `py::S.run:/srv/w.py`, `parse` for JavaScript's
 * `JS:*parse /srv/w.js:12:3`, whose file reports show as that of any function. All other names stay as they are.
 */
void profile_shown_name(const char *name, struct buffer *out);
