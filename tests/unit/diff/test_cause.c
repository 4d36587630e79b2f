/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/check.h"

#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/*
 * Which function a verdict names. Runs of one side differ a little, and those of the other as much; `rest` is code that
 * does not change.
 */
enum { RUNS = SYNTHETIC_CHANGE_RUNS };

#define REST "_start;main;serve;rest"

static struct diff *compare(
	const struct synthetic_change stacks[SYNTHETIC_MOST_CHANGES], const struct diff_options *options)
{
	struct diff *diff =
		synthetic_compare(synthetic_changes(stacks, DIFF_BASE), synthetic_changes(stacks, DIFF_HEAD), options);

	print_message("%s: %s\n", diff_verdict_name(diff->verdict), diff_string(diff, diff->verdict_text));
	return diff;
}

static const char *name_of(const struct diff *diff, uint32_t function)
{
	return function == PROFILE_NONE ? "" : diff_string(diff, diff->functions[function].name);
}

/* Holds verdict, cause and leaf; "" is none. */
static void assert_cause(const struct diff *diff, enum diff_verdict verdict, const char *cause, const char *leaf)
{
	assert_int_equal(diff->verdict, verdict);
	assert_string_equal(name_of(diff, diff->cause.function), cause);
	assert_string_equal(name_of(diff, diff->cause.leaf), leaf);
	assert_null(verdict_check(diff));
}

/* A case of the table below: what is compared, and what the verdict names both ways round. */
struct naming {
	struct synthetic_change stacks[SYNTHETIC_MOST_CHANGES];
	const char *cause, *leaf;
	const char *says; /* of base against head */
};

