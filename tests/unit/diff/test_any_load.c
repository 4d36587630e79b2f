/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/any_load.h"
#include "diff/verdict/check.h"
#include "diff/verdict/machine.h"
#include "diff/verdict/verdict.h"

#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

/*
 * Verdicts for any load, and of the machine, on comparisons whose estimates are set here: what the statistics make of
 * profiles is not the question.
 */

/* A comparison as verdict_decide() gets it. Nothing in it is proven; each function has its nodes where it says. */
struct comparison {
	struct profile *profiles[DIFF_SIDES]; /* owned */
	struct diff_build build;              /* owned, but for the profiles */
};

static const char base_lines[] = "main;serve;a 1000\nmain;serve;b 1000\nmain;serve;rest 2000\n";

static void set_estimate(struct diff_estimate *e, double low, double high, enum diff_state state)
{
	e->ci_low = low * e->base;
	e->ci_high = high * e->base;
	e->state = state;
}

/* What the steps before the verdict have made: no function is merged, topmost or run by another one. */
static void fill_build(struct diff_build *build)
{
	const struct diff *diff = build->diff;

	build->redirect = calloc(diff->function_count, sizeof(*build->redirect));
	build->topmost = calloc(diff->node_count, sizeof(*build->topmost));
	build->owners = calloc(diff->node_count, sizeof(*build->owners));
	for (uint32_t i = 0; i < diff->function_count; i++)
		build->redirect[i] = i;
	for (uint32_t i = 0; i < diff->node_count; i++) {
		build->topmost[i] = true;
		build->owners[i] = i;
	}
}

static struct comparison compare(const char *head_lines, enum diff_scale_mode mode)
{
	struct comparison c = { .profiles = { synthetic_profile(base_lines), synthetic_profile(head_lines) } };
	struct diff_options options = { .scale = DIFF_SCALE_PER_RUN };

	for (int side = 0; side < DIFF_SIDES; side++) {
		c.profiles[side]->runs[0].duration_ns = 10000000000;
		c.build.profiles[side] = c.profiles[side];
		c.build.sample_weight[side] = SYNTHETIC_SAMPLE_NS;
	}
	c.build.diff = synthetic_diff(c.profiles[DIFF_BASE], c.profiles[DIFF_HEAD], &options);
	c.build.diff->scale.mode = mode;
	c.build.diff->scale.load_is_unknown = true;
	for (size_t i = 0; i < c.build.diff->function_count; i++) {
		struct diff_function *f = &c.build.diff->functions[i];

		set_estimate(&f->self, -2, INFINITY, DIFF_STATE_UNPROVEN);
		set_estimate(&f->total, -2, INFINITY, DIFF_STATE_UNPROVEN);
	}
	fill_build(&c.build);
	return c;
}

static void destroy(struct comparison *c)
{
	build_deinit(&c->build);
	profile_destroy(c->profiles[DIFF_BASE]);
	profile_destroy(c->profiles[DIFF_HEAD]);
}

static struct diff_function *function_of(struct comparison *c, const char *name)
{
	return &c->build.diff->functions[synthetic_function(c->build.diff, name) - c->build.diff->functions];
}

static void decide(struct comparison *c)
{
	struct error err;

	if (!verdict_decide(&c->build, &err))
		fail_msg("%s", err.message);
	print_message("%s: %s\n", diff_verdict_name(c->build.diff->verdict),
		diff_string(c->build.diff, c->build.diff->verdict_text));
	assert_null(verdict_check(c->build.diff));
}

static void a_change_beyond_every_load_decides(void **state)
{
	struct comparison c =
		compare("main;serve;a 101000\nmain;serve;b 1000\nmain;serve;rest 2000\n", DIFF_SCALE_RATE);
	struct diff_estimate *total = &c.build.diff->total;

	set_estimate(&function_of(&c, "a")->self, 60, 140, DIFF_STATE_MORE);
	set_estimate(&function_of(&c, "a")->total, 60, 140, DIFF_STATE_MORE);
	set_estimate(total, 20, 30, DIFF_STATE_MORE);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_REGRESSED);
	synthetic_assert_says(c.build.diff,
		"`a` takes 101 times as much: +10 s per second, all of the increase; the program takes 26.0 times as much CPU time per second (95 % interval 21.0 to 31.0 times), unless the load rose 26-fold");
	/* The lower end lies within the range: the load may explain it. */
	set_estimate(total, 1.99, 30, DIFF_STATE_UNPROVEN);
	set_estimate(&function_of(&c, "a")->self, 60, 140, DIFF_STATE_UNPROVEN);
	set_estimate(&function_of(&c, "a")->total, 60, 140, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	synthetic_assert_says(c.build.diff, "head takes 26.0 times as much CPU time per second (95 % interval ");
	synthetic_assert_says(c.build.diff,
		"; the load was not counted: record with the rights to count requests, or give --scale rate if it was the same, or --scale work=BASE:HEAD");
	destroy(&c);
}

