/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record_job.h"

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/streams.h"
#include "render/render.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SUMMARY_BYTES = 16 << 20 };

static bool is_command(const struct record_job *job)
{
	return job->live.sampler.target.kind == SAMPLER_TARGET_COMMAND;
}

/*
 * Names the part file beside the file, also when a link leads there. A pipe, a device or an open file has nothing
 * beside it: "".
 */
static bool name_part_file(const char *output, char *part, size_t size, struct error *err)
{
	static const char ending[] = ".part";

	if (!file_end_of_links(output, part, size - sizeof(ending), err))
		return false;
	if (part[0])
		strcat(part, ending);
	return true;
}

/* Once the profile is in place nothing is left to recover. When it could not be written, what was recorded is still
 * there. */
static bool settle_part_file(const struct record_job *job, bool is_written, struct error *err)
{
	const char *part = job->live.sampler.part_path;
	struct error why;
	struct stat info;

	if (!part)
		return is_written;
	if (is_written) {
		unlink(part);
	} else if (stat(part, &info) == 0 && info.st_size > 0) {
		why = *err;
		error_set(err, why.code,
			"%s; the recording is kept: 'kelvin recover %s -o FILE' writes the profile somewhere else",
			why.message, part);
	}
	return is_written;
}

static bool record_job_write_file(struct record_job *job, const struct profile *profile, struct error *err)
{
	return profile_write_file(profile, job->output, job->mode, &job->file_bytes, err);
}

/* Prints the summary after the file is written, in which threads that are idle by their life are not decided. */
static void record_job_print_summary(const struct record_job *job, struct profile *profile)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_SUMMARY_BYTES);
	CLEANUP(buffer_deinit) struct buffer sources = BUFFER_INIT(CLI_MESSAGE_BYTES);
	const struct recording_refusals *refusals = &job->refusals;
	int64_t duration_ns = 0;
	struct error err;

	if (!symbolize_idle_lives(&profile, 1, &job->options, &err)) {
		cli_print_error(&err);
		return;
	}
	for (size_t i = 0; i < profile->run_count; i++)
		duration_ns = saturating_add(duration_ns, profile->runs[i].duration_ns);
	symbolize_append_kept(&job->sources, &sources);
	render_record_summary(
		&(struct record_summary){
			.profile = profile,
			.duration_ns = duration_ns,
			.recorder_cpu_ns = job->cpu_ns,
			.naming_ns = job->naming_ns,
			.path = job->output,
			.file_bytes = job->file_bytes,
			.may_wait = job->live.sampler.off_cpu_ns == 0 &&
				    job->live.sampler.target.kind != SAMPLER_TARGET_SYSTEM,
			.no_names = job->options.no_names,
			.sources = &sources,
			.answer_us = job->answer_us,
			.refusals = { refusals->cpu_ns, refusals->are_resumed, refusals->programs, refusals->name },
			.package_of = debug_package_of,
		},
		&text);
	cli_print_notices(&text);
}

/* Adds a run to those before it, and writes them all: whatever ends the next run, these are there. A pipe takes them
 * once. */
static bool keep_run(struct record_job *job, const struct recording *result, struct error *err)
{
	return profile_merge(job->merged, result->profile, err) && profile_finish(job->merged, err) &&
	       (!job->live.sampler.part_path || record_job_write_file(job, job->merged, err));
}

/* Half a run beside whole ones would pass for a fast one. When it is all there is, it is kept. */
static bool is_left_out(const struct record_job *job, const struct recording *result)
{
	bool has_failed = result->child_status != -1 && child_exit_code(result->child_status) != 0;

	return job->merged && job->merged->run_count > 0 && (has_failed || interrupt_signal());
}

static void add_refusals(struct recording_refusals *all, const struct recording_refusals *more)
{
	struct recording_refusals sum = *more;

	if (more->count == 0)
		return;
	sum.count += all->count;
	sum.cpu_ns = saturating_add(all->cpu_ns, more->cpu_ns);
	*all = sum;
}

/* Keeps the recording: from the last sample to the file, and the summary. */
static bool record_job_keep(
	struct record_job *job, struct source *source, struct source_result *result, struct error *err)
{
	struct recording *recording = &result->recording;
	struct progress *progress = &job->progress;
	int64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (is_left_out(job, recording)) {
		progress_clear(progress);
		return true;
	}
	if (!job->options.no_names)
		progress_phase(progress, "naming functions");
	if (!source_name(source, &job->options, result, err))
		return false;
	recording_release_symbols(recording);
	progress_phase(progress, "writing");
	if (!(job->merged ? keep_run(job, recording, err) : record_job_write_file(job, recording->profile, err)))
		return false;
	progress_clear(progress);
	if (recording->ended_early.code != ERROR_NONE)
		cli_say("kelvin: the recording ended early: %s; what was recorded until then is kept\n",
			recording->ended_early.message);
	/* What the user waits for most, so it is said even to one who wants to hear of errors only. */
	if (result->no_benchmarks.code != ERROR_NONE)
		cli_print_error(&result->no_benchmarks);
	job->answer_us = result->answer_us;
	job->sources = result->sources;
	job->cpu_ns += recording->cpu_ns;
	add_refusals(&job->refusals, &recording->refusals);
	job->naming_ns += clock_read_ns(CLOCK_MONOTONIC) - begin_ns;
	if (job->quiet)
		return true;
	if (!job->merged || profile_execution_count(job->merged) == job->runs)
		cli_print_notices(&result->notices);
	if (!job->merged)
		record_job_print_summary(job, recording->profile);
	return true;
}