static const struct naming namings[] = {
	/* The leaf is the C library's: its caller is named, and the callers of that. */
	{ { { REST, 9000, 9000 },
		  { "_start;main;serve;r;resolve;SpecifierSet.contains;__memcmp_evex_movbe!kernel", 1000, 9000 } },
		"SpecifierSet.contains", "__memcmp_evex_movbe",
		"`r` → `resolve` → `SpecifierSet.contains` takes 9.00 times as much: +8.2 s per run, all of the increase, most of it in `__memcmp_evex_movbe` below it; the program takes 80.0 % more CPU time per run (95 % interval " },
	/* The caller's own loop took the place of calls: it grew, although what it called is gone. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;find_user", 100, 6000 },
		  { "_start;main;serve;find_user;std::map::find;std::string::compare!kernel", 2000, 0 } },
		"find_user", "",
		"`find_user` takes 2.86 times as much: +4.0 s per run, all of the increase; the program" },
	/* Between the entry and the C library nothing has a name but main(). */
	{ { { "_start;main;prog+0x1000;rest", 9000, 9000 },
		  { "_start;main;prog+0x1000;prog+0x5d9ff0;LogicalTapeWrite;prog+0x77", 1000, 5000 } },
		"LogicalTapeWrite", "", "`LogicalTapeWrite` takes 5.00 times as much" },
	{ { { "_start;main;memcpy!kernel", 9000, 18000 } }, "main", "memcpy", "`main` takes 2.00 times as much" },
	{ { { "_start;prog+0x1000;memcpy!kernel", 9000, 18000 } }, "memcpy", "",
		"all of the increase; what calls it has no names, which debug symbols would give" },
	/* main() is always there: the library that it calls says more. */
	{ { { "_start;main;inflate!libz;copy!libz", 9000, 18000 }, { "_start;main;crc!libz", 5000, 5000 } }, "copy", "",
		"`inflate` → `copy` takes 2.00 times" },
	/* A function called from many places is one function. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;a;parse", 1000, 3000 },
		  { "_start;main;serve;b;parse", 1000, 3000 }, { "_start;main;serve;c;parse", 1000, 3000 },
		  { "_start;main;serve;d;parse", 1000, 3000 } },
		"parse", "", "`parse` takes 3.00 times as much: +8.2 s per run, all of the increase" },
	/* A file may have many functions without a name. */
	{ { { REST, 9000, 9000 }, { "_start;main;JS:* /srv/server.js:12:5;parse", 1000, 9000 } }, "parse", "",
		"`(anonymous)` in server.js:12 → `parse` takes 9.00 times as much" },
	/* Recursion counts once. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;walk;walk;walk;visit;walk;visit", 1000, 4000 },
		  { "_start;main;serve;walk", 500, 500 } },
		"visit", "", "`walk` → `visit` takes 4.00 times as much" },
	/* Python's functions are the user's code, and the interpreter's are not named beside them. */
	{ { { "main!python3.11;py::serve:/srv/app.py;py::rest:/srv/app.py", 9000, 9000 },
		  { "main!python3.11;py::serve:/srv/app.py;py::check:/srv/rules.py;PyObject_RichCompare!python3.11",
			  1000, 5000 } },
		"py::check:/srv/rules.py", "", "`check` in rules.py takes 5.00 times as much" },
	/* Two functions grew: the one that explains more than half is named. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;parse", 1000, 4000 },
		  { "_start;main;serve;print", 1000, 2000 } },
		"parse", "", "`parse` takes 4.00 times as much: +3.1 s per run, 75 % of the increase" },
};

static void turn(const struct naming *naming, struct synthetic_change turned[SYNTHETIC_MOST_CHANGES])
{
	for (size_t i = 0; i < SYNTHETIC_MOST_CHANGES; i++)
		turned[i] = (struct synthetic_change){ naming->stacks[i].frames, naming->stacks[i].head,
			naming->stacks[i].base };
}

static void the_deepest_function_of_the_program_is_named(void **state)
{
	for (size_t i = 0; i < sizeof(namings) / sizeof(namings[0]); i++) {
		CLEANUP(diff_cleanup) struct diff *diff = compare(namings[i].stacks, NULL);

		assert_cause(diff, DIFF_REGRESSED, namings[i].cause, namings[i].leaf);
		synthetic_assert_says(diff, namings[i].says);
		assert_null(strstr(diff_string(diff, diff->verdict_text), "less"));
		assert_null(strstr(diff_string(diff, diff->verdict_text), "_start"));
		assert_null(strstr(diff_string(diff, diff->verdict_text), "0x"));
	}
}

/* What is named has the verdict's direction, whichever side is which. */
static void an_improvement_is_named_as_a_regression_is(void **state)
{
	for (size_t i = 0; i < sizeof(namings) / sizeof(namings[0]); i++) {
		struct synthetic_change turned[SYNTHETIC_MOST_CHANGES];
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		turn(&namings[i], turned);
		diff = compare(turned, NULL);
		assert_cause(diff, DIFF_IMPROVED, namings[i].cause, namings[i].leaf);
		synthetic_assert_says(diff, " of the decrease");
		assert_null(strstr(diff_string(diff, diff->verdict_text), "more"));
	}
}

static void a_change_that_is_spread_names_the_largest(void **state)
{
	static const struct synthetic_change stacks[SYNTHETIC_MOST_CHANGES] = { { REST, 9000, 9000 },
		{ "_start;main;serve;a", 1000, 3000 }, { "_start;main;serve;b;memcpy!kernel", 1000, 2500 },
		{ "_start;main;serve;c", 1000, 2200 }, { "_start;main;serve;d", 1000, 2100 } };
	CLEANUP(diff_cleanup) struct diff *diff = compare(stacks, NULL);

	/* All of it is below serve(), but so is the program. */
	assert_cause(diff, DIFF_REGRESSED, "", "");
	synthetic_assert_says(diff,
		"`a` takes 3.00 times as much: +2.0 s per run, 34 % of the increase, `b` 26 % and `c` 21 %; the program takes 44.6 % more");
}

/* Where functions are proven and their sum is not, the verdict is theirs. */
static void functions_decide_where_the_total_does_not(void **state)
{
	static const int64_t noise[RUNS] = { 9000, 14000, 11000, 8000, 15000 };
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct synthetic s = synthetic_create();

		for (int run = 0; run < RUNS; run++) {
			synthetic_run(&s, true, 0);
			synthetic_add(
				&s, synthetic_stack(&s, "main;serve;rest"), noise[side ? RUNS - 1 - run : run], -1);
			synthetic_add(&s, synthetic_stack(&s, "main;serve;serialize;write!kernel"),
				(side ? 3900 : 1000) + 2 * run, -1);
		}
		profiles[side] = synthetic_finish(&s);
	}
	diff = synthetic_diff(profiles[0], profiles[1], NULL);
	assert_int_equal(diff->total.state, DIFF_STATE_UNPROVEN);
	assert_cause(diff, DIFF_REGRESSED, "serialize", "write");
	synthetic_assert_says(diff, "`serialize` takes 3.8");
	synthetic_assert_says(diff, " per run (95 % interval ");
	synthetic_assert_says(diff, ", +2.9 s per run, ");
	synthetic_assert_says(diff, ", most of it in `write` below it; the total is not proven to have changed: ");
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

static void nothing_is_named_without_a_verdict(void **state)
{
	static const struct synthetic_change same[SYNTHETIC_MOST_CHANGES] = { { REST, 9000, 9000 } };
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_changes(same, DIFF_BASE);
	struct diff *diff = compare(same, NULL), *single = NULL;
	struct error err;

	assert_cause(diff, DIFF_UNCHANGED, "", "");
	diff_destroy(diff);
	assert_true(diff_create_single(profile, NULL, &single, &err));
	assert_int_equal(single->cause.function, PROFILE_NONE);
	assert_int_equal(single->cause.leaf, PROFILE_NONE);
	diff_destroy(single);
}

/* A function that grew while its old callees vanished is one story, although as much is proven less as more. */
static void what_took_the_place_of_calls_is_one_story(void **state)
{
	static const int64_t noise[RUNS] = { 9000, 34000, 21000, 8000, 35000 };
	static const struct {
		int64_t own, callee; /* in head; in base they are 500 and 6000 */
		enum diff_verdict verdict;
		const char *cause;
	} cases[] = { { 12000, 0, DIFF_REGRESSED, "find_user" }, { 3500, 0, DIFF_IMPROVED, "find_user" },
		{ 6500, 0, DIFF_MINOR, "" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *profiles[DIFF_SIDES];
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		for (int side = 0; side < DIFF_SIDES; side++) {
			struct synthetic s = synthetic_create();

			for (int run = 0; run < RUNS; run++) {
				synthetic_run(&s, true, 0);
				synthetic_add(&s, synthetic_stack(&s, "main;serve;rest"),
					noise[side ? RUNS - 1 - run : run], -1);
				synthetic_add(&s, synthetic_stack(&s, "main;serve;find_user"),
					(side ? cases[i].own : 500) + 2 * run, -1);
				synthetic_add(&s,
					synthetic_stack(&s, "main;serve;find_user;std::string::compare!libstd"),
					side ? cases[i].callee : 6000 + 3 * run, -1);
			}
			profiles[side] = synthetic_finish(&s);
		}
		diff = synthetic_diff(profiles[0], profiles[1], NULL);
		print_message("%s: %s\n", diff_verdict_name(diff->verdict), diff_string(diff, diff->verdict_text));
		assert_false(diff_state_is_difference(diff->total.state));
		assert_cause(diff, cases[i].verdict, cases[i].cause,
			diff->verdict == DIFF_IMPROVED ? "std::string::compare" : "");
		profile_destroy(profiles[0]);
		profile_destroy(profiles[1]);
	}
}

/* Its calls vary so much that its total is not proven; what it does itself is, and so is what it calls below. */
static void own_code_stands_for_what_is_below_it(void **state)
{
	static const int64_t noise[RUNS] = { 100, 23900, 12000, 400, 23600 };
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct synthetic s = synthetic_create();

		for (int run = 0; run < RUNS; run++) {
			int64_t n = noise[side ? RUNS - 1 - run : run];

			synthetic_run(&s, true, 0);
			synthetic_add(&s, synthetic_stack(&s, "main;rest"), 9000, -1);
			synthetic_add(&s, synthetic_stack(&s, "main;serve;find"), (side ? 1500 : 500) + run, -1);
			synthetic_add(&s, synthetic_stack(&s, "main;serve;find;memcmp!kernel"),
				(side ? 6000 : 1000) + run, -1);
			synthetic_add(&s, synthetic_stack(&s, "main;serve;find;log"), n, -1);
			synthetic_add(&s, synthetic_stack(&s, "main;serve;other"), 24000 - n, -1);
		}
		profiles[side] = synthetic_finish(&s);
	}
	diff = synthetic_diff(profiles[0], profiles[1], NULL);
	print_message("%s\n", diff_string(diff, diff->verdict_text));
	assert_int_equal(synthetic_function(diff, "find")->total.state, DIFF_STATE_UNPROVEN);
	assert_cause(diff, DIFF_REGRESSED, "find", "memcmp");
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

/* A limit turns the verdict: what is named turns with it. */
static void a_limit_that_is_exceeded_names_what_grew(void **state)
{
	static const struct synthetic_change stacks[SYNTHETIC_MOST_CHANGES] = { { REST, 9000, 3000 },
		{ "_start;main;serve;parse", 1000, 3000 } };
	struct diff_gate gate;
	struct error err;
	struct diff *diff;

	assert_true(diff_gate_parse("function:parse>5%", &gate, &err));
	diff = compare(stacks, NULL);
	assert_cause(diff, DIFF_IMPROVED, "rest", "");
	diff_destroy(diff);
	diff = compare(stacks, &(struct diff_options){ .gates = &gate, .gate_count = 1 });
	assert_cause(diff, DIFF_REGRESSED, "parse", "");
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_deepest_function_of_the_program_is_named),
		cmocka_unit_test(an_improvement_is_named_as_a_regression_is),
		cmocka_unit_test(a_change_that_is_spread_names_the_largest),
		cmocka_unit_test(functions_decide_where_the_total_does_not),
		cmocka_unit_test(what_took_the_place_of_calls_is_one_story),
		cmocka_unit_test(own_code_stands_for_what_is_below_it),
		cmocka_unit_test(nothing_is_named_without_a_verdict),
		cmocka_unit_test(a_limit_that_is_exceeded_names_what_grew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
