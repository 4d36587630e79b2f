/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suites_fixture.h"
#include "tests/calibration/program.h"
#include "tests/unit/support/unit_test.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * How often comparisons of suites are wrong, by simulation. Seeds are fixed, so the figures are the same in every run;
 * decision 123 has them for 1,000 suites.
 */
enum { BENCHMARKS = 50, NONE = SIZE_MAX };

/* Suites to simulate: `few`, or what KELVIN_SIMULATED_PAIRS asks for. */
static size_t suites_to_try(size_t few)
{
	const char *asked = getenv("KELVIN_SIMULATED_PAIRS");

	return asked ? strtoul(asked, NULL, 10) : few;
}

static bool alarms(const struct diff_suite *suite)
{
	return suite->verdicts[DIFF_REGRESSED] + suite->verdicts[DIFF_IMPROVED] > 0;
}

/* Two sides whose benchmarks vary as drawn; of head, benchmark `changed` takes `times` as long. */
struct drawn {
	struct profile *base, *head;
	struct diff_suite *suite;
};

static struct drawn draw(struct suites *suites, size_t executions, bool in_pairs, size_t changed, double times)
{
	struct diff_suite_options options = { .diff.runs_in_pairs = in_pairs };
	double *rsds = calloc(suites->benchmarks + 1, sizeof(*rsds));
	struct drawn drawn;

	assert_non_null(rsds);
	suites_draw_rsds(suites, rsds);
	drawn.base = suites_record(suites, rsds, executions, NONE, 1);
	drawn.head = suites_record(suites, rsds, executions, changed, times);
	drawn.suite = suites_compare(drawn.base, drawn.head, &options);
	free(rsds);
	return drawn;
}

static void drawn_deinit(struct drawn *drawn)
{
	diff_suite_destroy(drawn->suite);
	profile_destroy(drawn->base);
	profile_destroy(drawn->head);
}

/* The share of suites of an unchanged program in which a benchmark is called slower or faster. */
static double alarm_rate(struct suites *suites, size_t executions, bool in_pairs, size_t tries)
{
	size_t alarmed = 0;

	for (size_t i = 0; i < tries; i++) {
		CLEANUP(drawn_deinit) struct drawn drawn = draw(suites, executions, in_pairs, NONE, 1);

		alarmed += alarms(drawn.suite);
	}
	return (double)alarmed / (double)tries;
}

/*
 * Whether a rate is 5 % or less, with room of three standard deviations for chance. Few suites, as are made under
 * sanitizers, tell nothing of a rate.
 */
static bool is_held(double rate, size_t tries)
{
	const double held = 0.05;
	const size_t few = 50;

	return tries < few || rate <= held + 3 * sqrt(held * (1 - held) / (double)tries);
}

static void unchanged_suites_alarm_seldom(void **state)
{
	static const size_t executions[] = { 1, 2, 3, 5, 8, 12 };

	for (int in_pairs = 0; in_pairs < 2; in_pairs++)
		for (size_t i = 0; i < sizeof(executions) / sizeof(executions[0]); i++) {
			struct suites suites = suites_create(100 + i, BENCHMARKS);
			size_t tries = suites_to_try(200);
			double rate = alarm_rate(&suites, executions[i], in_pairs, tries);

			print_message("%zu executions%s: %.1f %% of suites alarm\n", executions[i],
				in_pairs ? " in pairs" : "", rate * 100);
			assert_true(is_held(rate, tries));
			suites_deinit(&suites);
		}
}

