/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/layouts.h"

#include <math.h>
#include <stdlib.h>

static int layouts_by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return ORDER(*a, *b);
}

/* Numbers are those of a file, so that they may be any. */
static uint32_t *sorted_layouts(const struct profile *profile, size_t *count)
{
	uint32_t *numbers = memory_alloc((profile->run_count + 1) * sizeof(*numbers));

	*count = 0;
	for (size_t i = 0; numbers && i < profile->run_count; i++)
		numbers[i] = profile->runs[i].layout;
	if (!numbers || profile->run_count == 0)
		return numbers;
	qsort(numbers, profile->run_count, sizeof(*numbers), layouts_by_number);
	for (size_t i = 0; i < profile->run_count; i++)
		if (*count == 0 || numbers[*count - 1] != numbers[i])
			numbers[(*count)++] = numbers[i];
	return numbers;
}

size_t layouts_count(const struct profile *profile)
{
	size_t count;
	CLEANUP(cleanup_free) uint32_t *numbers = sorted_layouts(profile, &count);

	return numbers && count > 0 && numbers[0] > 0 ? count : 0;
}

bool layouts_are_units(const struct diff_build *build)
{
	return layouts_count(build->profiles[DIFF_BASE]) > 1 && layouts_count(build->profiles[DIFF_HEAD]) > 1;
}

void layouts_division_deinit(struct layouts_division *division)
{
	free(division->of_run);
	free(division->runs);
}

void layouts_divide(const struct profile *profile, struct layouts_division *division)
{
	CLEANUP(cleanup_free) uint32_t *numbers = sorted_layouts(profile, &division->count);

	division->of_run = memory_zeroed(profile->run_count + 1, sizeof(*division->of_run));
	division->runs = memory_zeroed(profile->run_count + 1, sizeof(*division->runs));
	for (size_t i = 0; i < profile->run_count; i++) {
		const uint32_t *found = bsearch(
			&profile->runs[i].layout, numbers, division->count, sizeof(*numbers), layouts_by_number);

		division->of_run[i] = (uint32_t)(found - numbers);
		division->runs[division->of_run[i]]++;
	}
}

void layouts_level(const struct layouts_division *division, size_t row_count, double *values)
{
	size_t runs = 0;

	for (size_t i = 0; i < division->count; i++)
		runs += division->runs[i];
	for (size_t i = 0; i < division->count; i++) {
		double factor = (double)runs / (double)division->count / (double)division->runs[i];

		for (size_t row = 0; factor != 1 && row < row_count; row++)
			values[row * division->count + i] *= factor;
	}
}

double layouts_spread(const struct experiment *experiment, size_t row)
{
	double squares = 0, freedom = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const double *values = experiment_values(experiment, (enum diff_side)side, row);
		size_t count = experiment->sides[side].unit_count;
		double mean = experiment_sum(experiment, (enum diff_side)side, row) / (double)count;

		if (!(mean > 0))
			continue;
		for (size_t unit = 0; unit < count; unit++)
			squares += pow(values[unit] / mean - 1, 2);
		freedom += (double)count - 1;
	}
	return freedom > 0 ? sqrt(squares / freedom) : NAN;
}

void layouts_describe(const struct diff_build *build, const struct experiment *experiment)
{
	struct diff *diff = build->diff;

	for (int side = 0; side < DIFF_SIDES; side++)
		diff->layouts.count[side] = layouts_count(build->profiles[side]);
	if (!experiment->units_are_layouts)
		return;
	diff->layouts.rsd = layouts_spread(experiment, 0);
	for (size_t row = 1; row < experiment->row_count; row++)
		if (experiment->rows[row].kind == ROW_TOTAL)
			diff->functions[experiment->rows[row].id].layout_rsd = layouts_spread(experiment, row);
}
