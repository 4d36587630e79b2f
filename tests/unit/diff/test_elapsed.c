/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/support/unit_test.h"
#include "waiting_fixture.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

/* A program that runs, and waits for a lock and for a timer, in five runs of it. */
struct program {
	double cpu_ms;
	double together; /* part of CPU time that passes on the clock: 0.5 where two threads always run */
	double lock_ms;  /* while others run, so that none of it is elapsed time */
	double timer_ms; /* while none runs */
	double alone;    /* part of that for which no other thread waits alike: 1 where they wait one after the other */
	unsigned long seed;
};

static void fill_elapsed(struct profile *profile, double together, double alone)
{
	uint32_t elapsed = profile_find_metric(profile, PROFILE_ELAPSED, "nanoseconds");
	struct profile_wait_values of = profile_wait_values(profile);

	for (size_t i = 0; i < profile->sample_count; i++) {
		int64_t *values = &profile->values[i * profile->value_type_count];
		enum profile_wait_class wait_class = profile_wait_class_of_stack(profile, profile->samples[i].stack);

		if (wait_class == PROFILE_WAIT_NONE)
			values[elapsed] = llround((double)values[of.wall] * together);
		else if (wait_class == PROFILE_WAIT_TIMER)
			values[elapsed] = llround((double)values[of.wall] * alone);
	}
}

static struct profile *run(const struct program *program)
{
	enum { RUNS = 5, WAITS = 40 };
	struct synthetic s = waiting_create();
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct profile *profile;
	struct error err;

	gsl_rng_set(rng, program->seed);
	assert_true(profile_add_value_type(s.profile, PROFILE_ELAPSED, "nanoseconds", &err));
	for (int i = 0; i < RUNS; i++) {
		uint32_t lock, timer;
		unsigned int samples = (unsigned int)(program->cpu_ms + gsl_ran_gaussian(rng, 5));

		synthetic_run(&s, true, 1000);
		for (unsigned int k = 0; k < samples; k++)
			synthetic_add(&s, synthetic_stack(&s, k % 4 ? "main#1;map#2" : "main#1;load#3"), 1, -1);
		lock = waiting_stack(&s, "main#1;merge#4;futex_wait!kernel", PROFILE_WAIT_LOCK);
		timer = waiting_stack(&s, "main#1;fetch#5;nanosleep!kernel", PROFILE_WAIT_TIMER);
		for (int k = 0; k < WAITS && program->lock_ms > 0; k++)
			waiting_add(&s, lock, PROFILE_WAIT_LOCK, program->lock_ms / WAITS, -1);
		for (int k = 0; k < WAITS && program->timer_ms > 0; k++)
			waiting_add(&s, timer, PROFILE_WAIT_TIMER, program->timer_ms / WAITS, -1);
	}
	gsl_rng_free(rng);
	profile = synthetic_finish(&s);
	fill_elapsed(profile, program->together, program->alone);
	return profile;
}

static struct diff *compare(const struct program *base, const struct program *head)
{
	struct profile *profiles[] = { run(base), run(head) };
	const struct diff_options options = { .metric = PROFILE_ELAPSED, .runs_in_pairs = true };
	struct diff *diff = synthetic_diff(profiles[0], profiles[1], &options);
	const struct diff_elapsed *elapsed = &diff->elapsed;

	assert_true(elapsed->is_known);
	assert_float_equal(elapsed->by_cpu + elapsed->by_waiting + elapsed->by_together, diff->total.delta,
		1e-6 * fabs(diff->total.base));
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
	return diff;
}

static const struct program usual = { .cpu_ms = 800, .together = 0.5, .timer_ms = 100, .alone = 1, .seed = 1 };

/* Head is slower than base: what is said of it. */
static const char *regress_from(const struct program *base, struct program head, struct diff **diff)
{
	head.seed = 2;
	*diff = compare(base, &head);
	assert_int_equal((*diff)->verdict, DIFF_REGRESSED);
	return diff_string(*diff, (*diff)->verdict_text);
}

static const char *regress(struct program head, struct diff **diff)
{
	return regress_from(&usual, head, diff);
}

static void less_in_parallel_is_told_with_what_threads_wait_for(void **state)
{
	struct program locked = usual;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const char *text;

	locked.together = 0.9;
	locked.lock_ms = 320;
	text = regress(locked, &diff);
	assert_non_null(strstr(text, " more elapsed time per run ("));
	assert_non_null(strstr(text, " per run: less of it in parallel; `merge` waits for a lock"));
	assert_true(diff->elapsed.by_together > 0.9 * diff->total.delta);
	assert_float_equal(diff->elapsed.waiting[DIFF_HEAD], 5 * 100e6, 1e6);
}

static void longer_waits_are_told(void **state)
{
	struct program slow = usual;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const char *text;

	slow.timer_ms = 400;
	text = regress(slow, &diff);
	assert_false(diff->elapsed.is_overlapped);
	assert_non_null(strstr(text, "`fetch` waits longer for a timer: +300 ms per run"));
	assert_null(strstr(text, "it waits"));
	assert_null(strstr(text, "parallel"));
}

/* Four threads wait for a timer at once; then a lock has them wait one after the other. */
static void waits_that_overlap_no_longer_are_told(void **state)
{
	struct program at_once = usual, in_turn = usual;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const char *text;

	at_once.timer_ms = in_turn.timer_ms = 400;
	at_once.alone = 0.25;
	in_turn.lock_ms = 900;
	text = regress_from(&at_once, in_turn, &diff);
	assert_true(diff->elapsed.is_overlapped && diff->elapsed.overlapped == PROFILE_WAIT_TIMER);
	assert_float_equal(diff->elapsed.overlapped_waiting[DIFF_HEAD], 5 * 400e6, 1e6);
	assert_null(strstr(text, "waits longer for a timer"));
	assert_non_null(strstr(text,
		": less of the waiting at the same time, all threads together wait for a timer 400 ms → 400 ms per run; `merge` waits for a lock"));
}

static void more_to_do_needs_no_other_reason(void **state)
{
	struct program busy = usual;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const char *text;

	busy.cpu_ms = 1200;
	text = regress(busy, &diff);
	assert_non_null(strstr(text, "; CPU time 80"));
	assert_null(strstr(text, "parallel"));
	assert_null(strstr(text, "waits"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(less_in_parallel_is_told_with_what_threads_wait_for),
		cmocka_unit_test(longer_waits_are_told),
		cmocka_unit_test(waits_that_overlap_no_longer_are_told),
		cmocka_unit_test(more_to_do_needs_no_other_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
