/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a suite's differences is where the linker put the code, what is waiting, and what is neither. */
#include "suites_fixture.h"
#include "tests/unit/support/profile.h"
#include "tests/unit/support/unit_test.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

enum { BENCHMARKS = 50, PAIRS = 40, RUN_NS = 100000000, SAMPLE_NS = 1000000 };

/* One side of a comparison. */
struct build {
	double layout_rsd;          /* of a benchmark between layouts of the code */
	size_t layouts;             /* told; 0: one, which is not told */
	size_t executions, changed; /* benchmarks from `changed` on have other code than base's */
	double times;               /* those take so many times as long */
	double waits;               /* all benchmarks wait for this part of their time */
	const char *build_id;
};

static void set_code(struct profile *profile, const struct build *build)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		profile->mappings[i].build_id = profile_id(profile, build->build_id);
	for (size_t i = 0; i < profile->function_count; i++) {
		unsigned int number;

		if (sscanf(profile_string(profile, profile->functions[i].name), "work_%u", &number) == 1)
			profile->functions[i].fingerprint = 100 + number + (number >= build->changed ? 1000 : 0);
		else
			profile->functions[i].fingerprint = 1;
	}
}

static struct profile *record(gsl_rng *rng, const struct build *build)
{
	size_t layouts = build->layouts > 0 ? build->layouts : 1;
	struct profile *profile = suites_profile();
	double places[BENCHMARKS][16];
	struct error err;
	char name[64];

	for (size_t i = 0; i < BENCHMARKS; i++)
		for (size_t layout = 0; layout < layouts; layout++)
			places[i][layout] = gsl_ran_gaussian(rng, build->layout_rsd);
	for (size_t e = 0; e < build->executions; e++) {
		suites_add_execution(profile);
		for (size_t i = 0; i < BENCHMARKS; i++) {
			double ns = 1000 * exp(places[i][e % layouts] + gsl_ran_gaussian(rng, 0.005)) *
				    (i >= build->changed ? build->times : 1) / (1 - build->waits);
			uint32_t run;

			snprintf(name, sizeof(name), "bench_%zu", i);
			run = suites_add(profile, name, ns, 1000);
			profile->runs[run].duration_ns = RUN_NS;
			snprintf(name, sizeof(name), "main;work_%zu", i);
			suites_add_sample(profile, run, name, (int64_t)(RUN_NS / SAMPLE_NS * (1 - build->waits)),
				(int64_t)(RUN_NS * (1 - build->waits)));
		}
	}
	for (size_t i = 0; build->layouts > 0 && i < profile->run_count; i++)
		profile->runs[i].layout = (uint32_t)(i / (BENCHMARKS + 1) % layouts + 1);
	set_code(profile, build);
	must(profile_finish(profile, &err), &err);
	return profile;
}

struct outcome {
	size_t changed_suites, changed, placements, found;
};

static struct outcome try_pairs(const struct build *base, const struct build *head)
{
	struct outcome o = { 0 };

	for (unsigned long seed = 1; seed <= PAIRS; seed++) {
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
		struct profile *sides[DIFF_SIDES];
		struct diff_suite *suite;
		size_t before = o.changed;

		gsl_rng_set(rng, seed);
		sides[DIFF_BASE] = record(rng, base);
		sides[DIFF_HEAD] = record(rng, head);
		suite = suites_compare(sides[DIFF_BASE], sides[DIFF_HEAD],
			&(struct diff_suite_options){ .diff.runs_in_pairs = base->layouts == 0 });
		for (size_t i = 0; i < suite->benchmark_count; i++) {
			const struct diff_benchmark *b = &suite->benchmarks[i];
			bool is_changed = b->verdict == DIFF_REGRESSED || b->verdict == DIFF_IMPROVED;

			o.placements += b->verdict == DIFF_PLACEMENT;
			if (strcmp(diff_suite_string(suite, b->uri), "bench_49") == 0 && head->changed < BENCHMARKS)
				o.found += is_changed;
			else
				o.changed += is_changed;
		}
		o.changed_suites += o.changed > before;
		diff_suite_destroy(suite);
		profile_destroy(sides[DIFF_BASE]);
		profile_destroy(sides[DIFF_HEAD]);
		gsl_rng_free(rng);
	}
	print_message("%zu of %d pairs and %zu benchmarks changed, %zu placement, found %zu times\n", o.changed_suites,
		PAIRS, o.changed, o.placements, o.found);
	return o;
}

/* ---- Placement ---- */

static void the_same_code_elsewhere_is_no_change(void **state)
{
	const struct build base = { 0.05, 0, 6, BENCHMARKS, 1, 0, "aa" }, head = { 0.05, 0, 6, BENCHMARKS, 1, 0, "bb" };
	struct outcome o = try_pairs(&base, &head);

	assert_int_equal(o.changed, 0);
	assert_true(o.placements > PAIRS * BENCHMARKS / 2);
}

