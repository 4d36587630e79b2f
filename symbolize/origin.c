/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/origin.h"

#include <string.h>

static const char *const rule_texts[] = {
	[SYMBOLIZE_RULE_NONE] = "no rule matched",
	[SYMBOLIZE_RULE_USER_RULE] = "a rule of --origin-rules",
	[SYMBOLIZE_RULE_KERNEL] = "kernel, module or vdso",
	[SYMBOLIZE_RULE_RUNTIME] = "C library, loader, language runtime or interpreter",
	[SYMBOLIZE_RULE_JIT_STUB] = "code of a script, or made at run time, by where the script is",
	[SYMBOLIZE_RULE_STANDARD_SOURCE] = "source of a standard library",
	[SYMBOLIZE_RULE_DEPENDENCY_SOURCE] = "source of a dependency",
	[SYMBOLIZE_RULE_PROJECT_ROOT] = "source under --project-root",
	[SYMBOLIZE_RULE_COMPILATION_DIRECTORY] = "source under the main program's compilation directory",
	[SYMBOLIZE_RULE_MAIN_PROGRAM] = "main program, or a library beside it",
	[SYMBOLIZE_RULE_SYSTEM_DIRECTORY] = "library where libraries are installed",
	[SYMBOLIZE_RULE_NAME_PREFIX] = "name of a standard library",
	[SYMBOLIZE_RULE_ANONYMOUS] = "memory without a file",
	[SYMBOLIZE_RULE_OTHER_SOURCE] = "source elsewhere, by the binary it is in",
	[SYMBOLIZE_RULE_WAIT] = "no function: what a thread waits for",
};

static const char *const *const system_directories =
	GLOBS("/lib/*", "/lib64/*", "/lib32/*", "/usr/lib/*", "/usr/lib64/*", "/usr/local/lib/*", "/opt/*");

/*
 * Files and functions of Go's runtime. With -trimpath a file of Go's standard library begins with its package's path,
 * behind a dot in debug information.
 */
static const char *const *const go_runtime_names = GLOBS("runtime.*", "runtime/*", "internal/runtime/*");
static const char *const *const go_runtime_files = GLOBS("", "*/src/runtime/*", "runtime/*", "./runtime/*",
	"*/src/internal/runtime/*", "internal/runtime/*", "./internal/runtime/*");

const char *symbolize_rule_text(enum symbolize_rule rule)
{
	size_t count = sizeof(rule_texts) / sizeof(rule_texts[0]);

	return (size_t)rule < count && rule_texts[rule] ? rule_texts[rule] : rule_texts[SYMBOLIZE_RULE_NONE];
}

bool origin_is_below(const char *path, const char *directory)
{
	size_t size = strlen(directory);

	while (size > 1 && directory[size - 1] == '/')
		size--;
	return size > 0 && strncmp(path, directory, size) == 0 &&
	       (path[size] == '/' || (size == 1 && directory[0] == '/'));
}

static bool is_below_project(const struct origin_context *context, const char *file)
{
	for (size_t i = 0; i < context->options->project_root_count; i++)
		if (origin_is_below(file, context->options->project_roots[i]))
			return true;
	return false;
}

/* Returns whether the binary is the main program, or a library in its directory, unless that is a system directory. */
static bool is_programs_own(const struct origin_context *context, const char *path)
{
	const char *slash = strrchr(context->main_path, '/');
	size_t size = slash ? (size_t)(slash - context->main_path) : 0;

	if (path[0] == '\0' || context->main_path[0] == '\0')
		return false;
	if (strcmp(path, context->main_path) == 0)
		return true;
	return size > 0 && !glob_matches_any(system_directories, path) &&
	       strncmp(path, context->main_path, size) == 0 && path[size] == '/' && !strchr(path + size + 1, '/');
}

static bool is_go_runtime(const struct origin_evidence *e)
{
	return glob_matches_any(go_runtime_names, e->name) && glob_matches_any(go_runtime_files, e->file);
}

/* The script's path in a JIT's name: `JS:*foo /path/x.js:1:2`, `py::foo:/path/x.py`; "" if there is none. */
static const char *script_in_name(const char *name)
{
	const char *space = strrchr(name, ' '), *script = space ? space + 1 : "";
	struct profile_script_name parts;

	if (profile_script_name(name, &parts) != PROFILE_LANGUAGE_NATIVE)
		script = parts.file;
	return strncmp(script, "file://", 7) == 0 ? script + 7 : script;
}

/* A directory that contains every file is no evidence. */
static bool is_below_compilation(const struct origin_context *context, const char *file)
{
	const char *directory = context->compilation_directory;

	return directory[0] == '/' && directory[1] != '\0' && origin_is_below(file, directory);
}

