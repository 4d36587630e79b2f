/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/function_pattern.h"
#include "profile/selection.h"
#include "profile_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <string.h>

/*
 * A server: `main` calls `Parser::parse`, into which `skip` is inlined and which calls `memchr` of the C library; the
 * kernel interrupts `memchr`, and reads for `main`; `main` waits for a lock. Samples have 10 ns of CPU time each.
 */
enum { PROGRAM, LIBRARY, KERNEL, MAPPINGS };
enum { MAIN, PARSE, MEMCHR, INTERRUPT, TICK, READ, UNKNOWN, LOCK, STACKS };

struct maker {
	struct profile *p;
	uint32_t mappings[MAPPINGS];
};

static uint32_t function(struct maker *m, const char *name, int mapping, enum profile_origin origin)
{
	struct profile_function made = { .name = profile_id(m->p, name), .origin = origin };
	struct error err;
	uint32_t id;

	made.module = mapping < 0 ? 0 : m->p->mappings[m->mappings[mapping]].module;
	made.file = profile_id(m->p, mapping == PROGRAM ? "/src/http.c" : "");
	must(profile_add_function(m->p, &made, &id, &err), &err);
	return id;
}

static uint32_t grow(
	struct maker *m, uint32_t parent, int mapping, uint64_t address, const struct profile_line *lines, size_t count)
{
	struct error err;
	uint32_t location, stack;

	must(profile_add_location(m->p, m->mappings[mapping], address, &location, &err) &&
			profile_set_lines(m->p, location, lines, count, &err) &&
			profile_add_stack(m->p, parent, location, &stack, &err),
		&err);
	return stack;
}

static void add_mappings(struct maker *m)
{
	static const char *const paths[MAPPINGS] = { "/srv/server", "/lib/libc.so.6", "[kernel.kallsyms]" };
	struct error err;

	for (int i = 0; i < MAPPINGS; i++) {
		struct profile_mapping mapping = { .path = profile_id(m->p, paths[i]),
			.kind = i == KERNEL ? PROFILE_MAPPING_KERNEL : PROFILE_MAPPING_FILE,
			.start = (uint64_t)i << 20,
			.end = ((uint64_t)i << 20) + 4096 };

		must(profile_add_mapping(m->p, &mapping, &m->mappings[i], &err), &err);
	}
}

static void add_stacks(struct maker *m, uint32_t *stacks)
{
	const struct profile_line inlined[] = { { function(m, "skip", PROGRAM, PROFILE_ORIGIN_USER), 7, 0 },
		{ function(m, "Parser::parse", PROGRAM, PROFILE_ORIGIN_USER), 20, 0 } };
	struct profile_line line = { function(m, "main", PROGRAM, PROFILE_ORIGIN_USER), 3, 0 };
	struct error err;

	stacks[MAIN] = grow(m, 0, PROGRAM, 100, &line, 1);
	stacks[PARSE] = grow(m, stacks[MAIN], PROGRAM, 200, inlined, 2);
	line.function = function(m, "memchr", LIBRARY, PROFILE_ORIGIN_LIBRARY);
	stacks[MEMCHR] = grow(m, stacks[PARSE], LIBRARY, 300, &line, 1);
	line.function = function(m, "asm_sysvec_apic_timer_interrupt", KERNEL, PROFILE_ORIGIN_SYSTEM);
	stacks[INTERRUPT] = grow(m, stacks[MEMCHR], KERNEL, 400, &line, 1);
	line.function = function(m, "tick", KERNEL, PROFILE_ORIGIN_SYSTEM);
	stacks[TICK] = grow(m, stacks[INTERRUPT], KERNEL, 500, &line, 1);
	line.function = function(m, "ksys_read", KERNEL, PROFILE_ORIGIN_SYSTEM);
	stacks[READ] = grow(m, stacks[MAIN], KERNEL, 600, &line, 1);
	line.function = function(m, "mystery", LIBRARY, PROFILE_ORIGIN_UNKNOWN);
	stacks[UNKNOWN] = grow(m, stacks[MAIN], LIBRARY, 700, &line, 1);
	must(profile_add_wait_stack(m->p, stacks[READ], PROFILE_WAIT_LOCK, &stacks[LOCK], &err), &err);
}

static struct profile *recording(void)
{
	struct maker m;
	struct error err;
	uint32_t stacks[STACKS], threads[2], run, lock;

