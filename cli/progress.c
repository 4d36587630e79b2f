/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include "cli/closing.h"

#include <string.h>
#include <time.h>

static const int64_t interval_ns = 100000000;

int64_t progress_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_init(struct progress *progress, bool quiet)
{
	const char *term = getenv("TERM");

	*progress = (struct progress){ .is_terminal = !quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0) };
}

void progress_show(struct progress *progress, const struct sampler_progress *state)
{
	int64_t now_ns = progress_now_ns();
	char samples[CLOSING_NUMBER_SIZE], lost[CLOSING_NUMBER_SIZE];

	if (!progress->is_terminal || now_ns - progress->last_ns < interval_ns)
		return;
	progress->last_ns = now_ns;
	progress->is_shown = true;
	closing_format_count(state->samples, samples);
	closing_format_count(state->lost, lost);
	fprintf(stderr, "\r%.1f s, %s samples, %s lost, %u threads; Ctrl-C ends\033[K", (double)state->elapsed_ns / 1e9, samples,
		lost, state->threads);
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