static void the_same_code_in_several_layouts_is_no_change(void **state)
{
	const struct build base = { 0.05, 8, 24, BENCHMARKS, 1, 0, "aa" },
			   head = { 0.05, 8, 24, BENCHMARKS, 1, 0, "bb" };
	struct outcome o = try_pairs(&base, &head);

	assert_int_equal(o.changed, 0);
	assert_int_equal(o.placements, 0);
}

/* One benchmark of fifty. Those of the same code are no tests of whether code changed, and make none stricter. */
static void changed_code_is_found_beside_placement(void **state)
{
	const struct build base = { 0.008, 0, 8, BENCHMARKS, 1, 0, "aa" },
			   head = { 0.008, 0, 8, BENCHMARKS - 1, 1.05, 0, "bb" };
	struct outcome o = try_pairs(&base, &head);

	assert_true(o.found * 10 >= PAIRS * 9);
	assert_int_equal(o.changed, 0);
}

static void changed_code_that_is_as_fast_is_no_change(void **state)
{
	const struct build base = { 0.02, 0, 8, BENCHMARKS, 1, 0, "aa" },
			   head = { 0.02, 0, 8, BENCHMARKS - 1, 1, 0, "bb" };
	struct outcome o = try_pairs(&base, &head);

	assert_true(o.found * 10 <= PAIRS);
	assert_int_equal(o.changed, 0);
}

static void several_layouts_find_what_changed(void **state)
{
	const struct build base = { 0.02, 8, 24, BENCHMARKS, 1, 0, "aa" },
			   head = { 0.02, 8, 24, BENCHMARKS - 1, 1.06, 0, "bb" };
	struct outcome o = try_pairs(&base, &head);

	assert_true(o.found * 10 >= PAIRS * 9);
	assert_int_equal(o.changed, 0);
}

/* Nothing was linked anew: other data, other settings. */
static void the_same_file_may_be_slower(void **state)
{
	const struct build base = { 0, 0, 6, BENCHMARKS, 1, 0, "aa" }, head = { 0, 0, 6, 0, 1.1, 0, "aa" };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct profile *sides[DIFF_SIDES] = { record(rng, &base), record(rng, &head) };
	struct diff_suite *suite;

	for (size_t i = 0; i < sides[DIFF_HEAD]->function_count; i++)
		if (sides[DIFF_HEAD]->functions[i].fingerprint >= 1100)
			sides[DIFF_HEAD]->functions[i].fingerprint -= 1000;
	suite = suites_compare(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	assert_int_equal(suite->verdicts[DIFF_REGRESSED], BENCHMARKS);
	assert_int_equal(suite->benchmarks[0].code, DIFF_CODE_SAME);
	diff_suite_destroy(suite);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
	gsl_rng_free(rng);
}

/* ---- Waiting ---- */

/* Another program had the CPU for half of base's time. */
static void what_only_waited_is_not_proven(void **state)
{
	const struct build base = { 0, 0, 6, BENCHMARKS, 1, 0.48, "aa" }, head = { 0, 0, 6, BENCHMARKS, 1, 0.32, "aa" };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct profile *sides[DIFF_SIDES] = { record(rng, &base), record(rng, &head) };
	struct diff_suite *suite = suites_compare(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	const struct diff_benchmark *b = &suite->benchmarks[0];

	assert_int_equal(suite->verdicts[DIFF_IMPROVED], 0);
	assert_int_equal(suite->verdicts[DIFF_INCONCLUSIVE], BENCHMARKS);
	assert_true(b->is_contradicted && fabs(b->cpu_change) < 0.02 && b->change < -0.2);
	assert_true(fabs(b->cpu_share[DIFF_BASE] - 0.52) < 0.01 && fabs(b->cpu_share[DIFF_HEAD] - 0.68) < 0.01);
	assert_true(fabs(b->cpu[DIFF_BASE] - 1000) < 20);
	diff_suite_destroy(suite);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
	gsl_rng_free(rng);
}

/* Both sides wait alike, and head does more: CPU time agrees. */
static void what_waits_and_does_more_is_slower(void **state)
{
	const struct build base = { 0, 0, 6, BENCHMARKS, 1, 0.4, "aa" }, head = { 0, 0, 6, 0, 1.2, 0.4, "bb" };
	struct outcome o = try_pairs(&base, &head);

	assert_int_equal(o.found, PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_code_elsewhere_is_no_change),
		cmocka_unit_test(the_same_code_in_several_layouts_is_no_change),
		cmocka_unit_test(changed_code_is_found_beside_placement),
		cmocka_unit_test(changed_code_that_is_as_fast_is_no_change),
		cmocka_unit_test(several_layouts_find_what_changed),
		cmocka_unit_test(the_same_file_may_be_slower),
		cmocka_unit_test(what_only_waited_is_not_proven),
		cmocka_unit_test(what_waits_and_does_more_is_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
