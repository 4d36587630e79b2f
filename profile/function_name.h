/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/language.h"

/* Names that interpreters and run-time compilers give functions, which have the functions' files in them. */

/* The name of a Python function whose code object could not be read. Its module is PROFILE_JIT_MODULE. */
#define PROFILE_PYTHON_GONE "python frame (gone)"

/* Likewise a function of PHP or a method of Ruby; and what stands for the file of functions of PHP that are written in
 * C. */
#define PROFILE_PHP_GONE "php frame (gone)"
#define PROFILE_RUBY_GONE "ruby frame (gone)"
#define PROFILE_PHP_INTERNAL_FILE "<internal>"

/* The parts of a name. All point into it, and are not NUL-terminated. */
struct profile_script_name {
	const char *function; /* empty: it is anonymous */
	size_t function_bytes;
	const char *file; /* empty: it is in no file */
	size_t file_bytes;
	uint32_t line; /* 0: not known */
};

/* Splits the name of a function of any language; PROFILE_LANGUAGE_NATIVE: it has no such form. */
enum profile_language profile_script_name(const char *name, struct profile_script_name *parts);

/* Splits `py::QUALNAME:FILENAME`, as CPython names a function to perf; false if it has another form. */
bool profile_python_name(const char *name, struct profile_script_name *parts);

/* Splits `php::CLASS::FUNCTION:FILENAME`, as Kelvin names a function of PHP; false if it has another form. */
bool profile_php_name(const char *name, struct profile_script_name *parts);

/* Splits `rb::LABEL:FILENAME`, as Kelvin names code of Ruby; false if it has another form. */
bool profile_ruby_name(const char *name, struct profile_script_name *parts);

/*
 * Splits `JS:*NAME FILE:LINE:COLUMN`, as V8 names a function to perf; false if it has another form. V8 compiles a
 * function again and again, and marks in which tier it did (`~`, `^`, `+`, `*`), which is no part of the function.
 * Likewise `JS:NAME-INDEX-liftoff` of WebAssembly, whose index changes with any function before it, and
 * JavaScriptCore's `JSC-FTL: NAME#HASH`, whose hash changes with the function's text.
 */
bool profile_javascript_name(const char *name, struct profile_script_name *parts);

/*
 * Appends a function's name as people read it: `S.run` for Python's `py::S.run:/srv/w.py`, `parse` for JavaScript's
 * `JS:*parse /srv/w.js:12:3`, whose file reports show as that of any function, and of other languages as their row of
 * the table has it: `HashMap.get(Object)`, `http.(*conn).serve`. It identifies no function.
 */
void profile_shown_name(const char *name, const char *module, struct buffer *out);

/*
 * Returns whether many functions of a file have a name, as people read it, so that only their place tells them apart:
 * `(anonymous)`, `<lambda>`, `block in run`.
 */
bool profile_is_nameless(const char *name, size_t bytes);

/*
 * Returns whether a function is one in which the kernel or a run time lets a program or a thread begin, so that it has
 * no caller there: `_start`, `__clone3`, `runtime.goexit`. The thread that makes another one calls clone(), too.
 */
bool profile_is_first_function(const char *name);
