/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/profile.h"

#include <string.h>

/* Frames of stacks, from the root: a function, the path of its mapping, what kind that is, and where the name came
 * from. */
struct frame {
	const char *name, *path;
	enum profile_mapping_kind kind;
	enum profile_name_source source;
};

#define IN(path, name)                                                                                                 \
	{                                                                                                              \
		name, path, PROFILE_MAPPING_FILE, PROFILE_NAME_SYMTAB                                                  \
	}
#define MADE(name)                                                                                                     \
	{                                                                                                              \
		name, "[jit]", PROFILE_MAPPING_JIT, PROFILE_NAME_JIT                                                   \
	}
#define WITHOUT_NAME                                                                                                   \
	{                                                                                                              \
		"//anon+0x10", "//anon", PROFILE_MAPPING_ANON, PROFILE_NAME_NONE                                       \
	}

enum { MAX_FRAMES = 5, MAX_STACKS = 4 };

/* A sample: how much, of which process, in which stack. */
struct taken {
	int64_t time;
	int32_t pid;
	struct frame frames[MAX_FRAMES];
};

static uint32_t location_of(struct profile *profile, const struct frame *frame, uint64_t address)
{
	struct profile_mapping mapping = {
		.kind = frame->kind, .end = UINT64_MAX, .path = profile_id(profile, frame->path)
	};
	struct profile_function function = { .name = profile_id(profile, frame->name), .name_source = frame->source };
	struct profile_line line = { 0 };
	uint32_t in, location;
	struct error err;

	assert_true(profile_add_mapping(profile, &mapping, &in, &err));
	function.module = profile->mappings[in].module;
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	assert_true(profile_add_location(profile, in, address, &location, &err));
	assert_true(profile_set_lines(profile, location, &line, 1, &err));
	return location;
}

static void add_taken(struct profile *profile, const struct taken *taken, uint32_t run)
{
	struct profile_thread thread = { .run = run, .pid = taken->pid, .tid = taken->pid };
	const int64_t values[] = { 1, taken->time };
	uint32_t stack = 0, id;
	struct error err;

	for (size_t i = 0; i < MAX_FRAMES && taken->frames[i].name; i++)
		assert_true(profile_add_stack(profile, stack,
			location_of(profile, &taken->frames[i], 0x1000 + profile->location_count), &stack, &err));
	assert_true(profile_add_thread(profile, &thread, &id, &err));
	assert_true(profile_add_sample(profile, stack, id, values, -1, &err));
}

static struct profile *profile_of(const struct taken *taken, size_t count)
{
	const struct profile_run run = { .exit_status = -1 };
	struct profile *profile;
	struct error err;
	uint32_t id;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_run(profile, &run, &id, &err));
	for (size_t i = 0; i < count; i++)
		add_taken(profile, &taken[i], id);
	assert_true(profile_finish(profile, &err));
	return profile;
}

/* The sentences, each with a line end. */
static void expect_sentences(const struct taken *taken, size_t count, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_of(taken, count);
	struct profile_nameless found[PROFILE_LANGUAGE_COUNT];
	CLEANUP(buffer_deinit) struct buffer said = { 0 };
	struct error err;

	buffer_init(&said, 1 << 12);
	assert_true(profile_find_nameless(profile, found, &count, &err));
	for (size_t i = 0; i < count; i++) {
		profile_nameless_sentence(&found[i], &said);
		buffer_append_byte(&said, '\n');
	}
	buffer_append_byte(&said, '\0');
	assert_string_equal((const char *)said.data, expected);
}

#define PYTHON "/usr/bin/python3.11"

static void time_is_counted_through_an_interpreter_not_in_it(void **state)
{
	static const struct taken taken[] = {
		{ 60, 1,
			{ IN(PYTHON, "main"), IN(PYTHON, "_PyEval_EvalFrameDefault"),
				IN("/usr/lib/libcrypto.so.3", "sha256") } },
		{ 20, 1, { IN(PYTHON, "main"), IN(PYTHON, "_PyEval_EvalFrameDefault") } },
		{ 20, 1, { IN(PYTHON, "main"), IN(PYTHON, "Py_Initialize") } },
	};

	expect_sentences(taken, 3,
		"80 % of the time passes through Python functions that have no names: start it with 'python3 -X perf' (Python 3.12 or "
		"newer)\n");
}

static void an_interpreter_that_tells_names_lacks_none(void **state)
{
	static const struct taken taken[] = {
		{ 70, 1, { IN(PYTHON, "main"), IN(PYTHON, "_PyEval_EvalFrameDefault"), MADE("py::f:/srv/a.py") } },
		/* what it executes before it has anything to name */
		{ 30, 1, { IN(PYTHON, "main"), IN(PYTHON, "_PyEval_EvalFrameDefault") } },
	};
	static const struct taken another[] = {
		{ 70, 1, { IN(PYTHON, "main"), IN(PYTHON, "_PyEval_EvalFrameDefault"), MADE("py::f:/srv/a.py") } },
		{ 30, 2, { IN(PYTHON, "main"), IN(PYTHON, "_PyEval_EvalFrameDefault") } },
	};

	expect_sentences(taken, 2, "");
	expect_sentences(another, 2,
		"30 % of the time passes through Python functions that have no names: start it with 'python3 -X perf' (Python 3.12 or "
		"newer)\n");
}

