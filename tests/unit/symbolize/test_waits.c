/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { WAIT_NS = 10000000 };

static bool by_name; /* functions tell what is not known */

static struct profile *new_recording(void)
{
	struct profile *profile = NULL;
	uint32_t run, thread;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_wait_values(profile, &err));
	assert_true(profile_add_run(profile, &(struct profile_run){ 0 }, &run, &err));
	assert_true(profile_add_thread(profile, &(struct profile_thread){ .run = run }, &thread, &err));
	return profile;
}

/* A function of the module, in the file that is named after it. */
static uint32_t add_function(struct profile *profile, const char *name, uint32_t mapping)
{
	struct profile_function function = { .module = profile->mappings[mapping].module };
	char file[64];
	uint32_t id;
	struct error err;

	snprintf(file, sizeof(file), "/src/%s.c", name);
	assert_true(profile_intern(profile, name, &function.name, &err));
	assert_true(profile_intern(profile, file, &function.file, &err));
	assert_true(profile_add_function(profile, &function, &id, &err));
	return id;
}

/* The stack of functions, from the root on; two of them with a plus between are inlined into one place. */
static uint32_t add_stack(struct profile *profile, const char *functions, uint32_t mapping)
{
	char copy[256], *rest = NULL;
	uint32_t stack = 0;
	struct error err;

	snprintf(copy, sizeof(copy), "%s", functions);
	for (char *name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
		char *inlined = strchr(name, '+');
		struct profile_line lines[2];
		size_t count = 0;
		uint32_t location;

		if (inlined) {
			*inlined++ = '\0';
			lines[count++] = (struct profile_line){ add_function(profile, inlined, mapping), 1 };
		}
		lines[count++] = (struct profile_line){ add_function(profile, name, mapping), 1 };
		assert_true(profile_add_location_of_lines(profile, mapping, lines, count, &location, &err));
		assert_true(profile_add_stack(profile, stack, location, &stack, &err));
	}
	return stack;
}

