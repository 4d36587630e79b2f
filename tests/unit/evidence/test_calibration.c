/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/calibration/program.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the model says of restarts of programs that no constant was fitted to, one recording against another. */
struct held {
	size_t pairs, rows[EVIDENCE_CLASSES], covered[EVIDENCE_CLASSES], totals_covered, totals_flagged, flagged;
};

static void weigh_program(const struct calibration_program *program, struct held *held)
{
	struct calibration_pair pair = { .program = program, .count = { 1, 1 } };
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < program->recording_count; i++) {
		struct calibration_result result;

		if (program->recordings[i].condition != CALIBRATION_RESTART)
			continue;
		pair.of[0][0] = last;
		pair.of[1][0] = i;
		if (last != SIZE_MAX) {
			calibration_weigh(&pair, &result);
			held->pairs++;
			for (int class = 0; class < EVIDENCE_CLASSES; class ++) {
				held->rows[class] += result.rows[class];
				held->covered[class] += result.covered[class];
			}
			held->totals_covered += result.total_is_covered;
			held->totals_flagged += result.total_is_flagged;
			held->flagged += result.flagged > 0;
		}
		last = i;
	}
}

static struct held weigh_all(void)
{
	DIR *directory = opendir(CALIBRATION_DIRECTORY);
	struct held held = { 0 };
	char path[4096];

	assert_non_null(directory);
	for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		struct calibration_program program;

		if (!strstr(entry->d_name, ".tsv.gz"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", CALIBRATION_DIRECTORY, entry->d_name);
		if (calibration_read(path, &program) && !program.is_fit)
			weigh_program(&program, &held);
		calibration_deinit(&program);
	}
	closedir(directory);
	return held;
}

/* Rows of a program vary together, so that 95 % are not to be had in each sample of programs: 93 to 97 are. */
static void intervals_hold_what_did_not_change(void **state)
{
	struct held held = weigh_all();

	for (int class = 0; class < EVIDENCE_CLASSES; class ++) {
		double part = (double)held.covered[class] / (double)held.rows[class];

		if (held.rows[class] == 0)
			continue;
		print_message("class %d: %.1f %% of %zu rows\n", class, part * 100, held.rows[class]);
		if (class <= EVIDENCE_COMPILED)
			assert_true(part >= 0.93 && part <= 0.98);
	}
	print_message("%zu pairs: %zu totals held, %zu flagged; functions flagged in %zu\n", held.pairs,
		held.totals_covered, held.totals_flagged, held.flagged);
	assert_true(held.pairs >= 40);
	assert_true(held.totals_covered * 100 >= held.pairs * 93);
	assert_true(held.totals_flagged * 100 <= held.pairs * 5);
	assert_true(held.flagged * 100 <= held.pairs * 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_what_did_not_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