/* The map of a process is of its pid. */
static void a_map_that_no_sample_met_tells_names(void **state)
{
	static const struct taken taken[] = { { 100, 7, { IN(PYTHON, "_PyEval_EvalFrameDefault") } } };
	CLEANUP(profile_cleanup) struct profile *profile = profile_of(taken, 1);
	struct profile_mapping map = {
		.kind = PROFILE_MAPPING_JIT, .end = UINT64_MAX, .path = profile_id(profile, "[jit]")
	};
	struct profile_nameless found[PROFILE_LANGUAGE_COUNT];
	struct error err;
	uint32_t id;
	size_t count;

	map.file_offset = 8;
	assert_true(profile_add_mapping(profile, &map, &id, &err));
	assert_true(profile_find_nameless(profile, found, &count, &err));
	assert_int_equal(count, 1);
	map.file_offset = 7;
	assert_true(profile_add_mapping(profile, &map, &id, &err));
	assert_true(profile_find_nameless(profile, found, &count, &err));
	assert_int_equal(count, 0);
}

static void code_made_at_run_time_is_of_the_runtime_of_its_process(void **state)
{
	static const char java[] = "/usr/lib/jvm/lib/server/libjvm.so", node[] = "/usr/bin/node";
	const struct taken taken[] = {
		{ 50, 1, { IN(java, "JavaCalls::call_helper"), WITHOUT_NAME, IN("/lib/libc.so.6", "write") } },
		{ 30, 2, { IN(node, "Builtins_JSEntry"), WITHOUT_NAME } },
		{ 16, 3, { IN("/srv/app", "main"), WITHOUT_NAME } },
		{ 4, 4, { IN("/usr/bin/perl", "Perl_runops_standard") } },
	};

	expect_sentences(taken, 4,
		"50 % of the time passes through Java methods that have no names: run 'jcmd PID Compiler.perfmap' (JDK 17 or newer) just "
		"before the recording ends, or record it to its end with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit\n"
		"30 % of the time passes through JavaScript functions that have no names: start it with 'node --perf-basic-prof'\n"
		"16 % of the time passes through functions made at run time that have no names: 'man kelvin-record' says which runtimes "
		"name theirs, and how\n");
}

/* WebAssembly in node, whose JavaScript has names; a module of wasmtime in python, whose functions have names; one
 * frame without a name that calls what has one, as a trampoline does. */
static void a_second_source_of_code_is_told(void **state)
{
	static const char node[] = "/usr/bin/node";
	static const struct taken taken[] = {
		{ 40, 1, { IN(node, "Builtins_JSEntry"), MADE("JS:~f /srv/a.js:1:1"), WITHOUT_NAME, WITHOUT_NAME } },
		{ 10, 1, { IN(node, "Builtins_JSEntry"), WITHOUT_NAME, MADE("JS:~f /srv/a.js:1:1") } },
		{ 20, 2, { IN(PYTHON, "_PyEval_EvalFrameDefault"), MADE("py::f:/srv/a.py"), WITHOUT_NAME } },
		{ 10, 2,
			{ IN(PYTHON, "_PyEval_EvalFrameDefault"), MADE("py::f:/srv/a.py"), WITHOUT_NAME,
				IN("/lib/libc.so.6", "memcpy") } },
		{ 20, 3, { IN("/usr/bin/gcc", "main") } },
	};

	expect_sentences(taken, 5,
		"40 % of the time passes through WebAssembly functions that have no names: start it with 'node --perf-basic-prof'\n"
		"30 % of the time passes through functions made at run time that have no names: 'man kelvin-record' says which runtimes "
		"name theirs, and how\n");
}

static void a_common_name_counts_in_its_module_alone(void **state)
{
	static const struct taken taken[] = {
		{ 50, 1, { IN("/usr/bin/php8.2", "execute_ex") } },
		{ 50, 2, { IN("/srv/app", "execute_ex") } },
	};

	expect_sentences(taken, 2,
		"50 % of the time passes through PHP functions that have no names: record it as root, or with "
		"the capabilities that 'kelvin doctor' names (PHP 7.4 to 8.5 without threads)\n");
}

static void an_empty_profile_lacks_nothing(void **state)
{
	expect_sentences(NULL, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_counted_through_an_interpreter_not_in_it),
		cmocka_unit_test(an_interpreter_that_tells_names_lacks_none),
		cmocka_unit_test(a_map_that_no_sample_met_tells_names),
		cmocka_unit_test(code_made_at_run_time_is_of_the_runtime_of_its_process),
		cmocka_unit_test(a_second_source_of_code_is_told),
		cmocka_unit_test(a_common_name_counts_in_its_module_alone),
		cmocka_unit_test(an_empty_profile_lacks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
