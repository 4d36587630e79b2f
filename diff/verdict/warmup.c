/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/warmup.h"

#include "diff/metric.h"
#include "diff/statistics/sums.h"
#include "diff/words.h"

#include <math.h>

/* Compiling is busy above this part of the time, and has become less below this part of what it was. */
static const double least_share = 0.1, most_left = 0.5;

enum { HALVES = 2 };

struct halves {
	double all[HALVES], compiles[HALVES];
};

/* The metric's value of an event, whose sample's value is that of all its events. */
static double value_of_event(const struct diff_build *build, enum diff_side side, size_t event)
{
	const struct profile *profile = build->profiles[side];
	uint32_t sample = profile->events[event].sample;
	double count = (double)profile->values[(size_t)sample * profile->value_type_count];

	return count > 0 ? build_value(build, side, sample) / count * (double)profile_event_weight(profile, event) : 0;
}

static void sum_halves(
	const struct diff_build *build, enum diff_side side, const int64_t *lengths, struct halves *halves)
{
	const struct profile *profile = build->profiles[side];
	const struct diff *diff = build->diff;

	for (size_t i = 0; i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		uint32_t run = profile->threads[profile->samples[event->sample].thread].run;
		const struct diff_node *node = &diff->nodes[diff->sample_nodes[side][event->sample]];
		int half = event->time_ns >= lengths[run] / HALVES;
		double value = value_of_event(build, side, i);

		halves->all[half] += value;
		if (node->function != PROFILE_NONE && diff->functions[node->function].compiles)
			halves->compiles[half] += value;
	}
}

static bool has_command(const struct profile *profile)
{
	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].whole_command)
			return true;
	return false;
}

/* Compiling for as much work as base did. */
static double compiling(const struct diff *diff, enum diff_side side)
{
	return side == DIFF_BASE ? diff->compilation.base : diff->compilation.head;
}

bool warmup_describe(const struct diff_build *build, enum diff_side side, char *text, size_t size, struct error *err)
{
	const struct profile *profile = build->profiles[side];
	CLEANUP(cleanup_free) int64_t *lengths = NULL;
	struct halves halves = { 0 };
	double first, second;

	text[0] = '\0';
	if (!(build->diff->compilation.raw[side] > 0) || !profile->has_timeline || has_command(profile))
		return true;
	lengths = sums_run_lengths(profile);
	if (!lengths)
		return error_set_memory(err);
	sum_halves(build, side, lengths, &halves);
	if (!(halves.all[0] > 0) || !(halves.all[1] > 0))
		return true;
	first = halves.compiles[0] / halves.all[0];
	second = halves.compiles[1] / halves.all[1];
	if (fmax(first, second) < least_share ||
		(second > most_left * first && compiling(build->diff, side == DIFF_BASE ? DIFF_HEAD : DIFF_BASE) >
						       most_left * compiling(build->diff, side)))
		return true;
	snprintf(text, size,
		"%s was still compiling: just-in-time compilation took %.0f %% of its %s in the first half of the recording and %.0f %% in the second; this is warm-up, so record it later",
		diff_side_name(side), first * 100, words_metric(build->diff), second * 100);
	return true;
}

bool warmup_may_explain(const struct diff_build *build, char *text, size_t size, struct error *err)
{
	const struct diff_estimate *total = &build->diff->total;
	char head[320];

	if (!warmup_describe(build, DIFF_BASE, text, size, err) ||
		!warmup_describe(build, DIFF_HEAD, head, sizeof(head), err))
		return false;
	if (head[0] != '\0' && text[0] == '\0' && total->delta >= 0)
		snprintf(text, size, "%s", head);
	else if (head[0] != '\0' || total->delta > 0)
		text[0] = '\0';
	return true;
}
