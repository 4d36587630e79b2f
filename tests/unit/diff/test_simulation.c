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
	double speed_rsd, run_rsd, process_rsd;
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

	s.speed_rsd = setup->speed_rsd;
	s.run_rsd = setup->run_rsd;
	s.process_rsd = setup->process_rsd;
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

/* So many false flags are likely (99 %) even when the true rate is 5 %: a small suite must not fail by chance. */
static void assert_within_5_percent(struct tally tally)
{
	double n = (double)tally.pairs;

	assert_true((double)tally.flagged <= 0.05 * n + 2.33 * sqrt(0.05 * 0.95 * n));
}

static void assert_found(struct tally tally, double percent)
{
	double n = (double)tally.pairs, p = percent / 100;

	assert_true((double)tally.found >= p * n - 2.33 * sqrt(p * (1 - p) * n));
}

static void runs_against_themselves_flag_little(void **state)
{
	static const size_t runs[] = { 3, 5, 12 };

	for (size_t i = 0; i < 3; i++) {
		for (size_t samples = 10000; samples <= 30000; samples += 20000) {
			struct setup setup = { .runs = runs[i],
				.samples = (double)samples,
				.share = 0.05,
				.change.times = 1,
				.speed_rsd = 0.2,
				.run_rsd = 0.05 };

			assert_within_5_percent(simulate(&setup, 100));
		}
	}
}

static void runs_on_a_quiet_machine_flag_little(void **state)
{
	struct setup setup = {
		.runs = 5, .samples = 30000, .share = 0.05, .change.times = 1, .speed_rsd = 0, .run_rsd = 0.02
	};

	assert_within_5_percent(simulate(&setup, 100));
}

static void processes_against_each_other_flag_little(void **state)
{
	struct setup setup = { .samples = 8000, .seconds = 8, .share = 0.05, .change.times = 1, .process_rsd = 0.15 };

	assert_within_5_percent(simulate(&setup, 60));
	setup.seconds = 30;
	setup.samples = 30000;
	assert_within_5_percent(simulate(&setup, 40));
}

static void an_increase_is_found_in_few_runs(void **state)
{
	struct setup setup = { .runs = 5, .samples = 30000, .share = 0.05, .change.times = 1.2 };

	assert_found(simulate(&setup, 100), 95);
	setup.samples = 300000;
	setup.share = 0.01;
	assert_found(simulate(&setup, 50), 95);
}

static void an_increase_is_found_on_a_noisy_machine(void **state)
{
	struct setup setup = {
		.runs = 12, .samples = 33000, .share = 0.05, .change.times = 1.25, .speed_rsd = 0.2, .run_rsd = 0.05
	};

	assert_found(simulate(&setup, 100), 95);
}

/* Ten runs of a second: among all functions, half of the changed ones are found. */
static void changed_code_is_found_in_short_runs(void **state)
{
	struct setup setup = { .runs = 10,
		.samples = 9000,
		.share = 0.05,
		.change = { .times = 1.25, .other_code = true },
		.speed_rsd = 0.05,
		.run_rsd = 0.03 };

	assert_found(simulate(&setup, 60), 90);
}

static void changed_code_is_found_in_one_recording(void **state)
{
	struct setup setup = { .samples = 30000,
		.seconds = 30,
		.share = 0.05,
		.change = { .times = 1.25, .other_code = true },
		.process_rsd = 0.04,
		.counts = true };

	assert_found(simulate(&setup, 80), 60);
}

/* Two and a half times the requests are no change, whether they are counted or not, and a function that doubled shows.
 */
static void load_is_no_change(void **state)
{
	struct setup setup = { .samples = 8000,
		.seconds = 8,
		.share = 0.1,
		.change = { .times = 1, .other_code = true },
		.process_rsd = 0.15 };
	static const double loads[] = { 0.4, 2.5 };

	for (size_t i = 0; i < 4; i++) {
		setup.head_load = loads[i % 2];
		setup.counts = i >= 2;
		setup.change.times = 1;
		assert_within_5_percent(simulate(&setup, 60));
		setup.change.times = 3;
		/* Less load, which nobody counted, hides what grew: three times of 0.4 is hardly more. */
		assert_found(simulate(&setup, 60), setup.counts ? 90 : setup.head_load > 1 ? 50 : 0);
	}
}

/* Other code that takes the same time: what the functions of unchanged code differ by decides, little or much. */
static void changed_code_alone_is_no_difference(void **state)
{
	struct setup setup = { .samples = 30000,
		.seconds = 30,
		.share = 0.05,
		.change = { .times = 1, .other_code = true },
		.process_rsd = 0.04 };
	size_t pairs;

	assert_within_5_percent(simulate(&setup, 60));
	setup.process_rsd = 0.1;
	pairs = simulation_pairs(60);
	assert_true((double)simulate(&setup, 60).found <= 0.2 * (double)pairs);
}

static void new_and_gone_functions_are_found(void **state)
{
	struct setup setup = { .samples = 30000, .seconds = 30, .share = 0.01, .change.times = 0, .process_rsd = 0.15 };

	assert_found(simulate(&setup, 30), 99);
	setup.runs = 3;
	setup.speed_rsd = 0.2;
	setup.run_rsd = 0.05;
	assert_found(simulate(&setup, 50), 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_against_themselves_flag_little),
		cmocka_unit_test(runs_on_a_quiet_machine_flag_little),
		cmocka_unit_test(processes_against_each_other_flag_little),
		cmocka_unit_test(an_increase_is_found_in_few_runs),
		cmocka_unit_test(an_increase_is_found_on_a_noisy_machine),
		cmocka_unit_test(changed_code_is_found_in_short_runs),
		cmocka_unit_test(changed_code_is_found_in_one_recording),
		cmocka_unit_test(changed_code_alone_is_no_difference),
		cmocka_unit_test(load_is_no_change),
		cmocka_unit_test(new_and_gone_functions_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
