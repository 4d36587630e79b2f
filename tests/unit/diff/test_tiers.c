/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Programs that are compiled at run time, whose processes are a mixture; and what one process on each side can still
 * prove. */

enum { MILLISECONDS = 12000, RUNS = 5 };

/* What a process took, in samples: a compiled function and what it calls of a library; and each of three others. */
struct process {
	const char *callee; /* with its module */
	int64_t called, own, rest;
};

static void add(struct synthetic *s, const char *frames, int64_t count, bool in_time)
{
	uint32_t stack = synthetic_stack(s, frames);

	if (!in_time) {
		synthetic_add(s, stack, count, -1);
		return;
	}
	for (int64_t i = 0; i < count; i++)
		synthetic_add(s, stack, 1, (double)i * MILLISECONDS / (double)count);
}

static void add_process(struct synthetic *s, const struct process *p, bool in_time)
{
	char frames[100];

	synthetic_run(s, false, MILLISECONDS);
	snprintf(frames, sizeof(frames), "start!node;JS:main!jit;JS:primes!jit;%s", p->callee);
	add(s, frames, p->called, in_time);
	add(s, "start!node;JS:main!jit;JS:primes!jit", p->own, in_time);
	add(s, "start!node;JS:main!jit;JS:sort!jit", p->rest, in_time);
	add(s, "start!node;JS:main!jit;JS:parse!jit", p->rest, in_time);
	add(s, "start!node;collect!node", p->rest, in_time);
}

static struct profile *finish(struct synthetic *s)
{
	struct profile *profile = synthetic_finish(s);

	for (size_t i = 0; i < profile->function_count; i++)
		if (strncmp(profile_string(profile, profile->functions[i].name), "JS:", 3) == 0)
			profile->functions[i].name_source = PROFILE_NAME_JIT;
	return profile;
}

static struct profile *record_one(const struct process *p)
{
	struct synthetic s = synthetic_create();

	add_process(&s, p, true);
	return finish(&s);
}

/* `with`: in how many of the runs the callee is there. */
static struct profile *record_runs(size_t with)
{
	struct synthetic s = synthetic_create();

	for (size_t run = 0; run < RUNS; run++)
		add_process(
			&s, &(struct process){ "iterate!node", run < with ? 300 : 0, 400, 400 + (int64_t)run }, false);
	return finish(&s);
}

static enum diff_state state_of(struct profile *base, struct profile *head, const char *name)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, NULL);
	enum diff_state state = synthetic_function(diff, name)->self.state;

	if (state == DIFF_STATE_UNPROVEN)
		assert_true(diff->verdict != DIFF_REGRESSED && diff->verdict != DIFF_IMPROVED &&
			    diff->verdict != DIFF_MIXED);
	profile_destroy(base);
	profile_destroy(head);
	return state;
}

/* An iterator of the runtime is not called where the loop around it was compiled by another tier, which has its time.
 */
static void what_goes_by_tier_is_not_proven_by_one_process(void **state)
{
	const struct process with = { "iterate!node", 1200, 2000, 2000 }, without = { "iterate!node", 0, 3200, 2000 };

	assert_int_equal(state_of(record_one(&with), record_one(&without), "iterate"), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of(record_one(&without), record_one(&with), "iterate"), DIFF_STATE_UNPROVEN);
}

/* What lies outside the runtime is called by the program's own choice. */
static void other_code_is_proven_by_one_process(void **state)
{
	const struct process with = { "compress!libz", 1200, 2000, 2000 }, without = { "compress!libz", 0, 2000, 2000 };

	assert_int_equal(state_of(record_one(&without), record_one(&with), "compress"), DIFF_STATE_NEW);
	assert_int_equal(state_of(record_one(&with), record_one(&without), "compress"), DIFF_STATE_GONE);
}

/* Two runs of five that have all of it do not stand for their side; five of five do. */
static void runs_of_two_modes_speak_for_themselves(void **state)
{
	assert_int_equal(state_of(record_runs(2), record_runs(0), "iterate"), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of(record_runs(0), record_runs(2), "iterate"), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of(record_runs(RUNS), record_runs(0), "iterate"), DIFF_STATE_GONE);
}

/* ---- Few runs: what the compiler may have moved, and what it cannot have made ---- */

enum { FEW_RUNS = 3 };

/* A function, what it is called by in the same file and what it calls, in samples for each run. */
struct chain {
	int64_t caller, function, callee, direct; /* `direct`: the callee's samples right below the caller */
};

static struct profile *record_few(const struct chain *c)
{
	struct synthetic s = synthetic_create();

