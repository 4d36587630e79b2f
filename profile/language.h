/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/activity.h"

/*
 * Languages and their runtimes: what is known of each stands in its row of a table. In which language a
 * function is written, and whose functions an interpreter runs.
 */

/* The page has them as numbers of four bits. The first in this order whose mark a program bears decides. */
enum profile_language {
	PROFILE_LANGUAGE_NATIVE, /* machine code of any compiler, and all that is not known to be another one */
	PROFILE_LANGUAGE_PYTHON,
	PROFILE_LANGUAGE_JAVASCRIPT,
	PROFILE_LANGUAGE_JAVA, /* methods of classes, whatever language for the JVM they are written in */
	PROFILE_LANGUAGE_KERNEL,
	PROFILE_LANGUAGE_RUBY,
	PROFILE_LANGUAGE_GO,
	PROFILE_LANGUAGE_PHP,
	PROFILE_LANGUAGE_PERL,
	PROFILE_LANGUAGE_LUA,
	PROFILE_LANGUAGE_DOTNET,
	PROFILE_LANGUAGE_ERLANG,
	PROFILE_LANGUAGE_UNKNOWN, /* none is known for the program's code, as it may be in files of other tools */
};
enum { PROFILE_LANGUAGE_COUNT = PROFILE_LANGUAGE_UNKNOWN + 1 };

/*
 * The cause of a program's variation from process to process. diff/statistics/floor.c has the figures. A language
 * without one counts as native code, which no runtime runs.
 */
enum profile_variation {
	PROFILE_VARIATION_NATIVE,
	PROFILE_VARIATION_INTERPRETED, /* also what a perf map names of such a language is interpreted, not compiled */
	PROFILE_VARIATION_V8,          /* it compiles functions at run time, in tiers */
	PROFILE_VARIATION_HOTSPOT,     /* likewise */
	PROFILE_VARIATION_GO,
	PROFILE_VARIATION_UNKNOWN,
};
enum { PROFILE_VARIATION_COUNT = PROFILE_VARIATION_UNKNOWN + 1 };

struct profile_script_name;

/* A language with its runtime. Lists are those of glob_matches_any(); NULL: there is none. All is static. */
struct profile_language_row {
	/* Its words. */
	const char *name;      /* lower case, for JSON and the page: "python" */
	const char *functions; /* in sentences: "Python functions" */
	const char *beside;    /* what else its runtime makes code of: "WebAssembly functions"; NULL: nothing */
	const char *next_step; /* how a runtime is made to name its functions: "start it with ..." */

	/* Its runtime. */
	const char *const *modules; /* that run programs rather than being one; also what commands call the program */
	/*
	 * Functions that execute a program: one of them is in the stack, however deep a sample is. They count in the
	 * runtime's modules, unless no other program has functions of such names, in whatever module.
	 */
	const char *const *loops;
	bool is_loop_unique;
	bool makes_code; /* machine code without a name in one of its processes may be that of its functions */
	/* Functions of its modules that do the work of an interpreted function's own operations. */
	const char *const *operations;
	struct {
		/*
		 * The functions in which it begins; of any module where the runtime is a part of each program and has
		 * none.
		 */
		const char *const *functions;
		const char *const *threads; /* that do nothing else, as the kernel cuts their names: after 15 bytes */
	} activities[PROFILE_ACTIVITY_COUNT];
	enum profile_variation variation;

	/* Its functions. */
	bool (*read_name)(const char *name, struct profile_script_name *parts); /* NULL: names tell no file */
	/* Appends a name as people read it, and where they look for it; NULL: as read_name() reads it. */
	void (*append_shown)(const char *name, struct buffer *out);
	void (*append_package)(const char *name, struct buffer *out); /* NULL or without a text: in its module */
	const char *gone;         /* what a function is called whose name could not be read */
	const char *const *stubs; /* names of code made at run time that is the runtime's own */

	/* Its libraries, by the files of their sources, by names, and by the files of what is compiled of them. */
	const char *const *standard_sources;
	bool has_packages_within; /* packages may lie below the standard library, and do not belong to it */
	const char *const *standard_names;
	const char *const *standard_packages;  /* of Java, each with a dot behind it; no globs */
	const char *const *packages;           /* directories of packages, with sources and compiled files */
	const char *const *dependency_sources; /* sources of other libraries that a program chose */
	const char *const *compiled_packages;  /* compiled files of the runtime's and of other packages */

	const char *const *options_with_value; /* of its commands; the next word is the value */
};
extern const struct profile_language_row profile_languages[PROFILE_LANGUAGE_COUNT];

/* Returns the language whose runtime a module is; PROFILE_LANGUAGE_NATIVE: it is none's. */
enum profile_language profile_language_of_module(const char *module);

/*
 * Returns whether a module runs programs rather than being one: the C library, the loader, interpreters, virtual
 * machines.
 */
bool profile_is_runtime(const char *module);

/* Returns the language of a function, by the form of its name and by its module. */
enum profile_language profile_language_of(const char *name, const char *module);

/*
 * Returns the language whose functions the code of a module interprets, in whatever function of it: CPython's C
 * functions do the work of a Python function's own operations. PROFILE_LANGUAGE_NATIVE: it interprets none. Of runtimes
 * that compile functions, only the code that runs a function before it is optimized does: V8's handlers of bytecodes,
 * and what its first compilers call for a single operation. What V8 or HotSpot do in C++ is a service to the compiled
 * code, as malloc() is.
 */
enum profile_language profile_language_interpreted_by(const char *name, const char *module);

/*
 * Returns the language of a function that is called what such a function is whose name could not be read; NATIVE: of
 * none.
 */
enum profile_language profile_language_of_gone(const char *name);

/*
 * Returns whether a module stands for code that is generated at run time, or for memory without a file, where such code
 * lies.
 */
bool profile_is_made_at_run_time(const char *module);

/*
 * Returns whether a name in code that is generated at run time is that of code which runtimes generate for themselves.
 */
bool profile_is_generated_stub(const char *name);

/* Returns whether a name is that of a function of a standard library. */
bool profile_is_standard_name(const char *name);
