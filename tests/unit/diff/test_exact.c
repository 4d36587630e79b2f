/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Comparisons of counts that a simulator made: nothing was sampled. */

enum { FUNCTIONS = 100, MILLION = 1000000 };

/* ---- Profiles of a simulator ---- */

static struct synthetic exact_create(const char *metric, const char *unit)
{
	struct synthetic synthetic = { .thread = PROFILE_NONE };
	struct profile *profile;
	struct error err;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, metric, unit, &err) &&
			profile_intern(profile, "instructions", &profile->period_type.type, &err) &&
			profile_intern(profile, "count", &profile->period_type.unit, &err),
		&err);
	profile->period = 1;
	profile->counts_of[0] = profile->counts_of[1] = PROFILE_NONE;
	profile->default_value_type = 1;
	synthetic.profile = profile;
	return synthetic;
}

static void exact_add(struct synthetic *synthetic, const char *stack, int64_t value)
{
	struct error err;

	if (value > 0)
		must(profile_add_sample(synthetic->profile, synthetic_stack(synthetic, stack), synthetic->thread,
			     (int64_t[]){ 0, value }, -1, &err),
			&err);
}

/* One run of a program of a hundred functions, each with 1 % of the instructions; `changed` is what the first has. */
static void add_program(struct synthetic *synthetic, int64_t changed)
{
	synthetic_run(synthetic, true, 0);
	for (int i = 0; i < FUNCTIONS; i++) {
		char stack[40];

		snprintf(stack, sizeof(stack), "main;step%d;f%d", i % 10, i);
		exact_add(synthetic, stack, i == 0 ? changed : MILLION);
	}
}

/* `runs` runs, in which the first function has `changed`, and then each time `step` more. */
static struct profile *program(size_t runs, int64_t changed, int64_t step)
{
	struct synthetic synthetic = exact_create("instructions", "count");

	for (size_t i = 0; i < runs; i++)
		add_program(&synthetic, changed + (int64_t)i * step);
	return synthetic_finish(&synthetic);
}

/* A program of one line: "main;f 100" each. */
static struct profile *of_lines(const char *metric, const char *unit, const char *const *lines)
{
	struct synthetic synthetic = exact_create(metric, unit);

	synthetic_run(&synthetic, true, 0);
	for (; *lines; lines++) {
		const char *value = strrchr(*lines, ' ');
		char stack[200];

		snprintf(stack, sizeof(stack), "%.*s", (int)(value - *lines), *lines);
		exact_add(&synthetic, stack, strtoll(value, NULL, 10));
	}
	return synthetic_finish(&synthetic);
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct diff *compare(struct profile *base, struct profile *head)
{
	return synthetic_compare(base, head, NULL);
}

static size_t count_states(const struct diff *diff, bool self, enum diff_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->function_count; i++)
		count += (self ? diff->functions[i].self.state : diff->functions[i].total.state) == state;
	return count;
}

/* The verdict's sentence with the gate. */
static bool fails(struct profile *base, struct profile *head, const char *rule)
{
	struct diff_gate gate;
	struct diff_options options = { .gates = &gate, .gate_count = 1 };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;
	bool failed;

	must(diff_gate_parse(rule, &gate, &err), &err);
	diff = synthetic_compare(base, head, &options);
	failed = diff->gate_failed;
	assert_true(failed || diff->verdict != DIFF_INCONCLUSIVE);
	return failed;
}

/* ---- One run on each side ---- */

static void one_percent_of_one_percent_is_proven(void **state)
{
	struct diff *diff = compare(program(1, MILLION, 0), program(1, MILLION + MILLION / 100, 0));
	const struct diff_function *f = synthetic_function(diff, "f0");

	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_EXACT);
	assert_true(diff->is_exact);
	assert_int_equal(f->self.state, DIFF_STATE_MORE);
	assert_true(f->self.q < diff->evidence.q && f->self.ci_low > 0 && f->self.ci_high < 2 * MILLION / 100);
	assert_int_equal(count_states(diff, true, DIFF_STATE_SAME), diff->function_count - 1);
	/* Its callers have it in their totals, of which as much is less unlikely, and nobody else. */
	assert_int_equal(count_states(diff, false, DIFF_STATE_SAME), diff->function_count - 3);
	assert_int_equal(diff->verdict, DIFF_MINOR);
	synthetic_assert_says(diff,
		"`f0` itself executes 1.00 % more instructions (exact): 1.01 % of all instructions, after 1.00 % in base");
	synthetic_assert_says(diff, "head as a whole executes 0.0100 % more instructions (exact)");
	assert_int_equal(diff->warning_count, 0);
	assert_true(diff->scale.factor == 1);
	diff_destroy(diff);
	assert_true(fails(program(1, MILLION, 0), program(1, MILLION + MILLION / 100, 0), "function:f0>0.5%"));
	assert_true(fails(program(1, MILLION, 0), program(1, MILLION + MILLION / 100, 0), "total>0.005%"));
	assert_false(fails(program(1, MILLION, 0), program(1, MILLION + MILLION / 100, 0), "function>2%"));
	assert_false(fails(program(1, MILLION, 0), program(1, MILLION + MILLION / 100, 0), "total>1%"));
}

