/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include "cli/cli.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const int64_t interval_ns = 100000000;

void progress_init(struct progress *progress, bool quiet)
{
	const char *term = getenv("TERM");

	*progress = (struct progress){ .is_terminal = !quiet && isatty(STDERR_FILENO) &&
						      !(term && strcmp(term, "dumb") == 0) };
}

/* Writes "12 of 30 s", or "12.3 s" if the duration is not known. */
static void format_elapsed(double sampled_s, const struct progress_plan *plan, char *text, size_t size)
{
	if (plan->duration_s <= 0)
		snprintf(text, size, "%.1f s", sampled_s);
	else if (plan->duration_s < 10)
		snprintf(text, size, "%.1f of %.3g s", sampled_s, plan->duration_s);
	else
		snprintf(text, size, "%.0f of %.0f s", sampled_s, plan->duration_s);
}

void progress_show(struct progress *progress, const struct sampler_progress *state, const struct progress_plan *plan)
{
	double sampled_s = (double)state->elapsed_ns / 1e9 - plan->delay_s;
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	char samples[DIGITS_SIZE], lost[DIGITS_SIZE], elapsed[64];

	if (!progress->is_terminal || now_ns - progress->last_ns < interval_ns)
		return;
	progress->last_ns = now_ns;
	progress->is_shown = true;
	digits_in_groups(state->samples, samples);
	digits_in_groups(state->lost, lost);
	if (sampled_s < 0) {
		fprintf(stderr, "\rsampling starts in %.0f s; press Ctrl-C to stop\033[K", ceil(-sampled_s));
		fflush(stderr);
		return;
	}
	format_elapsed(sampled_s, plan, elapsed, sizeof(elapsed));
	fprintf(stderr, "\r%s, %s sample%s, %s lost, %u thread%s; press Ctrl-C to stop\033[K", elapsed, samples,
		state->samples == 1 ? "" : "s", lost, state->threads, state->threads == 1 ? "" : "s");
	fflush(stderr);
}

void progress_phase(struct progress *progress, const char *text)
{
	if (!progress->is_terminal)
		return;
	progress->is_shown = true;
	fprintf(stderr, "\r%s\033[K", text);
	fflush(stderr);
}

void progress_clear(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
	fflush(stderr);
}