/* Decides by the libraries of all languages. Packages may lie below a standard library, but do not belong to it. */
static struct origin_decision decide_library(const char *file)
{
	struct origin_decision decision = { PROFILE_ORIGIN_UNKNOWN, SYMBOLIZE_RULE_NONE };

	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++) {
		const struct profile_language_row *row = &profile_languages[i];
		bool is_package = glob_matches_any(row->packages, file);

		if (!(is_package && row->has_packages_within) && glob_matches_any(row->standard_sources, file))
			return (struct origin_decision){ PROFILE_ORIGIN_LIBRARY, SYMBOLIZE_RULE_STANDARD_SOURCE };
		if (is_package || glob_matches_any(row->dependency_sources, file))
			decision = (struct origin_decision){ PROFILE_ORIGIN_LIBRARY, SYMBOLIZE_RULE_DEPENDENCY_SOURCE };
	}
	return decision;
}

static struct origin_decision decide_source(const struct origin_context *context, const char *file)
{
	struct origin_decision decision = decide_library(file);

	if (decision.rule != SYMBOLIZE_RULE_NONE)
		return decision;
	if (is_below_project(context, file))
		return (struct origin_decision){ PROFILE_ORIGIN_USER, SYMBOLIZE_RULE_PROJECT_ROOT };
	if (is_below_compilation(context, file))
		return (struct origin_decision){ PROFILE_ORIGIN_USER, SYMBOLIZE_RULE_COMPILATION_DIRECTORY };
	return (struct origin_decision){ PROFILE_ORIGIN_UNKNOWN, SYMBOLIZE_RULE_NONE };
}

/*
 * Returns whether generated code is the JVM's own: only methods belong to classes. A name with a script's path is of
 * another runtime in the same recording.
 */
static bool is_jvm_own(const struct origin_context *context, const char *name)
{
	return context->has_jvm && !profile_java_is_method(name) && !strpbrk(name, ":/");
}

static struct origin_decision decide_jit(const struct origin_context *context, const struct origin_evidence *e)
{
	bool is_java = context->has_jvm && profile_java_is_method(e->name);
	const char *script = is_java ? "" : script_in_name(e->name);
	struct origin_decision decision;

	if (script[0] == '\0')
		script = e->file;
	if (profile_is_generated_stub(e->name) || is_jvm_own(context, e->name))
		return (struct origin_decision){ PROFILE_ORIGIN_SYSTEM, SYMBOLIZE_RULE_JIT_STUB };
	if (profile_java_is_standard(e->name))
		return (struct origin_decision){ PROFILE_ORIGIN_LIBRARY, SYMBOLIZE_RULE_NAME_PREFIX };
	if (script[0] == '\0' && !is_java)
		return (struct origin_decision){ PROFILE_ORIGIN_UNKNOWN, SYMBOLIZE_RULE_JIT_STUB };
	decision = decide_source(context, script);
	if (decision.rule == SYMBOLIZE_RULE_NONE)
		decision = (struct origin_decision){ PROFILE_ORIGIN_USER, SYMBOLIZE_RULE_JIT_STUB };
	return decision;
}

/* Returns whether the file of a binary is where libraries, or packages of a language, are installed. */
static bool is_installed(const char *path)
{
	if (glob_matches_any(system_directories, path))
		return true;
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (glob_matches_any(profile_languages[i].packages, path) ||
			glob_matches_any(profile_languages[i].compiled_packages, path))
			return true;
	return false;
}

/* Decides by the binary, if the source is no evidence. */
static struct origin_decision decide_binary(const struct origin_context *context, const struct origin_evidence *e)
{
	bool has_source = e->file[0] != '\0';
	/* A function that a program instantiates of a library is not the program's, though it is in its file. */
	bool is_instance = !has_source && profile_is_standard_name(e->name);

	if (!is_instance && (e->is_program || is_programs_own(context, e->path)))
		return (struct origin_decision){ PROFILE_ORIGIN_USER,
			has_source ? SYMBOLIZE_RULE_OTHER_SOURCE : SYMBOLIZE_RULE_MAIN_PROGRAM };
	if (is_installed(e->path))
		return (struct origin_decision){ PROFILE_ORIGIN_LIBRARY,
			has_source ? SYMBOLIZE_RULE_OTHER_SOURCE : SYMBOLIZE_RULE_SYSTEM_DIRECTORY };
	if (profile_is_standard_name(e->name))
		return (struct origin_decision){ PROFILE_ORIGIN_LIBRARY, SYMBOLIZE_RULE_NAME_PREFIX };
	if (e->has_mapping && e->kind == PROFILE_MAPPING_ANON)
		return (struct origin_decision){ PROFILE_ORIGIN_UNKNOWN, SYMBOLIZE_RULE_ANONYMOUS };
	return (struct origin_decision){ PROFILE_ORIGIN_UNKNOWN, SYMBOLIZE_RULE_NONE };
}