static void equal_runs_are_equal(void **state)
{
	static const size_t runs[][DIFF_SIDES] = { { 1, 1 }, { 1, 3 }, { 3, 7 }, { 10, 10 } };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		CLEANUP(diff_cleanup)
		struct diff *diff = compare(program(runs[i][0], 1234567, 0), program(runs[i][1], 1234567, 0));

		assert_int_equal(diff->verdict, DIFF_UNCHANGED);
		synthetic_assert_says(
			diff, "base and head are equal: head executes as many instructions as base (exact)");
		assert_int_equal(count_states(diff, true, DIFF_STATE_SAME), diff->function_count);
		assert_int_equal(count_states(diff, false, DIFF_STATE_SAME), diff->function_count);
		for (size_t node = 0; node < diff->node_count; node++)
			assert_int_equal(diff->nodes[node].state, DIFF_STATE_SAME);
		assert_int_equal(diff->warning_count, 0);
	}
	assert_false(fails(program(1, MILLION, 0), program(1, MILLION, 0), "total>0%"));
	assert_false(fails(program(1, MILLION, 0), program(1, MILLION, 0), "function>0%"));
}

static void what_is_below_the_least_effect_is_the_same(void **state)
{
	struct diff_options options = { .min_effect_points = 1e-7 };
	struct diff *diff = compare(program(1, MILLION, 0), program(1, MILLION + 1000, 0));

	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	assert_int_equal(synthetic_function(diff, "f0")->self.state, DIFF_STATE_SAME);
	synthetic_assert_says(
		diff, "differ by less than --min-effect (0.005 % of the total): head executes 0.00100 % more");
	diff_destroy(diff);
	diff = synthetic_compare(program(1, MILLION, 0), program(1, MILLION + 1, 0), &options);
	/* One instruction is told, and no proof of anything. */
	assert_int_equal(synthetic_function(diff, "f0")->self.state, DIFF_STATE_UNPROVEN);
	synthetic_assert_says(diff, "head executes less than 0.0001 % more instructions (exact)");
	diff_destroy(diff);
}

static void large_changes_decide(void **state)
{
	struct diff *diff = compare(program(1, MILLION, 0), program(1, 31 * MILLION, 0));

	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	synthetic_assert_says(diff,
		"`f0` itself has the largest change, 23.1 % of the total; the program executes 30.0 % more instructions (exact)");
	diff_destroy(diff);
	diff = compare(program(1, 31 * MILLION, 0), program(1, MILLION, 0));
	assert_int_equal(diff->verdict, DIFF_IMPROVED);
	synthetic_assert_says(diff, "fewer instructions (exact)");
	diff_destroy(diff);
}

static void new_and_gone_functions_are_proven(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(of_lines("instructions", "count",
					    LINES("main;a 1000000", "main;b 100000", "main;c 200000", "main;d 300000",
						    "main;e 400000", "main;f 500000", "main;old 50000")),
		of_lines("instructions", "count",
			LINES("main;a 1000000", "main;b 100000", "main;c 200000", "main;d 300000", "main;e 400000",
				"main;f 500000", "main;checked 70000", "main;zero 0")));

	assert_int_equal(synthetic_function(diff, "old")->self.state, DIFF_STATE_GONE);
	assert_int_equal(synthetic_function(diff, "checked")->self.state, DIFF_STATE_NEW);
	assert_int_equal(synthetic_function(diff, "a")->self.state, DIFF_STATE_SAME);
	synthetic_assert_says(diff, "`checked` is new: 2.72 % of all instructions; 1 other function changed too");
}