static void a_drop_below_every_load_decides(void **state)
{
	struct comparison c = compare("main;serve;a 100\nmain;serve;b 100\nmain;serve;rest 200\n", DIFF_SCALE_RATE);

	set_estimate(&c.build.diff->total, -0.92, -0.85, DIFF_STATE_LESS);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_IMPROVED);
	synthetic_assert_says(c.build.diff,
		"the program takes 90.0 % less CPU time per second (95 % interval 85.0 to 92.0 %), unless the load fell 10-fold; no single function is proven to have changed");
	set_estimate(&c.build.diff->total, -0.92, -0.65, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	destroy(&c);
}

/* Functions are proven for every load in the range: they decide, whatever the total does. */
static void functions_decide_for_any_load(void **state)
{
	struct comparison c = compare("main;serve;a 4000\nmain;serve;b 1000\nmain;serve;rest 2000\n", DIFF_SCALE_RATE);

	set_estimate(&function_of(&c, "a")->self, 2, 4, DIFF_STATE_MORE);
	set_estimate(&function_of(&c, "a")->total, 2, 4, DIFF_STATE_MORE);
	set_estimate(&c.build.diff->total, 0.5, 1, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_REGRESSED);
	assert_ptr_equal(synthetic_function(c.build.diff, "a"), &c.build.diff->functions[c.build.diff->cause.function]);
	synthetic_assert_says(c.build.diff,
		"`a` takes 4.00 times as much CPU time per second (95 % interval 3.00 to 5.00 times), +300 ms per second, ");
	synthetic_assert_says(c.build.diff,
		"; no load explains this, though it may explain the total's change: 75.0 % more CPU time per second");
	destroy(&c);
	/* In both directions, neither of which outweighs the other. */
	c = compare("main;serve;a 4000\nmain;serve;b 1000\nmain;serve;rest 200\n", DIFF_SCALE_RATE);
	set_estimate(&function_of(&c, "a")->self, 2, 4, DIFF_STATE_MORE);
	set_estimate(&function_of(&c, "rest")->self, -0.95, -0.5, DIFF_STATE_LESS);
	set_estimate(&c.build.diff->total, -0.2, 0.9, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_MIXED);
	destroy(&c);
}

/* What is equal per second is equal only if the load was. */
static void nothing_is_unchanged_without_a_load(void **state)
{
	struct comparison c = compare(base_lines, DIFF_SCALE_PER_RUN);

	set_estimate(&c.build.diff->total, -0.01, 0.01, DIFF_STATE_SAME);
	for (size_t i = 0; i < c.build.diff->function_count; i++)
		c.build.diff->functions[i].self.state = c.build.diff->functions[i].total.state = DIFF_STATE_SAME;
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	synthetic_assert_says(c.build.diff, "equal within 1.0 %: head takes as much CPU time per run as base");
	synthetic_assert_says(c.build.diff, ", if the load was the same; the load was not counted: ");
	synthetic_assert_says(c.build.diff, "--scale per-run if it was the same, or --scale work=BASE:HEAD");
	c.build.diff->scale.load_is_unknown = false;
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_UNCHANGED);
	synthetic_assert_says(c.build.diff, "equal within 1.0 %: head takes as much CPU time per run as base");
	/* The limit of the user is the smallest effect that matters, if it is larger too. */
	struct diff_gate gate = { .subject = DIFF_GATE_TOTAL, .percent = 15 };

	set_estimate(&c.build.diff->total, -0.12, 0.1, DIFF_STATE_SAME);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	synthetic_assert_says(
		c.build.diff, "no change of CPU time is proven; a change of more than 12 % is excluded; ");
	c.build.options.gates = &gate;
	c.build.options.gate_count = 1;
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_UNCHANGED);
	synthetic_assert_says(c.build.diff, "equal within 12 %: ");
	destroy(&c);
}

