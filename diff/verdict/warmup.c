/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/warmup.h"

#include "diff/constants.h"
#include "diff/metric.h"
#include "diff/statistics/sums.h"
#include "diff/words.h"

#include <math.h>
#include <stdlib.h>

enum { HALVES = 2 };

struct halves {
	double all[HALVES], compiles[HALVES], scripts[HALVES];
};

/*
 * Finds the nodes at and below frames of the compilation of scripts, in an array to be freed; NULL if memory runs out.
 * Parents come before their children.
 */
static bool *find_script_nodes(const struct diff *diff)
{
	bool *is_below = memory_zeroed(diff->node_count + 1, sizeof(*is_below));

	for (size_t i = 1; is_below && i < diff->node_count; i++) {
		const struct diff_function *f = &diff->functions[diff->nodes[i].function];

		is_below[i] = is_below[diff->nodes[i].parent] ||
			      profile_activity_of_frame(diff_string(diff, f->name), diff_string(diff, f->module)) ==
				      PROFILE_ACTIVITY_SCRIPTS;
	}
	return is_below;
}

/* Returns the metric's value of an event, whose sample's value is that of all its events. */
static double value_of_event(const struct diff_build *build, enum diff_side side, size_t event)
{
	const struct profile *profile = build->profiles[side];
	uint32_t sample = profile->events[event].sample;
	double count = (double)profile->values[(size_t)sample * profile->value_type_count];

	return count > 0 ? build_value(build, side, sample) / count * (double)profile_event_weight(profile, event) : 0;
}

static void sum_halves(const struct diff_build *build, enum diff_side side, const int64_t *lengths,
	const bool *is_script, struct halves *halves)
{
	const struct profile *profile = build->profiles[side];
	const struct diff *diff = build->diff;

	for (size_t i = 0; i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		uint32_t run = profile->threads[profile->samples[event->sample].thread].run;
		uint32_t id = diff->sample_nodes[side][event->sample];
		const struct diff_node *node = &diff->nodes[id];
		int half = event->time_ns >= lengths[run] / HALVES;
		double value = value_of_event(build, side, i);

		halves->all[half] += value;
		if (node->function != PROFILE_NONE && diff->functions[node->function].compiles)
			halves->compiles[half] += value;
		else if (is_script[id])
			halves->scripts[half] += value;
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

/* Returns whether compiling was busy, and became less in the second half. */
static bool is_busy(const double parts[HALVES])
{
	return fmax(parts[0], parts[1]) >= warmup_least_share;
}

static bool becomes_less(const double parts[HALVES])
{
	return parts[1] <= warmup_most_left * parts[0];
}

/*
 * What a run time compiles while the program runs is warm-up too where the other side does less of it. A script that
 * is compiled for every request is the program's cost, which may be what has changed: only where it becomes less, as
 * while opcache fills, is it warm-up.
 */
static void describe_halves(
	const struct diff_build *build, enum diff_side side, const struct halves *halves, char *text, size_t size)
{
	static const char *const words[] = { "just-in-time compilation", "the compilation of scripts" };
	const double *const all[] = { halves->compiles, halves->scripts };

	for (size_t i = 0; i < 2 && text[0] == '\0'; i++) {
		const double parts[HALVES] = { all[i][0] / halves->all[0], all[i][1] / halves->all[1] };
		bool is_less_elsewhere = i == 0 && compiling(build->diff, side == DIFF_BASE ? DIFF_HEAD : DIFF_BASE) <=
							   warmup_most_left * compiling(build->diff, side);

		if (!is_busy(parts) || !(becomes_less(parts) || is_less_elsewhere))
			continue;
		snprintf(text, size,
			"%s was still compiling: %s took %.0f %% of its %s in the first half of the recording and %.0f %% in the second; this is warm-up, so record it later",
			diff_side_name(side), words[i], parts[0] * 100, words_metric(build->diff), parts[1] * 100);
	}
}

void warmup_describe(const struct diff_build *build, enum diff_side side, char *text, size_t size)
{
	const struct profile *profile = build->profiles[side];
	CLEANUP(cleanup_free) int64_t *lengths = NULL;
	CLEANUP(cleanup_free) bool *is_script = NULL;
	struct halves halves = { 0 };

	text[0] = '\0';
	if (!profile->has_timeline || has_command(profile))
		return;
	lengths = sums_run_lengths(profile);
	is_script = find_script_nodes(build->diff);
	sum_halves(build, side, lengths, is_script, &halves);
	if (halves.all[0] > 0 && halves.all[1] > 0)
		describe_halves(build, side, &halves, text, size);
}
