/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts the profile of a suite into its benchmarks. */
#include "sampler/harness/harness.h"

#include <stdlib.h>

struct cutting {
	struct profile *profile; /* borrowed */
	int64_t start_ns;
	struct profile_run *phases;        /* owned */
	struct profile_stretch *stretches; /* owned */
	size_t phase_count, stretch_count;
};

static void cutting_deinit(struct cutting *cutting)
{
	free(cutting->phases);
	free(cutting->stretches);
}

static void add_stretch(struct cutting *cutting, int64_t start_ns, int64_t end_ns)
{
	struct profile_stretch stretch = {
		.start_ns = start_ns - cutting->start_ns,
		.end_ns = end_ns - cutting->start_ns,
		.phase = (uint32_t)cutting->phase_count,
	};

	if (stretch.start_ns < 0)
		stretch.start_ns = 0;
	if (stretch.end_ns <= stretch.start_ns)
		return;
	cutting->stretches[cutting->stretch_count++] = stretch;
	cutting->phases[cutting->phase_count].duration_ns += stretch.end_ns - stretch.start_ns;
}

static bool add_phase(struct cutting *cutting, const struct harness_window *window, struct error *err)
{
	const struct profile_run *execution = &cutting->profile->runs[0];
	struct profile_run *phase = &cutting->phases[cutting->phase_count];

	*phase = (struct profile_run){ .exit_status = -1, .measured = window->measured };
	if (!profile_intern(cutting->profile, window->uri, &phase->name, err))
		return false;
	if (execution->start_unix_ns > 0)
		phase->start_unix_ns = execution->start_unix_ns + window->start_ns - cutting->start_ns;
	for (size_t i = window->warmup_rounds; i < window->round_count; i++)
		add_stretch(cutting, window->rounds[i].start_ns, window->rounds[i].end_ns);
	if (window->round_count == 0)
		add_stretch(cutting, window->start_ns, window->end_ns);
	cutting->phase_count++;
	return true;
}

static bool add_phases(struct cutting *cutting, const struct harness_result *suite, struct error *err)
{
	size_t stretches = 0;

	for (size_t i = 0; i < suite->window_count; i++)
		stretches += suite->windows[i].round_count + 1;
	if (!ARRAY_ZEROED(&cutting->phases, suite->window_count + 1, err) ||
		!ARRAY_ZEROED(&cutting->stretches, stretches + 1, err))
		return false;
	for (size_t i = 0; i < suite->window_count; i++)
		if (suite->windows[i].uri && suite->windows[i].uri[0] && !add_phase(cutting, &suite->windows[i], err))
			return false;
	return true;
}

bool harness_result_cut(
	const struct harness_result *suite, int64_t start_ns, struct profile **profile, struct error *err)
{
	CLEANUP(cutting_deinit) struct cutting cutting = { .profile = *profile, .start_ns = start_ns };
	struct profile_cut cut = { .root = HARNESS_ROOT_FRAME };
	struct profile *phases;

	if (suite->window_count == 0)
		return true;
	if (!add_phases(&cutting, suite, err))
		return error_prefix(err, "cannot tell the benchmarks apart");
	cut.phases = cutting.phases;
	cut.phase_count = cutting.phase_count;
	cut.stretches = cutting.stretches;
	cut.stretch_count = cutting.stretch_count;
	if (!profile_cut_phases(*profile, &cut, &phases, err))
		return error_prefix(err, "cannot tell the benchmarks apart");
	profile_destroy(*profile);
	*profile = phases;
	return true;
}