	must(profile_create(&m.p, &err) && profile_add_value_type(m.p, "cpu", "nanoseconds", &err) &&
			profile_add_wait_values(m.p, &err),
		&err);
	add_mappings(&m);
	add_stacks(&m, stacks);
	must(profile_add_run(m.p, &(struct profile_run){ .duration_ns = 1000, .cpu_ns = 5 }, &run, &err), &err);
	for (int i = 0; i < 2; i++)
		must(profile_add_thread(
			     m.p, &(struct profile_thread){ .run = run, .pid = 7, .tid = 7 + i }, &threads[i], &err),
			&err);
	for (int i = 0; i < 8 * 10; i++) {
		int64_t values[PROFILE_MAX_VALUE_TYPES] = { 1, 10, 0, 0, 10 };

		if (i % STACKS == LOCK)
			profile_wait_fill(m.p, PROFILE_WAIT_LOCK, 50, values);
		must(profile_add_sample(m.p, stacks[i % STACKS], threads[0], values, i, &err), &err);
		must(i % STACKS != LOCK || profile_weigh_event(m.p, 50, &err), &err);
	}
	must(profile_add_lock(m.p, &(struct profile_lock){ .name = profile_id(m.p, "cache") }, &lock, &err), &err);
	must(profile_add_release(m.p, &(struct profile_release){ stacks[LOCK], lock, stacks[MEMCHR], 500 }, &err),
		&err);
	m.p->quality.samples = 80;
	must(profile_finish(m.p, &err) && profile_validate(m.p, &err), &err);
	return m.p;
}

static struct profile *selected(const struct profile *p, struct profile_selection selection)
{
	struct profile *made;
	struct error err;

	must(profile_select(p, &selection, &made, &err), &err);
	return made;
}

/* CPU time of stacks that end in a function, which "" is of none. */
static int64_t self_of(const struct profile *p, const char *name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->sample_count; i++) {
		uint32_t stack = p->samples[i].stack;
		const struct profile_location *location = &p->locations[p->stacks[stack].location];
		const char *leaf =
			stack == 0 ? "" : profile_string(p, p->functions[p->lines[location->first_line].function].name);

		sum += strcmp(leaf, name) == 0 ? p->values[i * p->value_type_count + 1] : 0;
	}
	return sum;
}

static void focus_keeps_whole_stacks_with_the_function(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = NULL;

	p = selected(whole, (struct profile_selection){ .focus = "^Parser::" });
	/* Four of the eight kinds of stacks go through it. */
	assert_int_equal(profile_sum(p, 1), 400);
	assert_int_equal(profile_sum(p, 0), 40);
	assert_int_equal(self_of(p, "tick"), 100);
	assert_int_equal(self_of(p, "main"), 0);
	assert_int_equal(p->event_count, 40);
	assert_true(p->has_timeline);
	/* Runs and threads stay, also a thread without a sample; what waits were for goes with the waits. */
	assert_int_equal(p->run_count, 1);
	assert_int_equal(p->runs[0].cpu_ns, 5);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->release_count, 0);
	assert_int_equal(p->quality.samples, 80);
}

static void functions_are_meant_as_on_the_page(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording();
	static const struct {
		const char *focus;
		int64_t cpu_ns;
	} cases[] = {
		{ "parser", 400 },
		{ "memchr|ksys", 400 },
		{ "module:libc", 400 },
		{ "module:libc.so.6", 400 },
		{ "module:^libc\\.so\\.6$", 400 },
		{ "module:libc.so.2.36", 400 },
		{ "module:libc.so6", -1 },
		{ "module:.6", -1 },
		{ "libc.so.6", -1 },
		{ "module: KERNEL", -1 },
		{ "file:http\\.c$", 700 },
		{ "waiting: lock", 0 },
		{ "PARSER", -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *p = NULL;
		struct error err;

		if (cases[i].cpu_ns >= 0) {
			p = selected(whole, (struct profile_selection){ .focus = cases[i].focus });
			assert_int_equal(profile_sum(p, 1), cases[i].cpu_ns);
			continue;
		}
		assert_false(profile_select(whole, &(struct profile_selection){ .focus = cases[i].focus }, &p, &err));
		assert_int_equal(err.code, ERROR_NOT_FOUND);
	}
}

static void a_function_is_found_by_its_id(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = NULL;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1], text[40];

	profile_function_id("memchr`libc.so", id);
	/* It is the same in every version, for scripts that keep it. */
	assert_string_equal(id, "fb93e655357d");
	snprintf(text, sizeof(text), "id:%s", id);
	p = selected(whole, (struct profile_selection){ .focus = text });
	assert_int_equal(profile_sum(p, 1), 300);
}

static void a_file_is_also_that_of_a_name(void **state)
{
	struct profile_pattern pattern;
	struct error err;

	must(profile_pattern_init(&pattern, "--focus", "file:^/srv/w\\.py$", &err), &err);
	assert_true(profile_pattern_matches(&pattern, "py::S.run:/srv/w.py", "[jit]", "", ""));
	assert_true(profile_pattern_matches(&pattern, "run", "app", "/srv/w.py", ""));
	assert_false(profile_pattern_matches(&pattern, "py::S.run:/srv/w.py", "[jit]", "/srv/other.py", ""));
	assert_false(profile_pattern_matches(&pattern, "/srv/w.py", "app", "", ""));
	profile_pattern_deinit(&pattern);
}

