/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/diff.h"

#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"
#include "waiting_fixture.h"

#include <math.h>
#include <string.h>

/* Which proven differences are one change, and which function names it. Runs of one side differ a little. */
enum { RUNS = SYNTHETIC_CHANGE_RUNS, WAITS = 50 };

#define REST "_start;main;serve;rest"

static void describe(const struct diff *diff, const struct diff_change *change, struct buffer *out)
{
	buffer_printf(out, "%s%s%s:", change->is_of_others ? "of others: " : "",
		diff_string(diff, diff->functions[change->function].name), change->is_self ? " itself" : "");
	if (change->caller != PROFILE_NONE)
		buffer_printf(out, " from %s:", diff_string(diff, diff->functions[change->caller].name));
	for (size_t i = 0; i < change->count; i++)
		buffer_printf(
			out, " %s", diff_string(diff, diff->functions[diff->change_functions[change->first + i]].name));
	buffer_append_byte(out, '\n');
}

static void assert_changes(const struct diff *diff, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer out;

	buffer_init(&out, 1 << 16);
	for (size_t i = 0; i < diff->change_count; i++)
		describe(diff, &diff->changes[i], &out);
	assert_false(out.failed);
	assert_string_equal(out.data ? out.data : "", expected);
}

struct chains {
	struct synthetic_change stacks[SYNTHETIC_MOST_CHANGES];
	const char *changes;
};

static const struct chains cases[] = {
	/* The chain of the C library and the kernel is the user's function that calls it, and those that call that. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;lookup;lock!libc;futex!libc;futex_wait!kernel", 1000, 9000 } },
		"lookup: _start main serve lookup lock futex futex_wait\n" },
	/* So it is if it becomes less. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;lookup;lock!libc;futex!libc;futex_wait!kernel", 9000, 1000 } },
		"lookup: _start main serve lookup lock futex futex_wait\n" },
	/* A caller with another change of its own is no part of the chain. What the verdict names comes first. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;handle;a;copy!kernel", 1000, 5000 },
		  { "_start;main;serve;handle;b", 1000, 4000 } },
		"a: a copy\nhandle: _start main serve handle\nb itself: b\n" },
	/* Two have a part each of what a function of the kernel has, and of the whole program. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;a;copy!kernel", 1000, 5000 },
		  { "_start;main;serve;b;copy!kernel", 1000, 4000 } },
		"a: a\nb: b\nof others: copy itself: copy\nof others: serve: _start main serve\n" },
	/* Two functions of the kernel that one of the user's calls. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;a;copy!kernel", 1000, 5000 },
		  { "_start;main;serve;a;move!kernel", 1000, 4000 } },
		"a: _start main serve a\ncopy itself: from a: copy\nmove itself: from a: move\n" },
	/* Recursion is one function, and functions that call each other make no ring. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;walk;visit;walk;visit;walk", 500, 4500 },
		  { "_start;main;serve;walk;visit;walk;visit", 500, 4500 } },
		"visit itself: _start main serve walk visit\n" },
	/* A caller of what grows in one place and is gone in another one has what is left. */
	{ { { REST, 9000, 9000 }, { "_start;main;serve;handle;slow;old", 4000, 100 },
		  { "_start;main;serve;handle;quick;new", 100, 8000 } },
		"new itself: quick new\nhandle: _start main serve handle\nold itself: slow old\n" },
};

static void a_chain_of_one_difference_is_one_change(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(diff_cleanup)
		struct diff *diff = synthetic_compare(synthetic_changes(cases[i].stacks, DIFF_BASE),
			synthetic_changes(cases[i].stacks, DIFF_HEAD), NULL);

		print_message("case %zu\n", i);
		assert_changes(diff, cases[i].changes);
	}
}

static struct profile *record_waits(double waited_ms)
{
	struct synthetic s = waiting_create();

	for (int run = 0; run < RUNS; run++) {
		uint32_t work, wait, releaser;

		synthetic_run(&s, true, 0);
		work = synthetic_stack(&s, REST);
		wait = waiting_stack(&s, "_start;main;serve;lookup;lock!libc;futex_wait!kernel", PROFILE_WAIT_LOCK);
		releaser = synthetic_stack(&s, "_start;main;clean;evict;unlock!libc");
		synthetic_add(&s, work, 1000 + run, -1);
		for (int i = 0; i < WAITS; i++)
			waiting_add(&s, wait, PROFILE_WAIT_LOCK, (waited_ms + run) / WAITS, -1);
		waiting_release(&s, wait, releaser, "cache_lock", waited_ms);
	}
	return synthetic_finish(&s);
}

static void a_change_names_the_lock_and_who_held_it(void **state)
{
	const struct diff_options options = { .metric = "wall" };
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(record_waits(100), record_waits(900), &options);
	const struct diff_wait_site *site;

	assert_true(diff->change_count > 0);
	assert_string_equal(diff_string(diff, diff->functions[diff->changes[0].function].name), "lookup");
	assert_int_equal(diff->changes[0].wait_count, 1);
	site = &diff->wait_sites[diff->changes[0].wait_sites[0]];
	assert_string_equal(diff_string(diff, site->lock), "cache_lock");
	for (int side = 0; side < DIFF_SIDES; side++)
		assert_string_equal(
			diff_string(diff, diff->functions[diff_released_by_on(diff, site, (enum diff_side)side)].name),
			"evict");
}

/* The verdict counts what lists show, and no function is in two changes. */
static void every_proven_function_is_in_one_change(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(diff_cleanup)
		struct diff *diff = synthetic_compare(synthetic_changes(cases[i].stacks, DIFF_BASE),
			synthetic_changes(cases[i].stacks, DIFF_HEAD), NULL);
		CLEANUP(cleanup_free) size_t *seen = calloc(diff->function_count, sizeof(*seen));

		assert_non_null(seen);
		for (size_t k = 0; k < diff->change_count; k++)
			for (size_t j = 0; j < diff->changes[k].count; j++)
				seen[diff->change_functions[diff->changes[k].first + j]]++;
		for (size_t k = 0; k < diff->function_count; k++)
			assert_int_equal(seen[k], diff_state_is_difference(diff->functions[k].self.state) ||
							  diff_state_is_difference(diff->functions[k].total.state));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_proven_function_is_in_one_change),
		cmocka_unit_test(a_change_names_the_lock_and_who_held_it),
		cmocka_unit_test(a_chain_of_one_difference_is_one_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