	for (int64_t run = 0; run < FEW_RUNS; run++) {
		synthetic_run(&s, false, MILLISECONDS);
		add(&s, "start!node;JS:main!jit;JS:caller!jit", c->caller + run, false);
		add(&s, "start!node;JS:main!jit;JS:caller!jit;JS:function!jit", c->function + run * (c->function > 0),
			false);
		add(&s, "start!node;JS:main!jit;JS:caller!jit;JS:function!jit;compress!libz", c->callee, false);
		add(&s, "start!node;JS:main!jit;JS:caller!jit;compress!libz", c->direct, false);
		add(&s, "start!node;collect!node", 1500 + run, false);
		for (int i = 0; i < 20; i++) {
			char frames[60];

			snprintf(frames, sizeof(frames), "start!node;JS:main!jit;JS:other%c!jit", 'a' + i);
			add(&s, frames, 200 + (i * 7 + run * 3) % 5, false);
		}
	}
	return finish(&s);
}

static struct diff *diff_few(const struct chain *from, const struct chain *to)
{
	return synthetic_compare(record_few(from), record_few(to), NULL);
}

static void expect_few(const struct chain *from, const struct chain *to, enum diff_state self, enum diff_state total)
{
	CLEANUP(diff_cleanup) struct diff *diff = diff_few(from, to);
	const struct diff_function *f = synthetic_function(diff, "JS:function");

	assert_int_equal(f->self.state, self);
	assert_int_equal(f->total.state, total);
}

/* Nothing but where the time is counted differs: no test finds anything, whatever is known of functions that moved. */
static void expect_no_difference(const struct chain *from, const struct chain *to)
{
	CLEANUP(diff_cleanup) struct diff *diff = diff_few(from, to);

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (f->self.q < 0.05 || f->total.q < 0.05)
			fail_msg("%s differs: q %g, with all it calls %g", diff_string(diff, f->name), f->self.q,
				f->total.q);
	}
	assert_true(diff->verdict == DIFF_INCONCLUSIVE || diff->verdict == DIFF_UNCHANGED);
}

/* A function that takes a fifth of the time more than before, while nothing takes less, is new or gone. */
static void time_that_came_or_went_is_proven_by_few_runs(void **state)
{
	const struct chain without = { .caller = 500 }, with = { .caller = 500, .function = 1200 },
			   more = { .caller = 500, .function = 2400 };

	expect_few(&without, &with, DIFF_STATE_NEW, DIFF_STATE_NEW);
	expect_few(&with, &without, DIFF_STATE_GONE, DIFF_STATE_GONE);
	expect_few(&with, &more, DIFF_STATE_MORE, DIFF_STATE_MORE);
}

/* A caller that has less by as much may have had the function inlined. */
static void time_that_inlining_moves_is_not_proven_by_few_runs(void **state)
{
	const struct chain inlined = { .caller = 1700 }, apart = { .caller = 500, .function = 1200 };

	expect_no_difference(&inlined, &apart);
	expect_no_difference(&apart, &inlined);
}

/* What an inlined function calls is called by its caller: nearly all of the function's total is of that kind here. */
static void calls_that_inlining_moves_are_not_proven_by_few_runs(void **state)
{
	const struct chain inlined = { .caller = 550, .direct = 1200 },
			   apart = { .caller = 500, .function = 50, .callee = 1200 },
			   more = { .caller = 500, .function = 50, .callee = 2400 };

	expect_no_difference(&inlined, &apart);
	expect_no_difference(&apart, &inlined);
	expect_few(&apart, &more, DIFF_STATE_SAME, DIFF_STATE_MORE);
}

enum { EVENTS = 200 };

/* One process in which `wait` takes the same in all; of its waits, those before `until` take a hundred times as long as
 * the others. */
static struct profile *record_waits(int until)
{
	struct synthetic s = synthetic_create();
	struct error err;

	synthetic_run(&s, false, MILLISECONDS);
	for (int i = 0; i < EVENTS; i++) {
		double time_ms = (double)i * MILLISECONDS / EVENTS;

		synthetic_add(&s, synthetic_stack(&s, "main;work"), 1, time_ms);
		synthetic_add(&s, synthetic_stack(&s, "main;wait"), 1, time_ms);
		assert_true(profile_weigh_event(s.profile, i < until ? 100 : 1, &err));
	}
	return synthetic_finish(&s);
}

static double interval_of_waits(int until)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(record_waits(0), record_waits(until), &(struct diff_options){ 0 });
	const struct diff_function *wait = synthetic_function(diff, "wait");
	double width = wait->self.ci_high - wait->self.ci_low;

	return width;
}

/* Long waits in one part of the time make a figure less certain than the same time in waits of one length. */
static void events_count_by_their_weights(void **state)
{
	double even = interval_of_waits(0), bursty = interval_of_waits(EVENTS / 10);

	assert_true(even > 0);
	assert_true(bursty > 1.1 * even);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_by_tier_is_not_proven_by_one_process),
		cmocka_unit_test(other_code_is_proven_by_one_process),
		cmocka_unit_test(runs_of_two_modes_speak_for_themselves),
		cmocka_unit_test(time_that_came_or_went_is_proven_by_few_runs),
		cmocka_unit_test(time_that_inlining_moves_is_not_proven_by_few_runs),
		cmocka_unit_test(calls_that_inlining_moves_are_not_proven_by_few_runs),
		cmocka_unit_test(events_count_by_their_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
