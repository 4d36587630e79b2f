/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source_benchmarks.h"

#include "cli/child.h"
#include "cli/streams.h"
#include "sampler/sampler.h"

struct source_benchmarks {
	struct source source;
	struct source_live_options live;                               /* what samples; made anew by each reading */
	int streams[CHILD_STREAMS], streams_of_command[CHILD_STREAMS]; /* where output goes at last, and at first */
	struct harness *harness;                                       /* owned, while a reading lasts */
	struct harness_result suite;                                   /* of the last reading */
};

/* ---- Reading ---- */

static bool source_benchmarks_begin(struct source_benchmarks *benchmarks, struct error *err)
{
	const int *streams = benchmarks->streams;
	const struct harness_options options = {
		.mode = HARNESS_WALLTIME,
		.outputs = {
			streams[STDOUT_FILENO] >= 0 ? streams[STDOUT_FILENO] : STDOUT_FILENO,
			streams[STDERR_FILENO] >= 0 ? streams[STDERR_FILENO] : STDERR_FILENO,
		},
	};
	struct sampler_target *target = &benchmarks->live.sampler.target;

	if (!harness_create(&options, &benchmarks->harness, err))
		return false;
	target->enter = harness_enter;
	target->entering = benchmarks->harness;
	return harness_prepare(benchmarks->harness, &benchmarks->streams_of_command[STDOUT_FILENO], err);
}

/* Without benchmarks the recording is kept as it is. */
static bool source_benchmarks_end(struct source_benchmarks *benchmarks, struct source_result *result, struct error *err)
{
	struct error why;

	if (!harness_finish(benchmarks->harness, &benchmarks->suite, &result->notices, &why)) {
		if (why.code != ERROR_EMPTY)
			*err = why;
		else
			result->no_benchmarks = why;
		return why.code == ERROR_EMPTY;
	}
	result->answer_us = benchmarks->suite.ack_us[0];
	return true;
}

static void source_benchmarks_forget(struct source_benchmarks *benchmarks)
{
	harness_destroy(benchmarks->harness);
	benchmarks->harness = NULL;
}

static bool benchmarks_read(struct source *source, struct source_result *result, struct error *err)
{
	struct source_benchmarks *benchmarks = (struct source_benchmarks *)source;
	CLEANUP(source_cleanup) struct source *live = NULL;
	struct error ignored;
	bool ok;

	harness_result_deinit(&benchmarks->suite);
	ok = source_benchmarks_begin(benchmarks, err) && source_live_create(&benchmarks->live, &live, err) &&
	     live->functions->read(live, result, err);
	if (result->stage == SOURCE_FINISHING) {
		/* Kelvin's own child beside it, which removes files, lives longer. */
		if (result->recording.child_status == -1)
			result->recording.child_status = child_wait();
		ok = source_benchmarks_end(benchmarks, result, ok ? err : &ignored) && ok;
	}
	source_benchmarks_forget(benchmarks);
	return ok;
}

/* ---- Benchmarks as phases ---- */

static bool benchmarks_complete(struct source *source, struct source_result *result, struct error *err)
{
	const struct source_benchmarks *benchmarks = (struct source_benchmarks *)source;

	struct recording *recording = &result->recording;

	return harness_result_set_facts(&benchmarks->suite, recording->profile, err) &&
	       harness_result_cut(&benchmarks->suite, recording->start_ns, &recording->profile, err);
}

/* ---- The source ---- */

static void benchmarks_destroy(struct source *source)
{
	struct source_benchmarks *benchmarks = (struct source_benchmarks *)source;

	source_benchmarks_forget(benchmarks);
	harness_result_deinit(&benchmarks->suite);
	free(benchmarks);
}

static const struct source_functions benchmarks_functions = {
	.read = benchmarks_read,
	.complete = benchmarks_complete,
	.destroy = benchmarks_destroy,
};

bool source_benchmarks_create(const struct source_live_options *options, struct source **source, struct error *err)
{
	struct source_benchmarks *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->source = (struct source){ .functions = &benchmarks_functions,
		.name = "a recording",
		.fd = -1,
		.is_read_once = true,
		.is_live = true,
		.is_command = true };
	made->live = *options;
	for (int i = 0; i < CHILD_STREAMS; i++)
		made->streams[i] = made->streams_of_command[i] =
			options->sampler.target.streams ? options->sampler.target.streams[i] : -1;
	made->live.sampler.target.streams = made->streams_of_command;
	if (made->live.sampler.frequency_hz == 0)
		made->live.sampler.frequency_hz = SOURCE_BENCHMARKS_FREQUENCY_HZ;
	*source = &made->source;
	return true;
}
