/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/calibration/program.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Calls with pairs of a restart and the next recording of a condition, at most so many of each of the programs that no
 * constant was fitted to.
 */
static void for_each_pair(enum calibration_condition condition, bool is_simulated, size_t most,
	void (*call)(const struct calibration_pair *pair, void *arg), void *arg)
{
	DIR *directory = opendir(CALIBRATION_DIRECTORY);
	char path[4096];

	assert_non_null(directory);
	for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		struct calibration_program program;
		struct calibration_pair pair = { .program = &program, .count = { 1, 1 } };
		size_t last = SIZE_MAX, pairs = 0;

		if (!strstr(entry->d_name, ".tsv.gz"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", CALIBRATION_DIRECTORY, entry->d_name);
		if (!calibration_read(path, &program) || program.is_fit || program.is_simulated != is_simulated) {
			calibration_deinit(&program);
			continue;
		}
		for (size_t i = 0; i < program.recording_count && pairs < most; i++) {
			pair.of[0][0] = last;
			pair.of[1][0] = i;
			if (last != SIZE_MAX && program.recordings[i].condition == condition) {
				call(&pair, arg);
				pairs++;
			}
			if (program.recordings[i].condition == CALIBRATION_RESTART)
				last = i;
		}
		calibration_deinit(&program);
	}
	closedir(directory);
}

/* What the model says of restarts of unchanged programs, one recording against another. */
struct held {
	size_t pairs, rows[EVIDENCE_CLASSES], covered[EVIDENCE_CLASSES], totals_covered, totals_flagged, flagged;
};

static void weigh_pair(const struct calibration_pair *pair, void *arg)
{
	struct held *held = arg;
	struct calibration_result result;

	calibration_weigh(pair, &result);
	held->pairs++;
	for (int class = 0; class < EVIDENCE_CLASSES; class ++) {
		held->rows[class] += result.rows[class];
		held->covered[class] += result.covered[class];
	}
	held->totals_covered += result.total_is_covered;
	held->totals_flagged += result.total_is_flagged;
	held->flagged += result.flagged > 0;
}

/* Rows of a program vary together, so that 95 % are not to be had in each sample of programs: 93 to 98 are. */
static void assert_held(const struct held *held, size_t most_flagged_percent)
{
	for (int class = 0; class < EVIDENCE_CLASSES; class ++) {
		double part = (double)held->covered[class] / (double)held->rows[class];

		if (held->rows[class] == 0)
			continue;
		print_message("class %d: %.1f %% of %zu rows\n", class, part * 100, held->rows[class]);
		if (class <= EVIDENCE_COMPILED)
			assert_true(part >= 0.93 && part <= 0.98);
	}
	print_message("%zu pairs: %zu totals held, %zu flagged; functions flagged in %zu\n", held->pairs,
		held->totals_covered, held->totals_flagged, held->flagged);
	assert_true(held->pairs >= 40);
	assert_true(held->totals_covered * 100 >= held->pairs * 93);
	assert_true(held->totals_flagged * 100 <= held->pairs * 5);
	assert_true(held->flagged * 100 <= held->pairs * most_flagged_percent);
}

static void intervals_hold_what_did_not_change(void **state)
{
	struct held held = { 0 };

	for_each_pair(CALIBRATION_RESTART, false, SIZE_MAX, weigh_pair, &held);
	assert_held(&held, 8);
}

/* At 0.4 and 2.5 times the load, and in bursts. */
static void intervals_hold_at_other_loads(void **state)
{
	struct held held = { 0 };

	for_each_pair(CALIBRATION_LOAD, false, SIZE_MAX, weigh_pair, &held);
	assert_held(&held, 15);
}

/* One repeat against the next. A program with seeds by chance may be taken for one of another kind. */
static void repeats_of_simulations_are_held(void **state)
{
	struct held held = { 0 };

	for_each_pair(CALIBRATION_RESTART, true, SIZE_MAX, weigh_pair, &held);
	assert_true(held.pairs >= 60 && held.flagged * 100 <= held.pairs * 25);
	assert_true(held.covered[EVIDENCE_EXACT] * 100 >= held.rows[EVIDENCE_EXACT] * 95);
}

/* A change that is made up, of functions that have a part of the program's time by themselves. */
struct power {
	double least, most; /* part */
	double times;
	size_t least_found; /* percent of them */
	size_t asked, found;
};

/* Of each pair one function, for a program with many of them would be most of all. */
static void change_pair(const struct calibration_pair *pair, void *arg)
{
	struct power *power = arg;
	struct calibration_pair changed = *pair;
	struct calibration_result result;

	for (size_t i = 0; i < pair->program->row_count; i++) {
		const struct calibration_row *row = &pair->program->rows[i];
		double part = calibration_part(pair, row, 0);

		if (!row->is_self || row->class != EVIDENCE_OTHER || part < power->least || part >= power->most)
			continue;
		changed.changed = i;
		changed.times = power->times;
		calibration_weigh(&changed, &result);
		power->asked++;
		power->found += result.is_found;
		return;
	}
}

/* One recording a side: what the tests of unchanged programs leave must be found. */
static void changes_are_found(void **state)
{
	static const double gone = .001;
	struct power powers[] = { { .1, .3, 2, 60 }, { .1, .3, 5, 90 }, { .1, .3, gone, 90 }, { .03, .1, 2, 0 },
		{ .03, .1, 5, 80 }, { .03, .1, gone, 90 }, { .01, .03, 5, 60 }, { .01, .03, gone, 50 } };

	for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++) {
		struct power *power = &powers[i];

		for_each_pair(CALIBRATION_RESTART, false, 1, change_pair, power);
		print_message("%.0f to %.0f %% times %g: %zu of %zu found\n", power->least * 100, power->most * 100,
			power->times, power->found, power->asked);
		assert_true(power->asked >= 10);
		assert_true(power->found * 100 >= power->least_found * power->asked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_what_did_not_change),
		cmocka_unit_test(intervals_hold_at_other_loads),
		cmocka_unit_test(repeats_of_simulations_are_held),
		cmocka_unit_test(changes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