static void tiny_counts_are_counts(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(of_lines("l1-misses", "count", LINES("main;a 7", "main;b 2")),
		of_lines("l1-misses", "count", LINES("main;a 8", "main;b 2")));

	assert_int_equal(synthetic_function(diff, "a")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "b")->self.state, DIFF_STATE_SAME);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	synthetic_assert_says(diff, "; the program has 11.1 % more l1-misses (exact)");
}

static void counts_near_the_largest_number(void **state)
{
	const char *lines[] = { "main;a 4611686018427387000", "main;b 4611686018427387", NULL };
	struct diff *diff = compare(of_lines("cycles", "count", lines), of_lines("cycles", "count", lines));

	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	synthetic_assert_says(diff, "base and head are equal");
	diff_destroy(diff);
	diff = compare(of_lines("cycles", "count", lines),
		of_lines("cycles", "count", LINES("main;a 4611686018427387000", "main;b 561168601842738700")));
	assert_int_equal(synthetic_function(diff, "b")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "a")->self.state, DIFF_STATE_SAME);
	diff_destroy(diff);
}

static void fingerprints_tell_whether_code_changed(void **state)
{
	struct diff *diff = compare(of_lines("instructions", "count", LINES("main;a#1 1000000", "main;b#2 1000000")),
		of_lines("instructions", "count", LINES("main;a#3 1009000", "main;b#2 1000000")));

	synthetic_assert_says(diff, "`a` itself executes 0.900 % more instructions (exact); its code changed: ");
	diff_destroy(diff);
	diff = compare(of_lines("instructions", "count", LINES("main;a#1 1000000", "main;b#2 1000000")),
		of_lines("instructions", "count", LINES("main;a#1 1009000", "main;b#2 1000000")));
	synthetic_assert_says(diff, "its code is the same, and only how often it is called, or its data, differs: ");
	diff_destroy(diff);
}

/* ---- Several runs ---- */

static enum diff_state state_of_first(size_t runs, int64_t step, int64_t more)
{
	/* Runs of base and of head differ by `step` from run to run. */
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(program(runs, MILLION, step), program(runs, MILLION + more, step));
	enum diff_state found = synthetic_function(diff, "f0")->self.state;

	assert_int_equal(diff->evidence.runs[DIFF_BASE], runs);
	return found;
}

static void what_repeats_differ_by_is_noise(void **state)
{
	assert_int_equal(state_of_first(3, 5000, 6000), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of_first(3, 5000, 60000), DIFF_STATE_MORE);
	assert_int_equal(state_of_first(2, 5000, 6000), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of_first(2, 5000, 200000), DIFF_STATE_MORE);
	assert_int_equal(state_of_first(5, 5000, 6000), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of_first(5, 5000, 30000), DIFF_STATE_MORE);
	/* Repeats that are equal prove what is there. */
	assert_int_equal(state_of_first(2, 0, 10000), DIFF_STATE_MORE);
	assert_int_equal(state_of_first(3, 2000, 0), DIFF_STATE_SAME);
}

/* Three parts of one run, of 1, 2 and 3 times a million, to which the program has given names. */
static struct profile *of_parts(int64_t changed)
{
	struct profile *profile = program(3, changed, MILLION);
	struct error err;

	for (size_t i = 0; i < profile->run_count; i++)
		must(profile_intern(profile, i == 0 ? "parse" : "write", &profile->runs[i].name, &err), &err);
	return profile;
}

static void parts_with_names_are_no_repeats(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare(of_parts(MILLION), of_parts(MILLION + MILLION / 10));

	assert_int_equal(count_states(diff, true, DIFF_STATE_MORE), 1);
}

static void a_total_within_the_noise_is_unchanged_or_not_decided(void **state)
{
	struct diff *diff = compare(program(3, MILLION, 50000), program(3, MILLION + 20000, 50000));

	assert_int_equal(diff->total.state, DIFF_STATE_UNPROVEN);
	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	synthetic_assert_says(diff, "% is proven, because runs of one side differ; more runs");
	diff_destroy(diff);
	diff = compare(program(3, MILLION, 5 * MILLION), program(3, 2 * MILLION, 5 * MILLION));
	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
	diff_destroy(diff);
}

/* ---- What does not count ---- */

