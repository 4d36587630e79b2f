/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source_benchmarks.h"

#include <errno.h>
#include <sys/wait.h>

/* ---- Reading ---- */

/* Kelvin's own child beside it, which removes files, lives longer. */
static void wait_for_command(struct recording *result)
{
	int status;
	pid_t pid;

	do {
		pid = wait(&status);
	} while (pid < 0 && errno == EINTR);
	if (pid > 0)
		result->child_status = status;
}

static bool begin(struct source_benchmarks *benchmarks, struct error *err)
{
	const int *streams = benchmarks->streams;
	const struct harness_options options = {
		.mode = HARNESS_WALLTIME,
		.outputs = {
			streams[STDOUT_FILENO] >= 0 ? streams[STDOUT_FILENO] : STDOUT_FILENO,
			streams[STDERR_FILENO] >= 0 ? streams[STDERR_FILENO] : STDERR_FILENO,
		},
	};

	struct sampler_target *target = &benchmarks->live->options.sampler.target;

	if (!harness_create(&options, &benchmarks->harness, err))
		return false;
	target->enter = harness_enter;
	target->entering = benchmarks->harness;
	return harness_prepare(benchmarks->harness, &benchmarks->streams_of_command[STDOUT_FILENO], err);
}

/* Without benchmarks the recording is kept as it is. */
static bool end(struct source_benchmarks *benchmarks, struct buffer *notices, struct error *err)
{
	struct error why;

	if (harness_finish(benchmarks->harness, &benchmarks->result, notices, &why))
		return true;
	benchmarks->none = why;
	*err = why;
	return why.code == ERROR_EMPTY;
}

static void forget(struct source_benchmarks *benchmarks)
{
	harness_destroy(benchmarks->harness);
	benchmarks->harness = NULL;
}

static bool benchmarks_read(struct source *source, struct recording *result, struct buffer *notices, struct error *err)
{
	struct source_benchmarks *benchmarks = (struct source_benchmarks *)source;
	struct source_live *live = benchmarks->live;
	struct error ignored;
	bool ok;

	harness_result_deinit(&benchmarks->result);
	benchmarks->none = (struct error){ 0 };
	live->stage = SOURCE_LIVE_CREATING;
	ok = begin(benchmarks, err) && source_read(&live->source, result, notices, err);
	if (live->stage == SOURCE_LIVE_FINISHING && result->child_status == -1)
		wait_for_command(result);
	if (ok)
		ok = end(benchmarks, notices, err);
	else if (benchmarks->harness && live->stage == SOURCE_LIVE_FINISHING)
		(void)end(benchmarks, notices, &ignored);
	forget(benchmarks);
	return ok;
}

/* ---- Benchmarks as parts ---- */

struct cutting {
	struct profile *profile; /* borrowed */
	int64_t start_ns;
	struct profile_run *parts;         /* owned */
	struct profile_stretch *stretches; /* owned */
	size_t part_count, stretch_count;
};

static void cutting_deinit(struct cutting *cutting)
{
	free(cutting->parts);
	free(cutting->stretches);
}

static void add_stretch(struct cutting *cutting, int64_t start_ns, int64_t end_ns)
{
	struct profile_stretch stretch = {
		.start_ns = start_ns - cutting->start_ns,
		.end_ns = end_ns - cutting->start_ns,
		.part = (uint32_t)cutting->part_count,
	};

	if (stretch.start_ns < 0)
		stretch.start_ns = 0;
	if (stretch.end_ns <= stretch.start_ns)
		return;
	cutting->stretches[cutting->stretch_count++] = stretch;
	cutting->parts[cutting->part_count].duration_ns += stretch.end_ns - stretch.start_ns;
}