static void noise_of_other_kinds_alarms_seldom(void **state)
{
	static const struct {
		const char *what;
		size_t benchmarks, executions;
		double least_rsd, most_rsd, speed_rsd, bursts;
	} cases[] = {
		{ "speed of executions varies by 3 %", 50, 3, 0.003, 0.02, 0.03, 0 },
		{ "speed of executions varies by 3 %", 50, 8, 0.003, 0.02, 0.03, 0 },
		{ "5 % of values are bursts", 50, 3, 0.003, 0.02, 0.005, 0.05 },
		{ "5 % of values are bursts", 50, 8, 0.003, 0.02, 0.005, 0.05 },
		{ "benchmarks vary by 0.1 to 10 %", 50, 3, 0.001, 0.1, 0.005, 0 },
		{ "benchmarks vary by 0.1 to 10 %", 50, 8, 0.001, 0.1, 0.005, 0 },
		{ "6 benchmarks", 6, 3, 0.003, 0.02, 0.005, 0 },
		{ "4 benchmarks", 4, 3, 0.003, 0.02, 0.005, 0 },
		{ "1 benchmark", 1, 3, 0.003, 0.02, 0.005, 0 },
		{ "1,000 benchmarks", 1000, 5, 0.003, 0.02, 0.005, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct suites suites = suites_create(200 + i, cases[i].benchmarks);
		size_t tries = suites_to_try(200) * BENCHMARKS /
			       (cases[i].benchmarks > BENCHMARKS ? cases[i].benchmarks : BENCHMARKS);
		double rate;

		suites.least_rsd = cases[i].least_rsd;
		suites.most_rsd = cases[i].most_rsd;
		suites.speed_rsd = cases[i].speed_rsd;
		suites.bursts = cases[i].bursts;
		rate = alarm_rate(&suites, cases[i].executions, true, tries);
		print_message("%s, %zu executions in pairs: %.1f %% of suites alarm\n", cases[i].what,
			cases[i].executions, rate * 100);
		assert_true(is_held(rate, tries));
		suites_deinit(&suites);
	}
}

/* Of a suite that is looked at, those that are decided run no more. */
static void leave_out_decided(const struct diff_suite *suite, bool left_out[BENCHMARKS])
{
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const char *name = diff_suite_string(suite, suite->benchmarks[i].name);

		left_out[atoi(name + strlen("test_"))] = suite->benchmarks[i].verdict != DIFF_INCONCLUSIVE;
	}
}

/* How many suites alarm at 3, 5, 8 and 12 executions, as a bench that stops when it is sure takes them. */
static double alarm_rate_of_looks(struct suites *suites, bool leaves_out, size_t tries)
{
	static const size_t looks[] = { 3, 5, 8, 12 };
	double rsds[BENCHMARKS];
	size_t alarmed = 0;

	for (size_t i = 0; i < tries; i++) {
		struct profile *sides[DIFF_SIDES] = { suites_profile(), suites_profile() };
		bool any = false, left_out[BENCHMARKS] = { false };
		size_t made = 0;

		suites->left_out = leaves_out ? left_out : NULL;
		suites_draw_rsds(suites, rsds);
		for (unsigned int look = 0; look < 4 && !any; look++) {
			struct diff_suite_options options = { .diff.runs_in_pairs = true, .is_watched = true };
			CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

			for (; made < looks[look]; made++)
				for (int side = 0; side < DIFF_SIDES; side++) {
					CLEANUP(profile_cleanup)
					struct profile *more = suites_record(suites, rsds, 1, NONE, 1);
					struct error err;

					assert_true(profile_merge(sides[side], more, &err));
				}
			suite = suites_compare(sides[0], sides[1], &options);
			any = alarms(suite);
			leave_out_decided(suite, left_out);
		}
		alarmed += any;
		profile_destroy(sides[0]);
		profile_destroy(sides[1]);
	}
	suites->left_out = NULL;
	return (double)alarmed / (double)tries;
}

static void looks_keep_the_rate_together(void **state)
{
	for (int leaves_out = 0; leaves_out < 2; leaves_out++) {
		struct suites suites = suites_create(300, BENCHMARKS);
		size_t tries = suites_to_try(200);
		double rate = alarm_rate_of_looks(&suites, leaves_out, tries);

		print_message("looks at 3, 5, 8 and 12 executions%s: %.1f %% of suites alarm\n",
			leaves_out ? " of what is not decided" : "", 100 * rate);
		assert_true(is_held(rate, tries));
		suites_deinit(&suites);
	}
}

/* A benchmark of 50 takes 5 % more time; all vary by 1 % between processes. */
static void a_change_of_five_percent_is_found(void **state)
{
	static const size_t executions[] = { 3, 5, 8 };

	for (size_t k = 0; k < 3; k++) {
		struct suites suites = suites_create(400 + k, BENCHMARKS);
		size_t found = 0, wrong = 0, tries = suites_to_try(200);

		suites.least_rsd = suites.most_rsd = 0.01;
		for (size_t i = 0; i < tries; i++) {
			CLEANUP(drawn_deinit) struct drawn drawn = draw(&suites, executions[k], true, 17, 1.05);
			const size_t *verdicts = drawn.suite->verdicts;
			bool is_found = suites_find(drawn.suite, "test_17")->verdict == DIFF_REGRESSED;

			found += is_found;
			wrong += verdicts[DIFF_REGRESSED] + verdicts[DIFF_IMPROVED] > is_found;
		}
		print_message("+5 %% with %zu executions: found in %.1f %%, beside a wrong one in %.1f %% of suites\n",
			executions[k], 100.0 * (double)found / (double)tries, 100.0 * (double)wrong / (double)tries);
		assert_true(executions[k] < 8 || tries < 50 || (double)found >= 0.95 * (double)tries);
		assert_true(is_held((double)wrong / (double)tries, tries));
		suites_deinit(&suites);
	}
}

