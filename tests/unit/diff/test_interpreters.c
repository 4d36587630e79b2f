/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Frames of CPython, of a program in it, and of a C extension. */
#define START "Py_RunMain!python3.11;run_mod!python3.11"
#define MODULE_BODY "py::<module>:/srv/app/w.py"
#define RUN "py::S.run:/srv/app/w.py"
#define CHECK "py::check:/srv/app/rules.py"
#define TOP START ";" MODULE_BODY ";" RUN

static const char mixed[] =
	START " 1\n" TOP " 2\n" TOP ";list_append!python3.11 4\n" TOP
	      ";PyObject_Call!python3.11;slot_tp_call!python3.11 8\n" TOP ";PyObject_Call!python3.11;" CHECK " 16\n" TOP
	      ";PyObject_Call!python3.11;" CHECK ";long_add!python3.11 32\n" TOP
	      ";PyObject_Call!python3.11;scan!_json.so;PyLong_FromLong!python3.11 64\n" TOP
	      ";list_append!python3.11;realloc!libc.so 128\n" TOP ";list_append!python3.11;page_fault!kernel 256\n";

static int samples(double raw)
{
	return (int)(raw / SYNTHETIC_SAMPLE_NS + 0.5);
}

static struct diff *single_of(const char *lines)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_profile(lines);
	struct diff *diff = NULL;
	struct error err;

	if (!diff_create_single(profile, NULL, &diff, &err))
		fail_msg("%s", err.message);
	return diff;
}

static void check_self(const struct diff *diff, const char *name, int self, int total)
{
	const struct diff_function *f = synthetic_function(diff, name);

	if (samples(f->raw_self[DIFF_HEAD]) != self || samples(f->raw_total[DIFF_HEAD]) != total)
		fail_msg("%s: self %d and total %d instead of %d and %d", name, samples(f->raw_self[DIFF_HEAD]),
			samples(f->raw_total[DIFF_HEAD]), self, total);
}

static void a_function_has_the_time_of_its_interpreter(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = single_of(mixed);

	check_self(diff, RUN, 2 + 4 + 8, 510);
	check_self(diff, CHECK, 16 + 32, 48);
	check_self(diff, "list_append", 0, 4 + 128 + 256);
	check_self(diff, "long_add", 0, 32);
	check_self(diff, "slot_tp_call", 0, 8);
}

static void other_code_keeps_its_time(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = single_of(mixed);

	check_self(diff, "run_mod", 1, 511);
	check_self(diff, "PyLong_FromLong", 64, 64);
	check_self(diff, "scan", 0, 64);
	check_self(diff, "realloc", 128, 128);
	check_self(diff, "page_fault", 256, 256);
}

static void the_time_of_the_interpreter_has_the_origin_of_the_function(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = single_of(mixed);

	assert_int_equal(samples(diff->origins[PROFILE_ORIGIN_USER].raw[DIFF_HEAD]), 14 + 48);
	assert_int_equal(samples(diff->origins[PROFILE_ORIGIN_LIBRARY].raw[DIFF_HEAD]), 128);
	assert_int_equal(samples(diff->origins[PROFILE_ORIGIN_SYSTEM].raw[DIFF_HEAD]), 1 + 64 + 256);
}

static void who_claims_the_interpreter_as_their_own_sees_its_functions(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_profile(mixed);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	for (size_t i = 0; i < profile->function_count; i++)
		if (strcmp(profile_string(profile, profile->functions[i].module), "python3.11") == 0)
			profile->functions[i].origin = PROFILE_ORIGIN_USER;
	assert_true(diff_create_single(profile, NULL, &diff, &err));
	check_self(diff, RUN, 2, 510);
	check_self(diff, "list_append", 4, 4 + 128 + 256);
}

static void people_read_a_name_and_a_place(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = single_of(mixed);
	const struct diff_function *run = synthetic_function(diff, RUN), *scan = synthetic_function(diff, "scan");

	assert_string_equal(diff_string(diff, run->shown), "S.run");
	assert_string_equal(diff_string(diff, run->shown_in), "w.py");
	assert_string_equal(diff_string(diff, run->file), "/srv/app/w.py");
	assert_int_equal(run->language, PROFILE_LANGUAGE_PYTHON);
	assert_string_equal(diff_string(diff, scan->shown), "scan");
	assert_string_equal(diff_string(diff, scan->shown_in), "_json.so");
	assert_int_equal(scan->language, PROFILE_LANGUAGE_NATIVE);
}

