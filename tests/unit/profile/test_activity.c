/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <stdio.h>
#include <string.h>

/* What a run time does beside running the program: frames of its own in the stacks. */

#define GC "[garbage collection]"
#define JIT "[just-in-time compilation]"
#define SCRIPTS "[compilation of scripts]"

static uint32_t location_of(struct profile *profile, const char *module, const char *name)
{
	struct profile_function function = { .name_source = PROFILE_NAME_SYMTAB };
	struct profile_line line = { 0 };
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_FILE };
	uint32_t in, location;
	char path[64];
	struct error err;

	snprintf(path, sizeof(path), "/usr/bin/%s", module);
	must(profile_intern(profile, path, &mapping.path, &err), &err);
	must(profile_intern(profile, name, &function.name, &err), &err);
	must(profile_intern(profile, module, &function.module, &err), &err);
	must(profile_add_mapping(profile, &mapping, &in, &err), &err);
	must(profile_add_function(profile, &function, &line.function, &err), &err);
	must(profile_add_location_of_lines(profile, in, &line, 1, &location, &err), &err);
	return location;
}

/* Adds `count` samples of a stack, `name!module;...` from the root on. */
static void add(struct profile *profile, const char *thread_name, const char *frames, int64_t count)
{
	struct profile_thread thread = { .pid = 1, .tid = 1 };
	uint32_t stack = 0, id;
	char copy[400], *rest = copy;
	struct error err;

	must(profile_intern(profile, thread_name, &thread.name, &err), &err);
	must(profile_add_thread(profile, &thread, &id, &err), &err);
	snprintf(copy, sizeof(copy), "%s", frames);
	for (const char *frame; (frame = strsep(&rest, ";"));) {
		char *module = strchr(frame, '!');

		*module++ = '\0';
		must(profile_add_stack(profile, stack, location_of(profile, module, frame), &stack, &err), &err);
	}
	must(profile_add_sample(profile, stack, id, &count, 0, &err), &err);
}

static struct profile *new_profile(void)
{
	struct profile_run run = { 0 };
	struct profile *profile;
	struct error err;
	uint32_t id;

	must(profile_create(&profile, &err), &err);
	must(profile_add_run(profile, &run, &id, &err), &err);
	return profile;
}

/* The names of a sample's stack, from the root on. */
static void names_of(const struct profile *profile, size_t sample, char *text, size_t size)
{
	uint32_t path[32], depth = 0;
	size_t used = 0;

	for (uint32_t s = profile->samples[sample].stack; s != 0; s = profile->stacks[s].parent)
		path[depth++] = s;
	text[0] = '\0';
	while (depth-- > 0) {
		const struct profile_location *location = &profile->locations[profile->stacks[path[depth]].location];
		uint32_t function = profile->lines[location->first_line].function;

		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ";" : "",
			profile_string(profile, profile->functions[function].name));
	}
}

static void expect(const struct profile *profile, size_t sample, const char *names, int64_t count)
{
	char text[400];

	names_of(profile, sample, text, sizeof(text));
	assert_string_equal(text, names);
	assert_int_equal(profile->values[sample * profile->value_type_count], count);
}

static void mark(struct profile *profile)
{
	struct error err;

	must(profile_mark_activities(profile, &err), &err);
	must(profile_validate(profile, &err), &err);
}

/* Reading a script is the run time's work, whoever has it read: functions in whose stacks it is do not have its time.
 */
static void scripts_are_compiled_by_the_run_time(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();

	add(profile, "php", "php::{main}:/srv/a.php!jit;compile_file!php8.2;zendparse!php8.2", 1);
	add(profile, "php",
		"php::{main}:/srv/a.php!jit;persistent_compile_file!opcache.so;zend_accel_script_persist!opcache.so",
		2);
	add(profile, "php", "php::{main}:/srv/a.php!jit;persistent_compile_file!opcache.so", 3);
	add(profile, "python3",
		"py::load:/srv/a.py!jit;builtin_exec!python3.11;Py_CompileStringObject!python3.11;_PyAST_Compile!python3.11",
		4);
	add(profile, "app", "main!app;compile_file!app", 5);
	mark(profile);
	expect(profile, 0, "php::{main}:/srv/a.php;" SCRIPTS ";compile_file;zendparse", 1);
	expect(profile, 1, "php::{main}:/srv/a.php;persistent_compile_file;" SCRIPTS ";zend_accel_script_persist", 2);
	expect(profile, 2, "php::{main}:/srv/a.php;persistent_compile_file", 3);
	expect(profile, 3, "py::load:/srv/a.py;builtin_exec;" SCRIPTS ";Py_CompileStringObject;_PyAST_Compile", 4);
	expect(profile, 4, "main;compile_file", 5);
}