/* `main` waits in a system call, and is preempted at the end of two. */
static struct profile *scheduled(void)
{
	static const char *const paths[][4] = { { "do_syscall_64", "do_wait", "schedule" },
		{ "do_syscall_64", "exit_to_user_mode_loop", "schedule" },
		{ "el0_svc_compat", "exit_to_user_mode_loop", "schedule" } };
	struct maker m;
	struct error err;
	uint32_t thread, run;

	must(profile_create(&m.p, &err) && profile_add_value_type(m.p, "cpu", "nanoseconds", &err), &err);
	add_mappings(&m);
	must(profile_add_run(m.p, &(struct profile_run){ .duration_ns = 1000 }, &run, &err) &&
			profile_add_thread(m.p, &(struct profile_thread){ .run = run }, &thread, &err),
		&err);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct profile_line line = { function(&m, "main", PROGRAM, PROFILE_ORIGIN_USER), 3, 0 };
		uint32_t stack = grow(&m, 0, PROGRAM, 100, &line, 1);
		int64_t values[PROFILE_MAX_VALUE_TYPES] = { 10 };

		for (size_t k = 0; paths[i][k]; k++) {
			line.function = function(&m, paths[i][k], KERNEL, PROFILE_ORIGIN_SYSTEM);
			stack = grow(&m, stack, KERNEL, 200 + 10 * i + k, &line, 1);
		}
		must(profile_add_sample(m.p, stack, thread, values, (int64_t)i, &err), &err);
	}
	must(profile_finish(m.p, &err) && profile_validate(m.p, &err), &err);
	return m.p;
}

/* Who calls the scheduler tells whether the program waits or is preempted: time does not change sides. */
static void callers_that_tell_interrupts_stay(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = scheduled(), *p = NULL;
	static const char *const callers[] = { "do_wait", "do_syscall_64", "exit_to_user_mode_loop" };
	size_t seen = 0;

	p = selected(whole, (struct profile_selection){ .hide = "wait|mode_loop" });
	assert_int_equal(p->sample_count, 3);
	for (size_t i = 0; i < p->sample_count; i++) {
		uint32_t caller = p->stacks[p->samples[i].stack].parent;
		const struct profile_location *location = &p->locations[p->stacks[caller].location];
		const struct profile_location *leaf = &p->locations[p->stacks[p->samples[i].stack].location];
		const struct profile_line *line =
			leaf->line_count > 1 ? &p->lines[leaf->first_line + 1] : &p->lines[location->first_line];

		for (size_t k = 0; k < 3; k++)
			if (strcmp(profile_string(p, p->functions[line->function].name), callers[k]) == 0)
				seen |= (size_t)1 << k;
		assert_string_equal(
			profile_string(p, p->functions[p->lines[leaf->first_line].function].name), "schedule");
	}
	assert_int_equal(seen, 7);
}

static void time_of_hidden_frames_is_that_of_callers(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = NULL;

	p = selected(whole, (struct profile_selection){ .hide = "memchr|skip" });
	assert_int_equal(profile_sum(p, 1), profile_sum(whole, 1));
	assert_int_equal(self_of(p, "memchr"), 0);
	assert_int_equal(self_of(p, "skip"), 0);
	/* Its own, as `skip` was inlined into it, and that of `memchr`, whose interrupts are now below it. */
	assert_int_equal(self_of(p, "Parser::parse"), 200);
	assert_int_equal(self_of(p, "tick"), 100);
	for (size_t i = 0; i < p->function_count; i++)
		assert_string_not_equal(profile_string(p, p->functions[i].name), "memchr");
	assert_int_equal(p->release_count, 1);
	assert_int_equal(p->releases[0].weight_ns, 500);
}

static void only_user_code_keeps_interrupts_waits_and_the_unknown(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = NULL;

	p = selected(whole, (struct profile_selection){ .only = PROFILE_ORIGIN_USER });
	assert_int_equal(profile_sum(p, 1), profile_sum(whole, 1));
	assert_int_equal(self_of(p, "main"), 200);
	assert_int_equal(self_of(p, "skip"), 200);
	assert_int_equal(self_of(p, "tick"), 100);
	assert_int_equal(self_of(p, "mystery"), 100);
	assert_int_equal(profile_sum(p, 2), 500);
	for (size_t i = 0; i < p->sample_count; i++)
		if (p->values[i * p->value_type_count + 2] > 0)
			assert_int_equal(profile_wait_class_of_stack(p, p->samples[i].stack), PROFILE_WAIT_LOCK);
	profile_destroy(p);
	/* What libraries are called from goes as well, and what nobody calls is of no function. */
	p = selected(whole, (struct profile_selection){ .only = PROFILE_ORIGIN_LIBRARY });
	assert_int_equal(self_of(p, "memchr"), 100);
	assert_int_equal(self_of(p, ""), 300);
}

