/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seeded, so that a figure changes only when the rule does. KELVIN_SIMULATED_PAIRS=1000 gives the figures their second
 * digit. */

enum { FUNCTIONS = 60 };

struct setup {
	size_t runs; /* 0: one attached recording */
	double samples, seconds;
	double share; /* of function 0 */
	struct simulated_change change;
	bool is_quiet;    /* starts do not differ, else by what is drawn from the model's priors */
	double head_load; /* of an attached recording; 0: as base's */
	bool counts;      /* requests */
};

struct tally {
	size_t pairs, found;
	size_t flagged, whole, functions,
		nodes; /* pairs in which something was flagged; the whole, a function, a node */
};

static struct profile *record(struct simulation *s, const struct setup *setup, const struct simulated_change *change)
{
	return setup->runs ? simulation_runs(s, setup->runs, setup->samples, change)
			   : simulation_attached(s, setup->seconds, setup->samples, change);
}

static void compare_once(const struct setup *setup, unsigned long seed, struct tally *tally)
{
	struct simulation s = simulation_create(seed, FUNCTIONS, setup->share);
	struct profile *base, *head;
	struct flagged flagged;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	s.is_drawn = !setup->is_quiet;
	s.speed_rsd = s.run_rsd = s.process_rsd = 0;
	s.burst_rsd = 0.3;
	s.counts = setup->counts;
	base = record(&s, setup, NULL);
	s.load = setup->head_load;
	head = record(&s, setup, &setup->change);
	diff = synthetic_compare(base, head, NULL);
	flagged = simulation_flagged(diff);
	tally->pairs++;
	tally->flagged += flagged.functions > 0 || flagged.nodes > 0 || flagged.whole;
	tally->whole += flagged.whole;
	tally->functions += flagged.functions > 0;
	tally->nodes += flagged.nodes > 0;
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (strcmp(diff_string(diff, f->name), "function_0") == 0)
			tally->found += f->self.state != DIFF_STATE_SAME && f->self.state != DIFF_STATE_UNPROVEN;
	}
	simulation_deinit(&s);
}

static double percent_of(size_t part, size_t of)
{
	return 100.0 * (double)part / (double)of;
}

static struct tally simulate(const struct setup *setup, size_t few)
{
	size_t pairs = simulation_pairs(few);
	struct tally tally = { 0 };

	for (unsigned long seed = 1; seed <= pairs; seed++)
		compare_once(setup, seed * 7919, &tally);
	print_message("%zu runs, %.0f samples, function of %.0f %% times %.2f: flagged in %.1f %% ", setup->runs,
		setup->samples, setup->share * 100, setup->change.times, percent_of(tally.flagged, pairs));
	print_message("(whole %.1f, functions %.1f, nodes %.1f), found in %.1f %% of %zu pairs\n",
		percent_of(tally.whole, pairs), percent_of(tally.functions, pairs), percent_of(tally.nodes, pairs),
		percent_of(tally.found, pairs), pairs);
	return tally;
}

/* 5 % of unchanged pairs may have a function flagged, and 3 % the total; so many are likely (99 %) at that rate. */
static void assert_few_flagged(struct tally tally)
{
	double n = (double)tally.pairs;

	assert_true((double)tally.flagged <= 0.08 * n + 2.33 * sqrt(0.08 * 0.92 * n));
}

static void assert_found(struct tally tally, double percent)
{
	double n = (double)tally.pairs, p = percent / 100;

	assert_true((double)tally.found >= p * n - 2.33 * sqrt(p * (1 - p) * n));
}

static void runs_against_themselves_flag_little(void **state)
{
	static const size_t runs[] = { 2, 3, 5, 12 };
	struct tally all = { 0 };

	for (size_t i = 0; i < 8; i++) {
		struct setup setup = {
			.runs = runs[i / 2], .samples = i % 2 ? 30000 : 10000, .share = 0.05, .change.times = 1
		};
		struct tally tally = simulate(&setup, 40);

		all.pairs += tally.pairs;
		all.flagged += tally.flagged;
	}
	assert_few_flagged(all);
}

