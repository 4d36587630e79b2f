/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "profile/foreign/foreign.h"
#include "tests/unit/profile/profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* READS | text of `perf script` | perf 6.1, with any fields | stacks of samples, with their periods */

/* What the default fields look like: two threads, the kernel, an inlined frame, and names that have spaces. */
static const char example[] =
	"# ========\n# captured on : today\n# ========\n#\n"
	"my app 27979/27980 [001] 79524.904175:    1003009 cpu-clock:u: \n"
	"\t    55d5d40a133a std::map<int, int>::at(int const&) const+0x1a (/srv/my app/work (deleted))\n"
	"\t    55d5d40a16ea serve+0x2 (inlined)\n"
	"\t    55d5d40a16ea main+0x2 (/srv/my app/work (deleted))\n\n"
	"my app 27979/27979 [000] 79524.905175:    1003009 cpu-clock:u: \n"
	"\tffffffff815d4e66 vma_interval_tree_insert+0x36 ([kernel.kallsyms])\n"
	"\tffffffff82000130 entry_SYSCALL_64_after_hwframe+0x76 ([kernel.kallsyms])\n"
	"\t          10d000 [unknown] (/usr/lib/libc.so.6)\n\n";

static struct profile *read_text(const char *text)
{
	return read_profile(text, strlen(text));
}

static void samples_have_their_stacks(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text(example);

	(void)state;
	expect_stacks(profile, 1,
		"my app;[unnamed];entry_SYSCALL_64_after_hwframe_[k];vma_interval_tree_insert_[k] 1003009\n"
		"my app;main;serve_[i];std::map<int, int>::at(int const&) const 1003009\n");
	assert_string_equal(profile_string(profile, profile->value_types[1].type), "cpu");
	assert_string_equal(profile_string(profile, profile->value_types[1].unit), "nanoseconds");
	assert_int_equal(profile->quality.samples, 2);
	assert_int_equal(profile->runs[0].duration_ns, 1000000);
	assert_int_equal(profile->threads[0].pid, 27979);
	assert_int_equal(profile->threads[0].tid, 27980);
	assert_string_equal(profile_string(profile, profile->mappings[0].path), "/srv/my app/work");
	assert_true(profile->mappings[0].deleted);
	/* What was inlined is in the binary of what it is in. */
	assert_string_equal(profile_string(profile, profile->functions[0].key), "serve`work");
	assert_string_equal(
		profile_string(profile, profile->functions[2].key), "std::map<int,int>::at(int const&) const`work");
}