/* Returns the exit code after a failure at that stage. */
static int record_job_failure_code(const struct record_job *job, enum source_stage stage, const struct error *err)
{
	return is_command(job) ? source_failure_code(stage, err) : CLI_EXIT_ERROR;
}

static int record_job_fail(const struct record_job *job, const struct error *err)
{
	cli_print_error(err);
	return record_job_failure_code(job, SOURCE_CREATING, err);
}

/* Returns the exit code: of a command its own, which may still run when -d or a signal ended the recording. */
static int record_job_finish(
	const struct record_job *job, const struct recording *recording, bool is_written, struct error *err)
{
	int code = CLI_EXIT_OK, status = recording->child_status, child_code;
	bool is_empty = false;

	if (!settle_part_file(job, is_written, err)) {
		code = record_job_fail(job, err);
		is_empty = err->code == ERROR_EMPTY;
	}
	if (is_command(job) && status == -1)
		status = child_wait();
	child_code = status == -1 ? -1 : child_exit_code(status);
	if (code == CLI_EXIT_OK && recording->ended_early.code != ERROR_NONE)
		return record_job_failure_code(job, SOURCE_FINISHING, &recording->ended_early);
	/* A command that failed so fast that nothing was seen of it still failed with its own code; that it succeeded
	 * is no profile. */
	return (code == CLI_EXIT_OK && child_code >= 0) || (is_empty && child_code > 0) ? child_code : code;
}

static int record(struct record_job *job, struct source *source)
{
	CLEANUP(source_result_deinit) struct source_result result = { 0 };
	struct error err;
	bool ok;

	progress_init(&job->progress, job->quiet);
	ok = source_read(source, &result, &err) && record_job_keep(job, source, &result, &err);
	if (!ok)
		progress_clear(&job->progress);
	if (result.stage == SOURCE_FINISHING)
		return record_job_finish(job, &result.recording, ok, &err);
	cli_print_error(&err);
	return record_job_failure_code(job, result.stage, &err);
}

static void print_runs_end(const struct record_job *job, uint64_t run, int code)
{
	size_t kept = profile_execution_count(job->merged);

	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(CLI_MESSAGE_BYTES);

	if (interrupt_signal())
		buffer_printf(&text, "kelvin: interrupted in run %llu of %llu; ", (unsigned long long)run,
			(unsigned long long)job->runs);
	else
		buffer_printf(&text, "kelvin: run %llu of %llu ended with exit code %d; ", (unsigned long long)run,
			(unsigned long long)job->runs, code);
	if (kept == 0)
		buffer_append_string(&text, "nothing is kept\n");
	else
		buffer_printf(&text, "%zu run%s kept in %s\n", kept, kept == 1 ? " is" : "s are", job->output);
	cli_print_notices(&text);
}

/* Run after run, up to the first that fails or is interrupted; what was recorded until then is kept. */
static int record_runs(struct record_job *job, struct source *source)
{
	struct error err;
	int code = CLI_EXIT_OK;

	if (!profile_create(&job->merged, &err))
		return record_job_fail(job, &err);
	for (uint64_t run = 1; code == CLI_EXIT_OK && run <= job->runs && !interrupt_signal(); run++) {
		code = record(job, source);
		if (code != CLI_EXIT_OK || interrupt_signal())
			print_runs_end(job, run, code);
	}
	if (job->merged->run_count > 0 && !job->live.sampler.part_path &&
		!record_job_write_file(job, job->merged, &err))
		code = record_job_fail(job, &err);
	else if (job->merged->run_count > 0 && !job->quiet)
		record_job_print_summary(job, job->merged);
	profile_destroy(job->merged);
	return code;
}

/* The rest of the process has what it needs of the recording on disk. */
static void record_job_prepare_end(struct record_job *job, const char *part)
{
	job->end = (struct memory_end){ .exit_code = is_command(job) ? CLI_EXIT_RECORDER_FAILED : CLI_EXIT_ERROR };
	if (part[0]) {
		snprintf(job->advice, sizeof(job->advice),
			"the recording is kept: 'kelvin recover %s -o FILE' writes the profile", part);
		job->end.advice = job->advice;
	}
	memory_set_end(&job->end);
}

static int record_job_run_source(struct record_job *job, struct source *source, const char *part)
{
	int code;

	record_job_prepare_end(job, part);
	interrupt_watch();
	code = job->runs > 1 ? record_runs(job, source) : record(job, source);
	memory_set_end(NULL);
	return code;
}

int record_job_run(struct record_job *job)
{
	CLEANUP(source_cleanup) struct source *source = NULL;
	CLEANUP(control_close) struct control control;
	char part[PATH_MAX];
	struct error err;

	control_init(&control);
	if (!file_check_writable(job->output, &err) || !name_part_file(job->output, part, sizeof(part), &err) ||
		!naming_prepare(&job->naming, &job->options, &err))
		return record_job_fail(job, &err);
	if (job->control && !control_open(&control, job->control, &err))
		return record_job_fail(job, &err);
	if (part[0])
		job->live.sampler.part_path = part;
	job->live.control = &control;
	job->live.progress = &job->progress;
	if (is_command(job))
		job->live.sampler.target.streams = streams_apart_from(job->output);
	if (!(job->has_benchmarks ? source_benchmarks_create : source_live_create)(&job->live, &source, &err))
		return record_job_fail(job, &err);
	return record_job_run_source(job, source, part);
}