static void no_load_is_divided_out(void **state)
{
	struct diff_options robust = { .scale = DIFF_SCALE_ROBUST };
	struct diff *diff;
	struct profile *sides[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct synthetic synthetic = exact_create("instructions", "count");

		/* Not whole runs of a command: attached, of 20 functions that all do twice the work. */
		synthetic_run(&synthetic, false, 1000 * (side + 1));
		for (int i = 0; i < 20; i++) {
			char stack[20];

			snprintf(stack, sizeof(stack), "main;f%d", i);
			exact_add(&synthetic, stack, MILLION * (side + 1));
		}
		sides[side] = synthetic_finish(&synthetic);
	}
	diff = synthetic_diff(sides[0], sides[1], NULL);
	assert_true(diff->scale.factor == 1);
	assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_RUN);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	synthetic_assert_says(diff, "; the program executes 2.00 times as many instructions (exact)");
	diff_destroy(diff);
	diff = synthetic_compare(sides[0], sides[1], &robust);
	assert_true(fabs(diff->scale.factor - 0.5) < 1e-6);
	diff_destroy(diff);
}

static void the_machine_is_no_warning(void **state)
{
	struct profile *base = program(1, MILLION, 0), *head = program(1, 2 * MILLION, 0);
	struct diff_gate gate = { .subject = DIFF_GATE_TOTAL, .percent = 0.5 };
	struct diff_options options = { .gates = &gate, .gate_count = 1 };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	base->runs[0].wall_ns = base->runs[0].cpu_ns = base->runs[0].duration_ns = 1000000000;
	head->runs[0].wall_ns = head->runs[0].cpu_ns = head->runs[0].duration_ns = 9000000000;
	must(profile_intern(base, "Linux 6.1", &base->facts.kernel, &err) &&
			profile_intern(head, "Linux 6.12", &head->facts.kernel, &err) &&
			profile_intern(base, "performance", &base->facts.governor, &err) &&
			profile_intern(head, "powersave", &head->facts.governor, &err) &&
			profile_intern(base, "Xeon", &base->facts.cpu_model, &err) &&
			profile_intern(head, "EPYC", &head->facts.cpu_model, &err),
		&err);
	diff = synthetic_compare(base, head, &options);
	assert_int_equal(diff->warning_count, 1);
	assert_non_null(strstr(diff_string(diff, diff->warnings[0].text), "different CPU models"));
	assert_true(diff->gate_failed);
	synthetic_assert_says(diff, "total instructions grew by 1.00 %, above the limit of 0.5 %");
	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		assert_false(diff->runs.known[i]);
}

/* Time in the kernel is measured, not simulated, though nothing is sampled. */
static void times_are_not_exact(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(of_lines("system", "nanoseconds", LINES("main;a 1000000")),
		of_lines("system", "nanoseconds", LINES("main;a 1500000")));

	assert_false(diff->is_exact);
	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_NONE);
	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
}

/* ---- Recorded runs of Python ---- */

enum { MOST_RUNS = 10, MOST_ROWS = 400, PAIRS = 50 };

struct recorded {
	char names[MOST_ROWS][80];
	int64_t values[MOST_ROWS][MOST_RUNS];
	size_t count;
};

/* The rows of data/exact.csv of one metric. */
static void read_recorded(const char *metric, struct recorded *recorded)
{
	FILE *file = fopen("data/exact.csv", "re");
	char line[400];

	assert_non_null(file);
	recorded->count = 0;
	while (fgets(line, sizeof(line), file)) {
		char *at = line, *field = strsep(&at, ",");

		if (strcmp(field, metric) != 0)
			continue;
		assert_true(recorded->count < MOST_ROWS);
		snprintf(recorded->names[recorded->count], sizeof(recorded->names[0]), "%s", strsep(&at, ","));
		for (int run = 0; run < MOST_RUNS; run++)
			recorded->values[recorded->count][run] = strtoll(strsep(&at, ","), NULL, 10);
		recorded->count++;
	}
	fclose(file);
	assert_true(recorded->count > 1);
}

/* `factor`: thousandths of the first row's values. */
static struct profile *of_recorded(
	const struct recorded *recorded, const char *metric, const int *runs, size_t run_count, int64_t factor)
{
	struct synthetic synthetic = exact_create(metric, "count");

	for (size_t run = 0; run < run_count; run++) {
		synthetic_run(&synthetic, true, 0);
		for (size_t row = 0; row < recorded->count; row++) {
			int64_t value = recorded->values[row][runs[run]];
			char stack[120];

			snprintf(stack, sizeof(stack), "main!python3.11;%s!python3.11", recorded->names[row]);
			exact_add(&synthetic, stack, row == 0 ? value / 1000 * factor : value);
		}
	}
	return synthetic_finish(&synthetic);
}