/* The frame stands above the function in which the activity begins, once in a stack. */
static void activities_begin_in_functions(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	size_t stacks;

	add(profile, "node", "main!node;JS:f!jit", 1);
	add(profile, "node",
		"main!node;JS:f!jit;v8::internal::Heap::CollectGarbage()!node;v8::internal::Scavenger::Process()!node",
		2);
	add(profile, "node", "start!node;v8::internal::OptimizingCompileDispatcher::CompileNext()!node", 3);
	add(profile, "app", "goexit!app;runtime.gcBgMarkWorker!app;runtime.scanobject!app", 4);
	add(profile, "app", "main!app;v8::internal::Heap::CollectGarbage()!app", 5);
	mark(profile);
	expect(profile, 0, "main;JS:f", 1);
	expect(profile, 1, "main;JS:f;" GC ";v8::internal::Heap::CollectGarbage();v8::internal::Scavenger::Process()",
		2);
	expect(profile, 2, "start;" JIT ";v8::internal::OptimizingCompileDispatcher::CompileNext()", 3);
	expect(profile, 3, "goexit;" GC ";runtime.gcBgMarkWorker;runtime.scanobject", 4);
	expect(profile, 4, "main;v8::internal::Heap::CollectGarbage()", 5);
	/* Once more changes nothing. */
	stacks = profile->stack_count;
	mark(profile);
	assert_int_equal(profile->stack_count, stacks);
	expect(profile, 2, "start;" JIT ";v8::internal::OptimizingCompileDispatcher::CompileNext()", 3);
}

/* A thread of HotSpot that does nothing else has the frame as its outermost, also where it shares stacks with others.
 */
static void threads_of_hotspot_are_for_an_activity(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();

	add(profile, "C2 CompilerThre", "start_thread!libc.so;memset!libc.so", 1);
	add(profile, "java", "start_thread!libc.so;memset!libc.so", 2);
	add(profile, "G1 Conc#0", "start_thread!libc.so", 3);
	add(profile, "VM Thread", "start_thread!libc.so;VM_G1CollectForAllocation::doit()!libjvm.so", 4);
	mark(profile);
	expect(profile, 0, JIT ";start_thread;memset", 1);
	expect(profile, 1, "start_thread;memset", 2);
	expect(profile, 2, GC ";start_thread", 3);
	expect(profile, 3, "start_thread;" GC ";VM_G1CollectForAllocation::doit()", 4);
	mark(profile);
	expect(profile, 0, JIT ";start_thread;memset", 1);
}

/* Without a JVM, names of threads say nothing. */
static void threads_of_others_may_be_called_alike(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();

	add(profile, "GC Thread#0", "start_thread!libc.so", 1);
	mark(profile);
	expect(profile, 0, "start_thread", 1);
	assert_int_equal(profile->stack_count, 2);
}

/* Samples that come later find the stacks that were marked. */
static void a_marked_profile_takes_more_samples(void **state)
{
	static const char stack[] = "main!node;v8::internal::Heap::CollectGarbage()!node";
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();

	add(profile, "node", stack, 1);
	add(profile, "node", "main!node", 2);
	mark(profile);
	add(profile, "node", "main!node", 3);
	add(profile, "node", stack, 4);
	assert_int_equal(profile->sample_count, 3);
	expect(profile, 1, "main", 5);
	expect(profile, 2, "main;v8::internal::Heap::CollectGarbage()", 4);
}

static void memory_may_run_out(void **state)
{
	size_t n = 0;
	bool done = false;

	for (; !done; n++) {
		CLEANUP(profile_cleanup) struct profile *profile = new_profile();
		struct error err = { 0 };

		add(profile, "C2 CompilerThre", "start_thread!libc.so;run!libjvm.so", 1);
		add(profile, "java", "start_thread!libc.so;VM_G1CollectFull::doit()!libjvm.so", 2);
		failing_malloc_after(n);
		done = profile_mark_activities(profile, &err);
		failing_malloc_after(SIZE_MAX);
		if (!done)
			assert_int_equal(err.code, ERROR_MEMORY);
	}
	assert_true(n > 5);
}

static void frames_have_words(void **state)
{
	assert_int_equal(profile_activity_of_frame(GC, ""), PROFILE_ACTIVITY_COLLECTION);
	assert_int_equal(profile_activity_of_frame(JIT, ""), PROFILE_ACTIVITY_COMPILATION);
	assert_int_equal(profile_activity_of_frame(SCRIPTS, ""), PROFILE_ACTIVITY_SCRIPTS);
	assert_int_equal(profile_activity_of_frame(JIT, "a"), PROFILE_ACTIVITY_NONE);
	assert_int_equal(profile_activity_of_frame("", ""), PROFILE_ACTIVITY_NONE);
	assert_int_equal(profile_activity_of_frame("[waiting: lock]", ""), PROFILE_ACTIVITY_NONE);
	assert_string_equal(profile_activity_words(PROFILE_ACTIVITY_COLLECTION), "garbage collection");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activities_begin_in_functions),
		cmocka_unit_test(scripts_are_compiled_by_the_run_time),
		cmocka_unit_test(threads_of_hotspot_are_for_an_activity),
		cmocka_unit_test(threads_of_others_may_be_called_alike),
		cmocka_unit_test(a_marked_profile_takes_more_samples),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(frames_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
