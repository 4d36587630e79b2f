/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/run_counts.h"

#include <math.h>
#include <string.h>

/* The counts of the runs of one side. */
struct counts {
	double mean, least, most;
};

static bool run_counts_is_count(const struct profile *profile, uint32_t value_type)
{
	struct profile_metric metric = profile_metric(profile, value_type);

	return metric.is_exact && metric.is_counted && metric.kind != PROFILE_METRIC_IN_USE;
}

bool run_counts_known(const struct profile *const profiles[DIFF_SIDES])
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (!run_counts_is_count(profiles[side], profiles[side]->default_value_type))
			return false;
	return true;
}

static void run_counts_sum_runs(const struct profile *profile, uint32_t value_type, struct counts *counts)
{
	size_t run_count = profile->run_count > 0 ? profile->run_count : 1;
	CLEANUP(cleanup_free) double *runs = memory_zeroed(run_count, sizeof(*runs));
	double sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		uint32_t run = profile->run_count ? profile->threads[profile->samples[i].thread].run : 0;

		runs[run] += (double)profile->values[i * profile->value_type_count + value_type];
	}
	*counts = (struct counts){ .least = runs[0], .most = runs[0] };
	for (size_t run = 0; run < run_count; run++) {
		sum += runs[run];
		counts->least = fmin(counts->least, runs[run]);
		counts->most = fmax(counts->most, runs[run]);
	}
	counts->mean = sum / (double)run_count;
}

static void run_counts_append_count(struct buffer *text, double value)
{
	char digits[DIGITS_SIZE];

	digits_in_groups((uint64_t)fmin(rint(value), 0x1p63), digits);
	buffer_append_string(text, digits);
}

static void append_side_counts(struct buffer *text, int side, const struct counts *counts)
{
	buffer_printf(text, "  %s ", diff_side_name(side));
	run_counts_append_count(text, counts->mean);
	if (counts->least == counts->most)
		return;
	buffer_append_string(text, " (");
	run_counts_append_count(text, counts->least);
	buffer_append_string(text, " to ");
	run_counts_append_count(text, counts->most);
	buffer_append_byte(text, ')');
}

/* A change of less than 0.1 % is shown with more digits: exact counts have them. */
static void run_counts_append_change(struct buffer *text, double base, double head)
{
	static const double least_with_two_digits = 0.1;
	double percent = base > 0 ? (head - base) / base * 100 : 0;

	if (head == base)
		buffer_append_string(text, "  equal\n");
	else if (!(base > 0))
		buffer_append_string(text, "  new\n");
	else
		buffer_printf(text, "  %+.*f %%\n", fabs(percent) < least_with_two_digits ? 5 : 2, percent);
}

void run_counts_append(struct buffer *text, const struct profile *const profiles[DIFF_SIDES])
{
	const struct profile *base = profiles[DIFF_BASE], *head = profiles[DIFF_HEAD];

	buffer_printf(text,
		base->run_count == 1 ? "%zu run of each command, simulated\n"
				     : "%zu runs of each command, simulated; mean, and least to most\n",
		base->run_count);
	for (uint32_t i = profile_first_metric(base); i < base->value_type_count; i++) {
		const char *type = profile_string(base, base->value_types[i].type);
		uint32_t other = profile_find_metric(head, type, profile_string(base, base->value_types[i].unit));
		struct counts counts[DIFF_SIDES];

		if (other == PROFILE_NONE || !run_counts_is_count(base, i))
			continue;
		run_counts_sum_runs(base, i, &counts[DIFF_BASE]);
		run_counts_sum_runs(head, other, &counts[DIFF_HEAD]);
		buffer_printf(text, "  %-13s", type);
		for (int side = 0; side < DIFF_SIDES; side++)
			append_side_counts(text, side, &counts[side]);
		run_counts_append_change(text, counts[DIFF_BASE].mean, counts[DIFF_HEAD].mean);
	}
	buffer_append_byte(text, '\n');
}