/* Some of the ten runs in an order by chance. */
static void shuffle(uint64_t *random, int runs[MOST_RUNS])
{
	for (int i = 0; i < MOST_RUNS; i++)
		runs[i] = i;
	for (int i = MOST_RUNS - 1; i > 0; i--) {
		int other, kept = runs[i];

		*random = *random * 6364136223846793005u + 1442695040888963407u;
		other = (int)((*random >> 33) % (uint64_t)(i + 1));
		runs[i] = runs[other];
		runs[other] = kept;
	}
}

/* The pairs of `PAIRS` in which anything is flagged, with that many runs of the same program on each side. */
static size_t flagged_pairs(const char *metric, size_t run_count)
{
	static struct recorded recorded;
	uint64_t random = 1;
	size_t flagged = 0;
	int runs[MOST_RUNS];

	read_recorded(metric, &recorded);
	for (int pair = 0; pair < PAIRS; pair++) {
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		shuffle(&random, runs);
		diff = compare(of_recorded(&recorded, metric, runs, run_count, 1000),
			of_recorded(&recorded, metric, runs + run_count, run_count, 1000));
		flagged += count_states(diff, true, DIFF_STATE_SAME) + count_states(diff, true, DIFF_STATE_UNPROVEN) !=
				   diff->function_count ||
			   diff->verdict != DIFF_UNCHANGED;
	}
	return flagged;
}

static void runs_of_python_do_not_differ(void **state)
{
	static const char *const metrics[] = { "instructions", "cycles", "l1-misses", "branch-misses" };

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		static const size_t runs[] = { 1, 2, 3, 5 };

		for (size_t k = 0; k < sizeof(runs) / sizeof(runs[0]); k++) {
			size_t flagged = flagged_pairs(metrics[i], runs[k]);

			print_message("%s, %zu runs: %zu of %d pairs flagged\n", metrics[i], runs[k], flagged, PAIRS);
			assert_true(flagged * 100 <= PAIRS * 16);
		}
	}
}

/* What one run cannot prove three do. */
static void runs_of_python_show_small_changes(void **state)
{
	static struct recorded recorded;
	static const int base[] = { 0, 1, 2 }, head[] = { 3, 4, 5 };
	struct diff *diff;
	size_t row = 0;
	double share, total = 0;

	read_recorded("instructions", &recorded);
	for (size_t i = 0; i < recorded.count; i++)
		total += (double)recorded.values[i][0];
	share = (double)recorded.values[row][0] / total;
	diff = compare(of_recorded(&recorded, "instructions", base, 1, 1000),
		of_recorded(&recorded, "instructions", head, 1, (int64_t)(1000 + 0.7 / share)));
	assert_int_equal(synthetic_function(diff, recorded.names[row])->self.state, DIFF_STATE_UNPROVEN);
	synthetic_assert_says(diff, "because runs of one program may differ so; 3 or more runs on each side");
	diff_destroy(diff);
	diff = compare(of_recorded(&recorded, "instructions", base, 3, 1000),
		of_recorded(&recorded, "instructions", head, 3, (int64_t)(1000 + 0.7 / share)));
	assert_int_equal(synthetic_function(diff, recorded.names[row])->self.state, DIFF_STATE_MORE);
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_percent_of_one_percent_is_proven),
		cmocka_unit_test(equal_runs_are_equal),
		cmocka_unit_test(what_is_below_the_least_effect_is_the_same),
		cmocka_unit_test(large_changes_decide),
		cmocka_unit_test(new_and_gone_functions_are_proven),
		cmocka_unit_test(tiny_counts_are_counts),
		cmocka_unit_test(counts_near_the_largest_number),
		cmocka_unit_test(fingerprints_tell_whether_code_changed),
		cmocka_unit_test(what_repeats_differ_by_is_noise),
		cmocka_unit_test(parts_with_names_are_no_repeats),
		cmocka_unit_test(a_total_within_the_noise_is_unchanged_or_not_decided),
		cmocka_unit_test(no_load_is_divided_out),
		cmocka_unit_test(the_machine_is_no_warning),
		cmocka_unit_test(times_are_not_exact),
		cmocka_unit_test(runs_of_python_do_not_differ),
		cmocka_unit_test(runs_of_python_show_small_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