static void runs_on_a_quiet_machine_flag_little(void **state)
{
	struct setup setup = { .runs = 5, .samples = 30000, .share = 0.05, .change.times = 1, .is_quiet = true };

	assert_few_flagged(simulate(&setup, 100));
}

static void processes_against_each_other_flag_little(void **state)
{
	struct setup setup = { .samples = 8000, .seconds = 8, .share = 0.05, .change.times = 1 };

	assert_few_flagged(simulate(&setup, 60));
	setup.seconds = 30;
	setup.samples = 30000;
	assert_few_flagged(simulate(&setup, 40));
}

/* Runs that are alike prove little changes, and those of real programs most of larger ones. */
static void an_increase_is_found_in_few_runs(void **state)
{
	struct setup setup = { .runs = 5, .samples = 30000, .share = 0.05, .change.times = 1.3, .is_quiet = true };

	assert_found(simulate(&setup, 60), 95);
	setup.is_quiet = false;
	setup.change.times = 2;
	assert_found(simulate(&setup, 60), 70);
	setup.runs = 12;
	assert_found(simulate(&setup, 60), 70);
}

/* Ten runs of a second. */
static void changed_code_is_found_in_short_runs(void **state)
{
	struct setup setup = { .runs = 10,
		.samples = 9000,
		.share = 0.05,
		.change = { .times = 1.4, .other_code = true },
		.is_quiet = true };

	assert_found(simulate(&setup, 60), 90);
}

/* One start against another: only what is far beyond what starts decide. */
static void large_changes_are_found_in_one_recording(void **state)
{
	struct setup setup = { .samples = 30000,
		.seconds = 30,
		.share = 0.05,
		.change = { .times = 8, .other_code = true },
		.counts = true };

	assert_found(simulate(&setup, 60), 80);
	setup.change.times = 1.1;
	assert_few_flagged(simulate(&setup, 60));
}

/* Two and a half times the requests are no change, whether they are counted or not, and a function with eight times the
 * time shows. */
static void load_is_no_change(void **state)
{
	struct setup setup = {
		.samples = 8000, .seconds = 8, .share = 0.1, .change = { .times = 1, .other_code = true }
	};
	static const double loads[] = { 0.4, 2.5 };

	for (size_t i = 0; i < 4; i++) {
		setup.head_load = loads[i % 2];
		setup.counts = i >= 2;
		setup.change.times = 1;
		assert_few_flagged(simulate(&setup, 60));
		setup.change.times = 8;
		assert_found(simulate(&setup, 60), 50);
	}
}

/* Other code that takes the same time. */
static void changed_code_alone_is_no_difference(void **state)
{
	struct setup setup = {
		.samples = 30000, .seconds = 30, .share = 0.05, .change = { .times = 1, .other_code = true }
	};

	assert_few_flagged(simulate(&setup, 60));
}

static void new_and_gone_functions_are_found(void **state)
{
	struct setup setup = { .samples = 30000, .seconds = 30, .share = 0.05, .change.times = 0 };

	assert_found(simulate(&setup, 30), 99);
	setup.runs = 3;
	assert_found(simulate(&setup, 50), 90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_against_themselves_flag_little),
		cmocka_unit_test(runs_on_a_quiet_machine_flag_little),
		cmocka_unit_test(processes_against_each_other_flag_little),
		cmocka_unit_test(an_increase_is_found_in_few_runs),
		cmocka_unit_test(changed_code_is_found_in_short_runs),
		cmocka_unit_test(large_changes_are_found_in_one_recording),
		cmocka_unit_test(changed_code_alone_is_no_difference),
		cmocka_unit_test(load_is_no_change),
		cmocka_unit_test(new_and_gone_functions_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