static void focus_looks_at_frames_that_are_hidden(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = NULL;

	p = selected(
		whole, (struct profile_selection){ .focus = "memchr", .hide = "skip", .only = PROFILE_ORIGIN_USER });
	assert_int_equal(profile_sum(p, 1), 300);
	assert_int_equal(self_of(p, "Parser::parse"), 100);
}

static bool begins_as(void *context, const char *key)
{
	return strncmp(key, context, strlen(context)) == 0;
}

static void names_of_the_other_side_count(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = NULL;
	struct profile_other_side others = {
		.is_focused = begins_as, .is_hidden = begins_as, .context = (void *)(uintptr_t) "Parser::parse"
	};
	struct error err;

	p = selected(whole, (struct profile_selection){ .focus = "former name", .other_side = &others });
	assert_int_equal(profile_sum(p, 1), 400);
	others.context = (void *)(uintptr_t) "nothing";
	profile_destroy(p);
	p = NULL;
	must(profile_select(whole, &(struct profile_selection){ .focus = "former", .other_side = &others }, &p, &err),
		&err);
	assert_int_equal(p->sample_count, 0);
}

static void errors_tell_the_next_step(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording();
	struct profile *p = NULL;
	struct error err;
	static const struct {
		const char *text, *words;
		enum error_code code;
	} cases[] = {
		{ "parse(", "--focus 'parse(': this is no regular expression (", ERROR_USAGE },
		{ "", "nothing is asked for", ERROR_USAGE },
		{ "id:12", "an id has 12 hexadecimal digits", ERROR_USAGE },
		{ "id:00000000000z", "an id has 12 hexadecimal digits", ERROR_USAGE },
		{ "parse_header", "no function is called so; similar names: 'Parser::parse'", ERROR_NOT_FOUND },
		{ "qqq", "no function is called so", ERROR_NOT_FOUND },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(profile_select(whole, &(struct profile_selection){ .focus = cases[i].text }, &p, &err));
		if (err.code != cases[i].code || !strstr(err.message, cases[i].words))
			fail_msg("%s", err.message);
	}
	assert_false(profile_select(whole, &(struct profile_selection){ .hide = "[" }, &p, &err));
	assert_int_equal(err.code, ERROR_USAGE);
}

static void a_selection_is_a_profile_like_any_other(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = sample_profile(), *p = NULL, *again = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };

	assert_true(profile_selection_is_empty(&(struct profile_selection){ 0 }));
	p = selected(whole, (struct profile_selection){ .only = PROFILE_ORIGIN_USER });
	assert_int_equal(p->requests.exchange_count, whole->requests.exchange_count);
	file = written_profile(p);
	again = read_profile(file.data, file.size);
	assert_int_equal(profile_sum(again, 1), profile_sum(whole, 1));
}

static void no_allocation_that_fails_leaks_or_crashes(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording();
	const struct profile_selection selection = { .focus = "parse", .hide = "skip", .only = PROFILE_ORIGIN_USER };
	struct profile *p = NULL;
	struct error err;

	for (size_t i = 0; !p && i < 10000; i++) {
		failing_malloc_after(i);
		if (!profile_select(whole, &selection, &p, &err))
			assert_true(err.code == ERROR_MEMORY || err.code == ERROR_USAGE);
	}
	failing_malloc_after(SIZE_MAX);
	assert_non_null(p);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(focus_keeps_whole_stacks_with_the_function),
		cmocka_unit_test(functions_are_meant_as_on_the_page),
		cmocka_unit_test(a_function_is_found_by_its_id),
		cmocka_unit_test(a_file_is_also_that_of_a_name),
		cmocka_unit_test(callers_that_tell_interrupts_stay),
		cmocka_unit_test(time_of_hidden_frames_is_that_of_callers),
		cmocka_unit_test(only_user_code_keeps_interrupts_waits_and_the_unknown),
		cmocka_unit_test(focus_looks_at_frames_that_are_hidden),
		cmocka_unit_test(names_of_the_other_side_count),
		cmocka_unit_test(errors_tell_the_next_step),
		cmocka_unit_test(a_selection_is_a_profile_like_any_other),
		cmocka_unit_test(no_allocation_that_fails_leaks_or_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