/* Whatever fields were printed: the folded stacks, each with its count or the sum of its periods. */
static void fields_may_be_missing(void **state)
{
	static const struct {
		const char *text, *folded;
	} cases[] = {
		{ "work 7 1.000001: \n\t   133a f (/x)\n\t   1400 main (/x)\n\n", "work;main;f 1\n" },
		{ "work 7 1.000001000: 5 cycles:ppp: \n\t   133a f+0x2 (/x)\n", "work;f 5\n" },
		{ "work     7 \n\t   133a f\n\nwork 8 \n\t   133a f\n\n", "work;f 2\n" },
		{ "work 7/8     12 cycles: \n\t   133a f (/x)\n\n", "work;f 12\n" },
		{ "\n\t   133a f\n\t   1400 main\n\n\n\t   133a f\n\n", "f 1\nmain;f 1\n" },
		/* Without stacks a frame stands behind the event. */
		{ "            work     7 [000] 1.000001: 5 cycles:      133a f+0x1 (/x)\n"
		  "            work     7 [000] 1.000002: 5 cycles:      133b f+0x2 (/x)\n",
			"work;f 10\n" },
		/* What belongs to a tracepoint, and records that are no samples. */
		{ "work 7 [000] 1.000001: sched:sched_switch: prev_comm=a (x) ==> next_pid=8\n"
		  "\tffffffff815d4e66 __schedule ([kernel.kallsyms])\n\n"
		  "work 7 [000] 1.000002: PERF_RECORD_EXIT(7:7):(1:1)\n",
			"work;__schedule_[k] 1\n" },
		/* -F srcline */
		{ "work 7 1.000001: 5 cycles: \n\t   133a f (/x)\n  f.c:12\n\t   1400 main (/x)\n  f.c:20\n\n",
			"work;main;f 5\n" },
		/* Code that was made at run time. */
		{ "node 7 1.000001: 5 cycles: \n\t   133a JS:*run /srv/w.js:1:2 (/tmp/perf-7.map)\n\n",
			"node;JS:*run /srv/w.js:1:2 5\n" },
		/* Several events are several metrics; the first of them is shown. */
		{ "work 7 1.000001: 5 cycles: \n\t   133a f (/x)\n\nwork 7 1.000001: 2 faults: \n\t   133a g (/x)\n\n",
			"work;f 5\n" },
		/* Times as simpleperf and others write them: without zeros at the end, or in milliseconds. */
		{ "app 123 [000] 100.00001: 10000 cycles:u: \n\t 401000 a (/x)\n\n"
		  "app 123 [000] 100.000020: 10000 cycles:u: \n\t 401000 b (/x)\n\n"
		  "app 123 [000] 100.5: 10000 cycles:u: \n\t 401000 b (/x)\n\n",
			"app;a 10000\napp;b 20000\n" },
		{ "work 7/8 1.125: \n\t   133a f (/x)\n\n", "work;f 1\n" },
		{ "work 7 [003] 1.12345678: cycles: \n\t   133a f 1.5: g (/x)\n\n", "work;f 1.5: g 1\n" },
		/* A sample without a stack; an empty line before a stack; a stack that lost its indentation. */
		{ "work 7 1.000001: 5 cycles: \n\nwork 7 1.000002: 5 cycles: \n\n\t   133a f (/x)\n",
			"work 5\nwork;f 5\n" },
		{ "work 7 cycles:\nffffffff815d4e66 f ([kernel.kallsyms])\n    133a g (/x)\n\n", "work;g;f_[k] 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		assert_int_equal(foreign_kind(cases[i].text, strlen(cases[i].text)), FOREIGN_PERF_SCRIPT);
		profile = read_text(cases[i].text);
		expect_stacks(profile, profile->default_value_type, cases[i].folded);
	}
}

/* The recording lasts from the first time to the last one, however they are written. */
static void decimals_are_of_a_second(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = read_text("app 7 [000] 100.00002: 1 cycles: \n\t 401000 a (/x)\n\n"
					    "app 7 [000] 100.000025: 1 cycles: \n\t 401000 a (/x)\n\n"
					    "app 7 [000] 100.5: 1 cycles: \n\t 401000 a (/x)\n\n");

	(void)state;
	assert_int_equal(profile->runs[0].duration_ns, 499980000);
}

static void what_is_recognised(void **state)
{
	static const char *const others[] = { "main;a 3\n", "abcdef 12\nmain;a 3\n", "abcdef (x) 12\n",
		" 0\n 020902 4\n", " 2090 1010001100000000600\n", "main 1.5: 7\n", "a 7 1.5: 7\n",
		"letter of 3.1234567 pages\nand more", "a 1\n  2\n", "\n\n", "# only\n# comments\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_not_equal(foreign_kind(others[i], strlen(others[i])), FOREIGN_PERF_SCRIPT);
}

/* Whatever the text was cut to, it is read, or refused with a reason. */
static void texts_may_end_anywhere(void **state)
{
	(void)state;
	for (size_t size = 0; size < strlen(example); size++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		struct error err = { 0 };

		if (!foreign_read(example, size, "text", &profile, &err))
			assert_non_null(strstr(err.message, "cannot read text"));
	}
}

static void every_failed_allocation_is_an_error(void **state)
{
	read_with_failing_allocations(example);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_their_stacks),
		cmocka_unit_test(fields_may_be_missing),
		cmocka_unit_test(decimals_are_of_a_second),
		cmocka_unit_test(what_is_recognised),
		cmocka_unit_test(texts_may_end_anywhere),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