/* ---- The machine ---- */

/* A comparison of wall-clock time whose threads waited `base` and `head` seconds for a CPU in 10 s. */
static struct comparison compare_queues_of(const char *head_lines, double base, double head, enum diff_state state)
{
	struct comparison c = compare(head_lines, DIFF_SCALE_RATE);
	struct diff *diff = c.build.diff;
	struct diff_estimate *queue = &diff->waits[PROFILE_WAIT_RUN_QUEUE].total;

	diff->scale.load_is_unknown = false;
	diff->waiting = DIFF_WAITING_PART;
	set_estimate(&diff->total, -0.02, 0.02, DIFF_STATE_SAME);
	*queue = (struct diff_estimate){
		.base = base * 1e9, .head = head * 1e9, .delta = (head - base) * 1e9, .state = state
	};
	return c;
}

static struct comparison compare_queues(double base, double head, enum diff_state state)
{
	return compare_queues_of(base_lines, base, head, state);
}

static void waiting_for_a_cpu_is_the_machines(void **state)
{
	static const struct {
		double base, head;
		enum diff_state state;
		enum diff_verdict verdict;
	} cases[] = {
		{ 1, 7, DIFF_STATE_MORE, DIFF_MACHINE },
		{ 7, 1, DIFF_STATE_LESS, DIFF_MACHINE },
		{ 1, 7, DIFF_STATE_UNPROVEN, DIFF_UNCHANGED },
		{ 0.1, 0.2, DIFF_STATE_UNPROVEN, DIFF_UNCHANGED },
		{ 7, 7.3, DIFF_STATE_UNPROVEN, DIFF_UNCHANGED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct comparison c = compare_queues(cases[i].base, cases[i].head, cases[i].state);

		decide(&c);
		assert_int_equal(c.build.diff->verdict, cases[i].verdict);
		assert_int_equal(c.build.diff->cause.function, PROFILE_NONE);
		destroy(&c);
	}
}

static void the_machine_says_how_long_and_what_else_is_known(void **state)
{
	struct comparison c = compare_queues(1, 7, DIFF_STATE_MORE);

	decide(&c);
	assert_string_equal(diff_string(c.build.diff, c.build.diff->verdict_text),
		"the program waits 600 ms more for a CPU per second; its own work is unchanged");
	/* What is not known to be unchanged is not called so. */
	set_estimate(&c.build.diff->total, -0.3, 0.4, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_MACHINE);
	synthetic_assert_says(c.build.diff, "; no change of its own work is proven: head takes ");
	/* A program that seems to do more makes its own threads wait. */
	c.build.diff->total.delta = 7e9;
	set_estimate(&c.build.diff->total, -0.3, 2.5, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	c.build.diff->total.delta = 0;
	set_estimate(&c.build.diff->total, 0.01, 0.4, DIFF_STATE_UNPROVEN);
	c.build.diff->total.delta = 0.1 * c.build.diff->total.base;
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	set_estimate(&c.build.diff->total, -0.3, 0.4, DIFF_STATE_UNPROVEN);
	/* Time in which it waits for a CPU is time in which it does not wait for requests. */
	c.build.diff->total.delta = -0.29 * c.build.diff->total.base;
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_MACHINE);
	destroy(&c);
	/* The program's own work comes first. */
	c = compare_queues_of("main;serve;a 1600\nmain;serve;b 1000\nmain;serve;rest 2000\n", 1, 7, DIFF_STATE_MORE);
	set_estimate(&function_of(&c, "a")->self, 0.2, 1, DIFF_STATE_MORE);
	set_estimate(&c.build.diff->total, -0.3, 0.4, DIFF_STATE_UNPROVEN);
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_REGRESSED);
	/* CPU time has no waits. */
	c.build.diff->waiting = DIFF_WAITING_NONE;
	function_of(&c, "a")->self.state = DIFF_STATE_UNPROVEN;
	decide(&c);
	assert_int_equal(c.build.diff->verdict, DIFF_INCONCLUSIVE);
	destroy(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_beyond_every_load_decides),
		cmocka_unit_test(a_drop_below_every_load_decides),
		cmocka_unit_test(functions_decide_for_any_load),
		cmocka_unit_test(nothing_is_unchanged_without_a_load),
		cmocka_unit_test(waiting_for_a_cpu_is_the_machines),
		cmocka_unit_test(the_machine_says_how_long_and_what_else_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