/* 95 % intervals hold the truth in 95 % of benchmarks. */
static void intervals_hold_the_change(void **state)
{
	static const size_t executions[] = { 2, 3, 5, 8, 12 };

	for (size_t k = 0; k < 5; k++) {
		struct suites suites = suites_create(500 + k, BENCHMARKS);
		size_t held = 0, all = 0, tries = suites_to_try(100);

		for (size_t i = 0; i < tries; i++) {
			CLEANUP(drawn_deinit) struct drawn drawn = draw(&suites, executions[k], true, NONE, 1);
			const struct diff_suite *suite = drawn.suite;

			for (size_t b = 0; b < suite->benchmark_count; b++, all++)
				held += suite->benchmarks[b].change_low <= 0 && suite->benchmarks[b].change_high >= 0;
		}
		print_message("%zu executions: %.1f %% of intervals hold the change\n", executions[k],
			100.0 * (double)held / (double)all);
		assert_true(tries < 50 || ((double)held > 0.93 * (double)all && (double)held < 0.97 * (double)all));
		suites_deinit(&suites);
	}
}

/* ---- Recorded executions ---- */

enum { RECORDED = 12 };

/* Executions of a suite that was recorded, in another order, `executions` a side. */
static void split(
	const struct calibration_program *program, gsl_rng *rng, size_t executions, struct profile *sides[DIFF_SIDES])
{
	size_t order[RECORDED];
	char uri[32];

	for (size_t i = 0; i < RECORDED; i++)
		order[i] = i;
	gsl_ran_shuffle(rng, order, RECORDED, sizeof(*order));
	for (size_t i = 0; i < 2 * executions; i++) {
		struct profile *side = sides[i % 2];

		suites_add_execution(side);
		for (size_t b = 0; b < program->row_count; b++) {
			uint32_t run;

			snprintf(uri, sizeof(uri), "suite::b%zu", b);
			run = suites_add(side, uri, program->rows[b].samples[order[i]], 100);
			side->runs[run].measured.error_ns = 0;
		}
	}
}

/* Nothing changed between them. The suite of Go is held back: no constant was fitted to it. */
static void splits_of_recorded_suites_alarm_seldom(void **state)
{
	static const char *const paths[] = { CALIBRATION_DIRECTORY "/suite-cpp.tsv.gz",
		CALIBRATION_DIRECTORY "/suite-go.tsv.gz" };
	size_t alarmed = 0, held = 0, all = 0, tries = suites_to_try(200), suites = 0;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	for (size_t k = 0; k < 2; k++) {
		struct calibration_program program;

		assert_true(calibration_read(paths[k], &program));
		assert_int_equal(program.recording_count, RECORDED);
		for (size_t executions = 2; executions <= 6; executions++)
			for (size_t i = 0; i < tries / 5; i++, suites++) {
				struct profile *sides[DIFF_SIDES] = { suites_profile(), suites_profile() };
				CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

				split(&program, rng, executions, sides);
				suite = suites_compare(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
				alarmed += alarms(suite);
				for (size_t b = 0; b < suite->benchmark_count; b++, all++)
					held += suite->benchmarks[b].change_low <= 0 &&
						suite->benchmarks[b].change_high >= 0;
				profile_destroy(sides[DIFF_BASE]);
				profile_destroy(sides[DIFF_HEAD]);
			}
		calibration_deinit(&program);
	}
	print_message("%zu splits of two recorded suites: %.1f %% alarm, %.1f %% of intervals hold 0\n", suites,
		100.0 * (double)alarmed / (double)suites, 100.0 * (double)held / (double)all);
	assert_true(is_held((double)alarmed / (double)suites, suites));
	assert_true(suites < 50 || ((double)held > 0.93 * (double)all && (double)held < 0.98 * (double)all));
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_suites_alarm_seldom),
		cmocka_unit_test(noise_of_other_kinds_alarms_seldom),
		cmocka_unit_test(looks_keep_the_rate_together),
		cmocka_unit_test(a_change_of_five_percent_is_found),
		cmocka_unit_test(intervals_hold_the_change),
		cmocka_unit_test(splits_of_recorded_suites_alarm_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