/*
 * Returns whether it is no function but the frame that ends the stack of a wait. The user's rules are about functions.
 */
static bool is_wait_frame(const struct origin_evidence *e)
{
	return !e->has_mapping && e->module[0] == '\0' && profile_wait_class_of_name(e->name) != PROFILE_WAIT_NONE;
}

struct origin_evidence origin_evidence_of(
	const struct profile *profile, const struct profile_location *location, uint32_t line)
{
	const struct profile_function *function =
		&profile->functions[profile->lines[location->first_line + line].function];
	const struct profile_mapping *in =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];

	return (struct origin_evidence){
		.name = profile_string(profile, function->name),
		.module = profile_string(profile, function->module),
		.file = profile_string(profile, function->file),
		.path = in ? profile_string(profile, in->path) : "",
		.kind = in ? in->kind : PROFILE_MAPPING_ANON,
		.has_mapping = in != NULL,
	};
}

struct origin_decision origin_decide(const struct origin_context *context, const struct origin_evidence *e)
{
	struct origin_decision decision;
	uint32_t origin;

	if (is_wait_frame(e))
		return (struct origin_decision){ PROFILE_ORIGIN_SYSTEM, SYMBOLIZE_RULE_WAIT };
	if (context->options->origin_rules && rules_match(context->options->origin_rules, e, &origin))
		return (struct origin_decision){ (enum profile_origin)origin, SYMBOLIZE_RULE_USER_RULE };
	if (e->has_mapping && (e->kind == PROFILE_MAPPING_KERNEL || e->kind == PROFILE_MAPPING_VDSO))
		return (struct origin_decision){ PROFILE_ORIGIN_SYSTEM, SYMBOLIZE_RULE_KERNEL };
	if (e->has_mapping && e->kind == PROFILE_MAPPING_JIT)
		return decide_jit(context, e);
	if (profile_is_runtime(e->module) || is_go_runtime(e))
		return (struct origin_decision){ PROFILE_ORIGIN_SYSTEM, SYMBOLIZE_RULE_RUNTIME };
	if (e->file[0] != '\0') {
		decision = decide_source(context, e->file);
		if (decision.rule != SYMBOLIZE_RULE_NONE)
			return decision;
	}
	return decide_binary(context, e);
}

struct origin_decision origin_revise(
	const struct origin_context *context, const struct origin_evidence *e, struct origin_decision before)
{
	uint32_t origin;

	if (is_wait_frame(e))
		return before;
	if (context->options->origin_rules && rules_match(context->options->origin_rules, e, &origin))
		return (struct origin_decision){ (enum profile_origin)origin, SYMBOLIZE_RULE_USER_RULE };
	/*
	 * What was decided with the binaries at hand is better than what can be told from names. Recordings of Kelvin
	 * 0.2 and older have the standard libraries of interpreters as system, and what a program instantiates of a
	 * library as the program's.
	 */
	if (before.rule == SYMBOLIZE_RULE_STANDARD_SOURCE)
		before.origin = PROFILE_ORIGIN_LIBRARY;
	if (before.rule == SYMBOLIZE_RULE_MAIN_PROGRAM && e->file[0] == '\0' && profile_is_standard_name(e->name))
		before = (struct origin_decision){ PROFILE_ORIGIN_LIBRARY, SYMBOLIZE_RULE_NAME_PREFIX };
	if (before.rule > SYMBOLIZE_RULE_PROJECT_ROOT && is_below_project(context, e->file))
		return (struct origin_decision){ PROFILE_ORIGIN_USER, SYMBOLIZE_RULE_PROJECT_ROOT };
	return before;
}

struct origin_context origin_context_of(const struct symbolize_options *options, const struct profile *profile)
{
	struct origin_context context = { .options = options, .main_path = "", .compilation_directory = "" };

	if (profile->mapping_count > 0 && profile->mappings[0].kind == PROFILE_MAPPING_FILE)
		context.main_path = profile_string(profile, profile->mappings[0].path);
	for (size_t i = 0; i < profile->mapping_count && !context.has_jvm; i++)
		context.has_jvm = profile_language_of_module(profile_string(profile, profile->mappings[i].module)) ==
				  PROFILE_LANGUAGE_JAVA;
	return context;
}
