/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the linker puts code moves its time: what is told from a change, with one layout a side and with several. */
#include "diff/diff.h"
#include "simulation_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>

struct trial {
	double layout_rsd, first_share, times; /* of function 0 */
	size_t functions, layouts, runs;
	bool other_code; /* of function 0 */
};

struct outcome {
	size_t pairs, verdicts, placements, flagged, tested, found;
};

static struct diff *compare_one(const struct trial *trial, unsigned long seed)
{
	struct simulation s = simulation_create(seed, trial->functions, trial->first_share);
	struct simulated_change change = { .function = 0, .times = trial->times, .other_code = trial->other_code };
	struct profile *sides[DIFF_SIDES];
	struct diff *diff;

	s.layout_rsd = trial->layout_rsd;
	s.layouts = trial->layouts;
	s.run_rsd = 0.005;
	s.speed_rsd = 0.005;
	sides[DIFF_BASE] = simulation_runs(&s, trial->runs, 5000 * (double)trial->runs, NULL);
	sides[DIFF_HEAD] = simulation_runs(&s, trial->runs, 5000 * (double)trial->runs, &change);
	diff = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
	simulation_deinit(&s);
	return diff;
}

static bool is_first(const struct diff *diff, const struct diff_function *f)
{
	return strncmp(diff_string(diff, f->name), "function_0", strlen("function_0") + 1) == 0;
}

static struct outcome try_pairs(const struct trial *trial, size_t pairs)
{
	struct outcome o = { .pairs = pairs };

	for (unsigned long seed = 0; seed < pairs; seed++) {
		CLEANUP(diff_cleanup) struct diff *diff = compare_one(trial, seed + 1);

		o.verdicts += diff->verdict == DIFF_REGRESSED || diff->verdict == DIFF_IMPROVED ||
			      diff->verdict == DIFF_MIXED;
		o.placements += diff->verdict == DIFF_PLACEMENT;
		o.flagged += simulation_flagged(diff).functions;
		o.tested += diff->function_count;
		for (size_t i = 0; i < diff->function_count; i++)
			o.found +=
				is_first(diff, &diff->functions[i]) && diff->functions[i].self.state == DIFF_STATE_MORE;
	}
	print_message(
		"layouts ± %.0f %%, %zu a side, %zu runs, function of %.0f %% times %.2f: %zu of %zu pairs changed, %zu placement, %zu of %zu functions flagged, found %zu times\n",
		trial->layout_rsd * 100, trial->layouts, trial->runs, trial->first_share * 100, trial->times,
		o.verdicts, pairs, o.placements, o.flagged, o.tested, o.found);
	return o;
}

/* ---- The same code on both sides ---- */

static void equal_code_is_no_change(void **state)
{
	static const struct trial trials[] = {
		{ 0.06, 0.9, 1, 3, 0, 8, false },
		{ 0.06, 0.3, 1, 12, 0, 8, false },
		{ 0.07, 0.5, 1, 2, 0, 10, false },
		{ 0.02, 0.1, 1, 40, 0, 10, false },
	};

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		struct outcome o = try_pairs(&trials[i], simulation_pairs(40));

		assert_int_equal(o.verdicts, 0);
		assert_true(o.flagged * 100 <= o.tested);
	}
}

static void a_hot_loop_that_was_moved_is_placement(void **state)
{
	static const struct trial trial = { 0.1, 0.9, 1, 3, 0, 10, false };
	struct outcome o = try_pairs(&trial, simulation_pairs(40));

	assert_true(o.placements * 2 > o.pairs);
}

static void several_layouts_of_equal_code_are_no_change(void **state)
{
	static const struct trial trials[] = {
		{ 0.06, 0.9, 1, 3, 8, 24, false },
		{ 0.06, 0.3, 1, 12, 8, 24, false },
	};

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		struct outcome o = try_pairs(&trials[i], simulation_pairs(40));

		/* One of twenty is what a level of 5 % means; without layouts it is nearly all. */
		assert_true(o.verdicts * 100 <= o.pairs * 8);
		assert_true(o.flagged * 100 <= o.tested * 2);
	}
}

/* ---- True changes ---- */

static void changed_code_is_found_in_one_layout(void **state)
{
	static const struct trial trial = { 0.01, 0.3, 1.1, 30, 0, 10, true };
	struct outcome o = try_pairs(&trial, simulation_pairs(40));

	assert_true(o.found * 10 >= o.pairs * 9);
}

static void several_layouts_find_a_small_change(void **state)
{
	static const struct trial trial = { 0.01, 0.3, 1.06, 12, 8, 24, true };
	struct outcome o = try_pairs(&trial, simulation_pairs(40));

	assert_true(o.found * 10 >= o.pairs * 8);
}

/* Nobody linked anything: it is the work that differs. */
static void the_same_file_with_more_work_is_a_change(void **state)
{
	static const struct trial trial = { 0, 0.3, 1.2, 30, 0, 10, false };
	struct outcome o = try_pairs(&trial, simulation_pairs(20));

	assert_true(o.found * 10 >= o.pairs * 9);
	assert_int_equal(o.placements, 0);
}

/* Twice the time is beyond what placement does: the data or the calls differ. */
static void much_more_time_of_equal_code_is_a_change(void **state)
{
	static const struct trial trial = { 0.02, 0.3, 2, 30, 0, 10, false };
	struct outcome o = try_pairs(&trial, simulation_pairs(20));

	assert_true(o.found * 10 >= o.pairs * 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_code_is_no_change),
		cmocka_unit_test(a_hot_loop_that_was_moved_is_placement),
		cmocka_unit_test(several_layouts_of_equal_code_are_no_change),
		cmocka_unit_test(changed_code_is_found_in_one_layout),
		cmocka_unit_test(several_layouts_find_a_small_change),
		cmocka_unit_test(the_same_file_with_more_work_is_a_change),
		cmocka_unit_test(much_more_time_of_equal_code_is_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