/* What a wait in the stack is under the rules. */
static enum profile_wait_class class_under(
	const char *text, const char *functions, const char *path, enum profile_wait_class wait_class)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_FILE };
	struct symbolize_options options = { .waits_by_name = by_name };
	struct symbolize_rules *rules = NULL;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t id, stack;
	struct error err;

	assert_true(profile_intern(profile, path, &mapping.path, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	assert_true(profile_add_wait_stack(profile, add_stack(profile, functions, id), wait_class, &stack, &err));
	profile_wait_fill(profile, wait_class, WAIT_NS, values);
	assert_true(profile_add_sample(profile, stack, 0, values, 0, &err));
	assert_true(profile_weigh_event(profile, WAIT_NS, &err));
	assert_true(profile_finish(profile, &err));
	if (!symbolize_rules_parse(SYMBOLIZE_RULES_OF_WAITS, text, strlen(text), "rules", &rules, &err))
		fail_msg("%s", err.message);
	options.wait_rules = rules;
	assert_true(symbolize_waits(profile, &options, &err));
	assert_true(profile_validate(profile, &err));
	symbolize_rules_destroy(rules);
	return profile_wait_class_of_stack(profile, profile->samples[0].stack);
}

static void the_function_nearest_to_the_leaf_decides(void **state)
{
	static const char pool[] = "idle function *Pool::worker*\n";
	static const char pool_without_jobs[] = "keep function Job::run*\nidle function *Pool::worker*\n";
	static const char both[] = "idle function work\nnetwork function wait\n";
	static const struct {
		const char *rules, *functions, *path;
		enum profile_wait_class before, after;
	} cases[] = {
		{ pool, "main;Pool::worker(int);cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ pool, "main;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
		{ pool, "Pool::worker;Job::run;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ pool_without_jobs, "Pool::worker;Job::run;read", "/srv/app", PROFILE_WAIT_IO, PROFILE_WAIT_IO },
		{ pool_without_jobs, "Pool::worker;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		/* The order of rules decides for one function only. */
		{ both, "work;wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_NETWORK },
		{ both, "wait;work", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ "timer function w*\nidle function wait\n", "main;wait", "/srv/app", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_TIMER },
		/* Inlined functions are nearer to the leaf than what they are inlined into. */
		{ both, "main;work+wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_NETWORK },
		{ "lock module libpq*\n", "main;poll", "/usr/lib/libpq.so.5.15", PROFILE_WAIT_IDLE, PROFILE_WAIT_LOCK },
		{ "io path /src/po*\n", "main;poll", "/srv/app", PROFILE_WAIT_IDLE, PROFILE_WAIT_IO },
		{ "io path /srv/*\n", "main;poll", "/srv/app", PROFILE_WAIT_IDLE, PROFILE_WAIT_IO },
		{ "idle function *\n", "main", "/srv/app", PROFILE_WAIT_RUN_QUEUE, PROFILE_WAIT_RUN_QUEUE },
		/* The frame of the class is no function. */
		{ "idle function [[]waiting*\n", "main", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
		{ "", "main;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (class_under(cases[i].rules, cases[i].functions, cases[i].path, cases[i].before) != cases[i].after)
			fail_msg("case %zu: '%s' is not %s", i, cases[i].functions,
				profile_wait_class_name(cases[i].after));
}

static void threads_of_go_without_a_goroutine_are_idle(void **state)
{
	static const char *const idle[] = { "runtime.mcall;runtime.schedule;runtime.stopm;runtime.mPark;runtime.futex",
		"runtime.mstart;runtime.sysmon;runtime.usleep",
		"runtime.mstart1;runtime.templateThread;runtime.notesleep;runtime.futex",
		/* stopm() is inlined as the compiler likes. */
		"runtime.schedule;runtime.findRunnable+runtime.stopm;runtime.notesleep",
		"os/signal.loop;os/signal.signal_recv;runtime.futex" };
	static const char *const busy[] = { "main.main;sync.(*Mutex).Lock;runtime.futex", "main.stopm;runtime.futex" };

	(void)state;
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		assert_int_equal(class_under("", idle[i], "/srv/app", PROFILE_WAIT_LOCK), PROFILE_WAIT_IDLE);
	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++)
		assert_int_equal(class_under("", busy[i], "/srv/app", PROFILE_WAIT_LOCK), PROFILE_WAIT_LOCK);
	/* The user's rules come before ours. */
	assert_int_equal(class_under("keep function runtime.stopm\n", idle[0], "/srv/app", PROFILE_WAIT_LOCK),
		PROFILE_WAIT_LOCK);
}

/* Names tell what a thread waits for only where nothing else does, and only those of the system. */
static void functions_tell_what_is_not_known(void **state)
{
	static const char libc[] = "/lib64/libc.so.6";
	static const struct {
		const char *functions, *path;
		enum profile_wait_class before, after;
	} cases[] = {
		{ "main;epoll_wait", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_IDLE },
		{ "main;__libc_accept", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_IDLE },
		{ "main;__GI___poll", "/lib64/libc-2.31.so", PROFILE_WAIT_OTHER, PROFILE_WAIT_IDLE },
		{ "pthread_cond_timedwait;__futex_abstimed_wait_common64", libc, PROFILE_WAIT_OTHER,
			PROFILE_WAIT_LOCK },
		{ "___pthread_mutex_lock;__lll_lock_wait", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_LOCK },
		{ "usleep;__clock_nanosleep", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_TIMER },
		{ "main;__libc_recv", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_NETWORK },
		{ "ksys_read;vfs_read;anon_pipe_read;schedule;__schedule", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_IO },
		{ "do_futex;__futex_wait;futex_do_wait;schedule;__schedule", libc, PROFILE_WAIT_OTHER,
			PROFILE_WAIT_LOCK },
		{ "main;qsort", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_OTHER },
		{ "main;poll", "/srv/app", PROFILE_WAIT_OTHER, PROFILE_WAIT_OTHER },
		{ "main;epoll_wait", libc, PROFILE_WAIT_IO, PROFILE_WAIT_IO },
		{ "main;epoll_wait", libc, PROFILE_WAIT_RUN_QUEUE, PROFILE_WAIT_RUN_QUEUE },
	};

	(void)state;
	by_name = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (class_under("", cases[i].functions, cases[i].path, cases[i].before) != cases[i].after)
			fail_msg("case %zu: '%s' is not %s", i, cases[i].functions,
				profile_wait_class_name(cases[i].after));
	/* The user's rules come first, and without the wish names tell nothing. */
	assert_int_equal(class_under("lock function main\n", "main;poll", libc, PROFILE_WAIT_OTHER), PROFILE_WAIT_LOCK);
	by_name = false;
	assert_int_equal(class_under("", "main;poll", libc, PROFILE_WAIT_OTHER), PROFILE_WAIT_OTHER);
}

static void wrong_rules_name_their_line(void **state)
{
	static const char *const wrong[] = { "# of pools\nwaiting function a", "idle function a\nrun-queue function b",
		"idle function a\nidle file b", "idle function a\nidle path", "idle function a\n run-queue" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct symbolize_rules *rules;
		struct error err;

		assert_false(symbolize_rules_parse(
			SYMBOLIZE_RULES_OF_WAITS, wrong[i], strlen(wrong[i]), "rules", &rules, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_non_null(strstr(err.message, "rules line 2"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_function_nearest_to_the_leaf_decides),
		cmocka_unit_test(threads_of_go_without_a_goroutine_are_idle),
		cmocka_unit_test(functions_tell_what_is_not_known),
		cmocka_unit_test(wrong_rules_name_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