/* The program spends most of its time in functions that do not change, though its runs differ in size. */
static struct profile *comparing_runs(int comparisons)
{
	enum { RUNS = 5, OTHERS = 12 };
	static const int sizes[RUNS] = { 80, 100, 120, 90, 110 };
	struct synthetic s = synthetic_create();

	for (int run = 0; run < RUNS; run++) {
		synthetic_run(&s, true, 0);
		for (int i = 0; i < OTHERS; i++) {
			char stack[200];

			snprintf(stack, sizeof(stack), TOP ";py::other_%d:/srv/app/o.py;long_add!python3.11", i);
			synthetic_add(&s, synthetic_stack(&s, stack), 4 * sizes[run] + (run + i) % 3, -1);
			snprintf(stack, sizeof(stack),
				TOP ";py::other_%d:/srv/app/o.py;PyObject_RichCompare!python3.11", i);
			synthetic_add(&s, synthetic_stack(&s, stack), sizes[run] / 2 + (run + i) % 2, -1);
		}
		synthetic_add(&s, synthetic_stack(&s, TOP ";" CHECK ";PyObject_RichCompare!python3.11"),
			comparisons + run % 3, -1);
		synthetic_add(&s, synthetic_stack(&s, TOP ";" CHECK), 100, -1);
	}
	return synthetic_finish(&s);
}

static void the_verdict_names_the_function_whose_interpreter_took_more(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(comparing_runs(300), comparing_runs(600), NULL);
	const char *verdict = diff_string(diff, diff->verdict_text);

	assert_int_equal(synthetic_function(diff, CHECK)->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "PyObject_RichCompare")->self.state, DIFF_STATE_SAME);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_int_equal(synthetic_function(diff, "PyObject_RichCompare")->total.state, DIFF_STATE_MORE);
	if (!strstr(verdict, "`check` in rules.py takes") || strstr(verdict, "other function"))
		fail_msg("%s", verdict);
}

static void names_and_files_are_cleaned_for_sentences(void **state)
{
	struct diff_gate gate;
	struct diff_options options = { .gates = &gate, .gate_count = 1 };
	struct error err;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	assert_true(diff_gate_parse("function:run>5%", &gate, &err));
	diff = synthetic_compare(synthetic_runs("main;py::run:/srv/\033[31mw.py 400\nmain;b 600\n", 5),
		synthetic_runs("main;py::run:/srv/\033[31mw.py 800\nmain;b 600\n", 5), &options);
	assert_true(diff->gate_failed);
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "`run` in "));
	assert_null(strchr(diff_string(diff, diff->verdict_text), '\033'));
}

static void a_limit_names_a_function_as_people_or_the_interpreter_do(void **state)
{
	static const char *const rules[] = { "function:check>5%", "function:" CHECK ">5%" };

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct diff_gate gate;
		struct diff_options options = { .gates = &gate, .gate_count = 1 };
		struct error err;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		assert_true(diff_gate_parse(rules[i], &gate, &err));
		diff = synthetic_compare(comparing_runs(300), comparing_runs(600), &options);
		assert_true(diff->gate_failed);
		assert_non_null(strstr(diff_string(diff, diff->verdict_text), "`check` in rules.py takes"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_the_time_of_its_interpreter),
		cmocka_unit_test(other_code_keeps_its_time),
		cmocka_unit_test(the_time_of_the_interpreter_has_the_origin_of_the_function),
		cmocka_unit_test(who_claims_the_interpreter_as_their_own_sees_its_functions),
		cmocka_unit_test(people_read_a_name_and_a_place),
		cmocka_unit_test(the_verdict_names_the_function_whose_interpreter_took_more),
		cmocka_unit_test(names_and_files_are_cleaned_for_sentences),
		cmocka_unit_test(a_limit_names_a_function_as_people_or_the_interpreter_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
