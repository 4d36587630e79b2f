/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "profile/foreign/foreign.h"
#include "tests/unit/profile/profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Returns the threads of a profile as "process/thread", in their order. */
static void append_threads(const struct profile *profile, struct buffer *out)
{
	CLEANUP(cleanup_free) bool *is_used = calloc(profile->thread_count + 1, sizeof(*is_used));

	for (size_t i = 0; i < profile->sample_count; i++)
		is_used[profile->samples[i].thread] = true;
	for (size_t i = 0; i < profile->thread_count; i++)
		if (is_used[i])
			buffer_printf(out, "%s%s/%s", out->size ? " " : "",
				profile_string(profile, profile->threads[i].process_name),
				profile_string(profile, profile->threads[i].name));
}

static bool has_function(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (strcmp(profile_string(profile, profile->functions[i].name), name) == 0)
			return true;
	return false;
}

struct owners_case {
	const char *text, *threads;
	const char *first; /* a first frame that is a function all the same, or none that is one */
	bool is_function;
};

static void expect_case(const struct owners_case *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(expected->text, strlen(expected->text));
	CLEANUP(buffer_deinit) struct buffer threads = BUFFER_INIT(1 << 16);

	append_threads(profile, &threads);
	assert_string_equal(threads.data ? threads.data : "", expected->threads);
	if (has_function(profile, expected->first) != expected->is_function)
		fail_msg("%s: %s", expected->text, expected->first);
}

static void frames_of_threads_become_labels(void **state)
{
	static const struct owners_case cases[] = {
		/* By a number that no function's name has. */
		{ "worker-0;start;run 3\nworker-12;start;run 4\n", "worker-0/worker-0 worker-12/worker-12", "worker-12",
			false },
		{ "Thread 7;run;f 3\nmain;run 2\n", "Thread 7/Thread 7 /", "Thread 7", false },
		{ "app-100/101;main;run 3\n", "app/app", "app-100/101", false },
		/* By the entry of the program, and of a thread; another process in front of what is left is one as
		   well. */
		{ "java;_start;main 9\njava;parse 4\n", "java/java", "java", false },
		{ "java;__clone3;start_thread;run 5\n", "java/java", "java", false },
		{ "java;_start;main 90\nswapper;do_idle 2\n", "java/java swapper/swapper", "swapper", false },
		/* The process, and the thread below it. */
		{ "java;worker-3;start_thread;run 3\njava;main-1;_start 4\n", "java/worker-3 java/main-1", "worker-3",
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_case(&cases[i]);
}

static void functions_stay_functions(void **state)
{
	static const struct owners_case cases[] = {
		{ "main;run;f 3\nmain;g 2\n", "/", "main", true },
		{ "_start;__libc_start_main;main 3\n", "/", "_start", true },
		{ "java;main;f 3\njava;run 4\n", "/", "java", true },
		/* It stands further on in another stack. */
		{ "worker-1;run 3\nmain;worker-1;run 3\n", "/", "worker-1", true },
		/* A table of single frames. */
		{ "worker-1 3\nworker-2 4\n", "/", "worker-1", true },
		/* Erlang tells how many arguments a function takes; tools write what they do not know in brackets. */
		{ "proc_lib:init_p_do_apply/3;gen:loop/7 3\n", "/", "proc_lib:init_p_do_apply/3", true },
		{ "[unknown];_start;main 3\nf;g 1\n", "/", "[unknown]", true },
		/* Most stacks have no process in front of them. */
		{ "run;f 3\njava;_start;main 3\n", "/ java/java", "run", true },
		{ "run;f 1\njava;_start;main 90\n_start;main 3\n", "/ java/java", "run", true },
		/* A thread makes another one, and a program has a function of that name. */
		{ "spawn;__clone3;syscall 3\n", "/", "spawn", true },
		{ "main;start_thread;f 3\n", "/", "main", true },
		/* All that is known more of others is their file. */
		{ "main;f (a.py:5) 3\nmain;f (a.py:6);g (a.py:9) 3\n", "/", "main", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_case(&cases[i]);
}

static void values_and_stacks_stay(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	static const char text[] = "pool-1;run 3\npool-1;run;f 4\npool-2;run;f 5\nmain;f 1\n";

	(void)state;
	profile = read_profile(text, strlen(text));
	expect_stacks(profile, PROFILE_NONE, "main;f 1\npool-1;run 3\npool-1;run;f 4\npool-2;run;f 5\n");
	assert_int_equal(profile->quality.samples, 13);
	read_with_failing_allocations(text);
}

/* speedscope's own name of a thread is kept. */
static void other_formats_have_them_too(void **state)
{
	expect_case(&(struct owners_case){
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":["
		"{\"name\":\"worker-3\"},{\"name\":\"f\"}]},\"profiles\":[{\"unit\":\"none\",\"name\":\"all\",\"samples\":["
		"[0,1]],\"weights\":[3]}]}",
		"worker-3/all", "worker-3", false });
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_threads_become_labels),
		cmocka_unit_test(functions_stay_functions),
		cmocka_unit_test(values_and_stacks_stay),
		cmocka_unit_test(other_formats_have_them_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