static bool add_part(struct cutting *cutting, const struct harness_window *window, struct error *err)
{
	const struct profile_run *execution = &cutting->profile->runs[0];
	struct profile_run *part = &cutting->parts[cutting->part_count];

	*part = (struct profile_run){ .exit_status = -1, .measured = window->measured };
	if (!profile_intern(cutting->profile, window->uri, &part->name, err))
		return false;
	if (execution->start_unix_ns > 0)
		part->start_unix_ns = execution->start_unix_ns + window->start_ns - cutting->start_ns;
	for (size_t i = window->warmup_rounds; i < window->round_count; i++)
		add_stretch(cutting, window->rounds[i].start_ns, window->rounds[i].end_ns);
	if (window->round_count == 0)
		add_stretch(cutting, window->start_ns, window->end_ns);
	cutting->part_count++;
	return true;
}

static bool add_parts(struct cutting *cutting, const struct harness_result *heard, struct error *err)
{
	size_t stretches = 0;

	for (size_t i = 0; i < heard->window_count; i++)
		stretches += heard->windows[i].round_count + 1;
	cutting->parts = calloc(heard->window_count + 1, sizeof(*cutting->parts));
	cutting->stretches = calloc(stretches + 1, sizeof(*cutting->stretches));
	if (!cutting->parts || !cutting->stretches)
		return error_set_memory(err);
	for (size_t i = 0; i < heard->window_count; i++)
		if (heard->windows[i].uri && heard->windows[i].uri[0] && !add_part(cutting, &heard->windows[i], err))
			return false;
	return true;
}

static bool cut(const struct source_benchmarks *benchmarks, struct recording *result, struct error *err)
{
	CLEANUP(cutting_deinit)
	struct cutting cutting = { .profile = result->profile, .start_ns = result->start_ns };
	struct profile *parts;

	if (!add_parts(&cutting, &benchmarks->result, err) || !profile_cut_parts(result->profile,
								      &(struct profile_cut){
									      .parts = cutting.parts,
									      .part_count = cutting.part_count,
									      .stretches = cutting.stretches,
									      .stretch_count = cutting.stretch_count,
									      .root = HARNESS_ROOT_FRAME,
								      },
								      &parts, err))
		return error_prefix(err, "cannot tell the benchmarks apart");
	profile_destroy(result->profile);
	result->profile = parts;
	return true;
}

static bool set_fact(struct profile *profile, const char *text, uint32_t *fact, struct error *err)
{
	return !text || profile_intern(profile, text, fact, err);
}

static bool benchmarks_complete(
	struct source *source, struct recording *result, struct buffer *notices, struct error *err)
{
	const struct source_benchmarks *benchmarks = (struct source_benchmarks *)source;
	const struct harness_result *heard = &benchmarks->result;
	struct profile *profile = result->profile;

	(void)notices;
	return set_fact(profile, heard->integration, &profile->facts.harness, err) &&
	       set_fact(profile, heard->toolchain, &profile->facts.toolchain, err) &&
	       (heard->window_count == 0 || cut(benchmarks, result, err));
}

/* ---- The source ---- */

static void benchmarks_destroy(struct source *source)
{
	struct source_benchmarks *benchmarks = (struct source_benchmarks *)source;

	forget(benchmarks);
	harness_result_deinit(&benchmarks->result);
	source_live_cleanup(&benchmarks->live);
	free(benchmarks);
}

static const struct source_functions benchmarks_functions = {
	.read = benchmarks_read,
	.complete = benchmarks_complete,
	.destroy = benchmarks_destroy,
};

bool source_benchmarks_create(
	const struct source_live_options *options, struct source_benchmarks **benchmarks, struct error *err)
{
	struct source_benchmarks *made = calloc(1, sizeof(*made));
	struct source_live_options live = *options;

	if (!made)
		return error_set_memory(err);
	for (int i = 0; i < STREAM_COUNT; i++)
		made->streams[i] = made->streams_of_command[i] = options->streams ? options->streams[i] : -1;
	live.streams = made->streams_of_command;
	if (live.sampler.frequency_hz == 0)
		live.sampler.frequency_hz = SOURCE_BENCHMARKS_FREQUENCY_HZ;
	if (!source_live_create(&live, &made->live, err)) {
		free(made);
		return false;
	}
	made->source = made->live->source;
	made->source.functions = &benchmarks_functions;
	*benchmarks = made;
	return true;
}
