/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recording.h"

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/closing.h"
#include "cli/control.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/verification.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { POLL_MS = 400, MAX_NOTICE_BYTES = 1 << 16 };
static const size_t max_file_bytes = (size_t)2 << 30;
static const int64_t ns_per_ms = 1000000;
static const double longest_s = 1e9; /* a life long: no end */

static bool is_command(const struct recording *recording)
{
	return recording->sampler.target.kind == SAMPLER_TARGET_COMMAND;
}

static int64_t end_ns(const struct recording *recording)
{
	if (recording->duration_s <= 0 || recording->duration_s > longest_s)
		return INT64_MAX;
	return (int64_t)(recording->duration_s * 1e9) + (int64_t)recording->delay_ms * ns_per_ms;
}

/* Wakes up no later than the next thing to do. */
static int timeout_ms(const struct recording *recording, int64_t elapsed_ns, bool is_delayed)
{
	int64_t until_ns = is_delayed ? (int64_t)recording->delay_ms * ns_per_ms : end_ns(recording);
	int64_t left_ms = (until_ns - elapsed_ns) / ns_per_ms + 1;

	return left_ms < 0 ? 0 : left_ms < POLL_MS ? (int)left_ms : POLL_MS;
}

struct session {
	const struct recording *recording;
	struct sampler *sampler;
	struct control *control;
	bool is_delayed; /* -D has yet to switch sampling on */
	bool is_stopped; /* by --control */
	bool has_begun;  /* sampling was on, if only for a moment */
};

/* One command of --control, and its answer. */
static bool obey(struct session *session, enum control_command command, struct error *err)
{
	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		session->is_delayed = false;
		if (!sampler_set_enabled(session->sampler, command == CONTROL_ENABLE, err))
			return false;
		session->has_begun = session->has_begun || command == CONTROL_ENABLE;
		break;
	case CONTROL_STOP:
		session->is_stopped = true;
		break;
	case CONTROL_EVLIST:
		fprintf(stderr, "%s\n", sampler_event(session->sampler));
		break;
	case CONTROL_OTHER:
		cli_say("kelvin: --control: unknown command '%s'; use enable, disable, ping, evlist or stop\n",
			session->control->line);
		break;
	case CONTROL_PING:
	case CONTROL_NONE:
		break;
	}
	control_answer(session->control);
	return true;
}

static bool obey_all(struct session *session, struct error *err)
{
	enum control_command command;

	while (!session->is_stopped && (command = control_next(session->control)) != CONTROL_NONE)
		if (!obey(session, command, err))
			return false;
	return true;
}

static bool sample(struct session *session, struct progress *progress, struct error *err)
{
	const struct recording *recording = session->recording;
	struct sampler_progress state = { .state = SAMPLER_RUNNING };
	const struct progress_plan plan = {
		.delay_s = (double)recording->delay_ms / 1e3,
		.duration_s = recording->duration_s <= longest_s ? recording->duration_s : 0,
	};

	while (state.state == SAMPLER_RUNNING && state.elapsed_ns < end_ns(recording) && !session->is_stopped &&
		!interrupt_signal()) {
		if (!sampler_poll(session->sampler, timeout_ms(recording, state.elapsed_ns, session->is_delayed),
			    session->control->commands, &state, err) ||
			!obey_all(session, err))
			return false;
		if (session->is_delayed && state.elapsed_ns >= (int64_t)recording->delay_ms * ns_per_ms) {
			if (!sampler_set_enabled(session->sampler, true, err))
				return false;
			session->is_delayed = false;
			session->has_begun = true;
		}
		progress_show(progress, &state, &plan);
	}
	return true;
}

/* A process of another mount namespace has its debug files there too. */
static void look_in_target(
	const struct recording *recording, char *root, size_t size, struct symbolize_options *options)
{
	const struct sampler_target *target = &recording->sampler.target;

	if (target->kind != SAMPLER_TARGET_PIDS || target->pid_count != 1)
		return;
	snprintf(root, size, "/proc/%d/root", (int)target->pids[0]);
	if (access(root, X_OK) == 0)
		options->debug.root = root;
}

static bool name_addresses(struct recording *recording, struct sampler_result *result, struct symbolize_stats *stats,
	struct buffer *notices, struct error *err)
{
	struct symbolize_options options = { 0 };
	char root[64];

	look_in_target(recording, root, sizeof(root), &options);
	options.inherited_jit_maps = (const char *const *)result->inherited_jit_maps;
	options.project_roots = recording->naming.roots.items;
	options.project_root_count = recording->naming.roots.count;
	options.origin_rules = recording->naming.origin_rules;
	return symbolize_profile(result->profile, result->images, (const char *const *)result->jit_maps, &options,
		       stats, notices, err) &&
	       verification_finish(result, &options.debug, notices, err);
}

/* Beside the file, also when a link leads there. A pipe or a device has nothing beside it, nor has an open file without
 * a name. */
static bool name_part(const char *output, char *part, size_t size)
{
	CLEANUP(cleanup_free) char *followed = NULL;
	struct stat info;

	if (strcmp(output, "-") == 0 || (stat(output, &info) == 0 && !S_ISREG(info.st_mode)))
		return false;
	if (lstat(output, &info) == 0 && S_ISLNK(info.st_mode)) {
		followed = realpath(output, NULL);
		if (!followed)
			return false;
	}
	return (size_t)snprintf(part, size, "%s.part", followed ? followed : output) < size;
}

/* Once the profile is in place nothing is left to recover. When it could not be written, what was recorded is still
 * there. */
static bool settle_part(const struct recording *recording, bool is_written, struct error *err)
{
	const char *part = recording->sampler.part_path;
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

static bool write_file(struct recording *recording, const struct profile *profile, struct error *err)
{
	struct buffer out;
	bool ok;

	buffer_init(&out, max_file_bytes);
	ok = profile_write_pprof(profile, &out, err) && buffer_ok(&out, err) &&
	     file_write(recording->output, out.data, out.size, 0600, err);
	recording->file_bytes = out.size;
	buffer_deinit(&out);
	return ok;
}

static void close_with(const struct recording *recording, const struct profile *profile)
{
	int64_t duration_ns = 0;

	for (size_t i = 0; i < profile->run_count; i++)
		duration_ns = saturating_add(duration_ns, profile->runs[i].duration_ns);
	closing_print(&(struct closing){
		.profile = profile,
		.duration_ns = duration_ns,
		.recorder_cpu_ns = recording->cpu_ns,
		.naming_ns = recording->naming_ns,
		.path = recording->output,
		.file_bytes = recording->file_bytes,
	});
}

/* Adds a run to those before it, and writes them all: whatever ends the next run, these are there. A pipe takes them
 * once. */
static bool keep_run(struct recording *recording, const struct sampler_result *result, struct error *err)
{
	return profile_merge(recording->merged, result->profile, err) && profile_finish(recording->merged, err) &&
	       (!recording->sampler.part_path || write_file(recording, recording->merged, err));
}

/* Half a run beside whole ones would pass for a fast one. When it is all there is, it is kept. */
static bool is_left_out(const struct recording *recording, const struct sampler_result *result)
{
	bool has_failed = result->child_status != -1 && child_exit_code(result->child_status) != 0;

	return recording->merged && recording->merged->run_count > 0 && (has_failed || interrupt_signal());
}

/* From the last sample to the file, and the closing lines. */
static bool keep(struct recording *recording, struct sampler_result *result, struct progress *progress,
	struct buffer *notices, struct error *err)
{
	struct symbolize_stats stats = { 0 };
	int64_t begin_ns = progress_now_ns();

	if (is_left_out(recording, result)) {
		progress_clear(progress);
		return true;
	}
	progress_phase(progress, "naming functions");
	if (!name_addresses(recording, result, &stats, notices, err))
		return false;
	sampler_result_release_images(result);
	progress_phase(progress, "writing");
	if (!(recording->merged ? keep_run(recording, result, err) : write_file(recording, result->profile, err)))
		return false;
	progress_clear(progress);
	recording->cpu_ns += result->cpu_ns;
	recording->naming_ns += progress_now_ns() - begin_ns;
	if (recording->quiet)
		return true;
	if (!recording->merged || recording->merged->run_count == recording->runs)
		cli_print_notices(notices);
	if (!recording->merged)
		close_with(recording, result->profile);
	return true;
}

static int start_failure(const struct recording *recording, const struct error *err)
{
	if (!is_command(recording))
		return CLI_EXIT_ERROR;
	return err->system_errno == ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_NOT_EXECUTABLE;
}

/* The sampler knows only that there are no samples. */
static void explain_not_begun(const struct session *session, struct error *err)
{
	if (err->code != ERROR_EMPTY || session->has_begun)
		return;
	if (session->recording->starts_disabled)
		error_set(err, ERROR_EMPTY,
			"no samples: sampling was never switched on (-D -1), because no 'enable' came from --control");
	else
		error_set(err, ERROR_EMPTY, "no samples: the recording ended before sampling began (-D %llu)",
			(unsigned long long)session->recording->delay_ms);
}

/* The exit code: of a command its own, which may still run when -d or a signal ended the recording. */
static int finish(struct recording *recording, const struct session *session, struct progress *progress)
{
	struct sampler_result result = { .child_status = -1 };
	struct buffer notices;
	struct error err;
	int code = CLI_EXIT_OK, child_code = -1;
	bool is_written, is_empty = false;

	buffer_init(&notices, MAX_NOTICE_BYTES);
	is_written = sampler_finish(session->sampler, &result, &notices, &err) &&
		     keep(recording, &result, progress, &notices, &err);
	if (!settle_part(recording, is_written, &err)) {
		progress_clear(progress);
		explain_not_begun(session, &err);
		cli_print_error(&err);
		code = is_command(recording) ? CLI_EXIT_RECORDER_FAILED : CLI_EXIT_ERROR;
		is_empty = err.code == ERROR_EMPTY;
	}
	if (is_command(recording))
		child_code = result.child_status != -1 ? child_exit_code(result.child_status) : child_wait();
	sampler_result_deinit(&result);
	buffer_deinit(&notices);
	/* A command that failed so fast that nothing was seen of it still failed with its own code; that it succeeded
	 * is no profile. */
	return (code == CLI_EXIT_OK && child_code >= 0) || (is_empty && child_code > 0) ? child_code : code;
}

static int fail(const struct recording *recording, const struct error *err)
{
	cli_print_error(err);
	return is_command(recording) ? CLI_EXIT_RECORDER_FAILED : CLI_EXIT_ERROR;
}

/* A command inherits our standard output. Where that is the profile's, the command prints on standard error, as with
 * perf. */
static bool create_sampler(const struct recording *recording, struct sampler **sampler, struct error *err)
{
	bool is_taken = is_command(recording) && strcmp(recording->output, "-") == 0;
	CLEANUP(cleanup_close) int ours = is_taken ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
	bool ok;

	if (is_taken && (ours < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0))
		return error_set_errno(err, errno, "cannot keep the command's output apart from the profile");
	ok = sampler_create(&recording->sampler, sampler, err);
	if (is_taken && dup2(ours, STDOUT_FILENO) < 0)
		ok = ok && error_set_errno(err, errno, "cannot write standard output");
	return ok;
}

static int record(struct recording *recording, struct control *control)
{
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct session session = { .recording = recording, .control = control, .is_delayed = recording->delay_ms > 0 };
	struct progress progress;
	struct error err;

	if (!create_sampler(recording, &sampler, &err))
		return fail(recording, &err);
	if (!sampler_start(sampler, &err)) {
		cli_print_error(&err);
		return start_failure(recording, &err);
	}
	session.sampler = sampler;
	session.has_begun = !recording->sampler.start_disabled;
	progress_init(&progress, recording->quiet);
	if (!sample(&session, &progress, &err)) {
		progress_clear(&progress);
		return fail(recording, &err);
	}
	if (is_command(recording) && interrupt_is_for_us_alone())
		child_signal(interrupt_signal());
	return finish(recording, &session, &progress);
}

static void tell_runs_end(const struct recording *recording, uint64_t run, int code)
{
	size_t kept = recording->merged->run_count;

	if (interrupt_signal())
		fprintf(stderr, "kelvin: interrupted in run %llu of %llu; ", (unsigned long long)run,
			(unsigned long long)recording->runs);
	else
		fprintf(stderr, "kelvin: run %llu of %llu ended with exit code %d; ", (unsigned long long)run,
			(unsigned long long)recording->runs, code);
	if (kept == 0)
		fputs("nothing is kept\n", stderr);
	else
		cli_say("%zu run%s kept in %s\n", kept, kept == 1 ? " is" : "s are", recording->output);
}

/* Run after run, up to the first that fails or is interrupted; what was recorded until then is kept. */
static int record_runs(struct recording *recording, struct control *control)
{
	struct error err;
	int code = CLI_EXIT_OK;

	if (!profile_create(&recording->merged, &err))
		return fail(recording, &err);
	for (uint64_t run = 1; code == CLI_EXIT_OK && run <= recording->runs && !interrupt_signal(); run++) {
		code = record(recording, control);
		if (code != CLI_EXIT_OK || interrupt_signal())
			tell_runs_end(recording, run, code);
	}
	if (recording->merged->run_count > 0 && !recording->sampler.part_path &&
		!write_file(recording, recording->merged, &err))
		code = fail(recording, &err);
	else if (recording->merged->run_count > 0 && !recording->quiet)
		close_with(recording, recording->merged);
	profile_destroy(recording->merged);
	return code;
}

int recording_run(struct recording *recording)
{
	CLEANUP(control_close) struct control control;
	struct symbolize_options checked = { 0 };
	char part[PATH_MAX];
	struct error err;

	control_init(&control);
	if (!file_check_writable(recording->output, &err) || !naming_prepare(&recording->naming, &checked, &err))
		return fail(recording, &err);
	if (recording->control && !control_open(&control, recording->control, &err))
		return fail(recording, &err);
	if (name_part(recording->output, part, sizeof(part)))
		recording->sampler.part_path = part;
	recording->sampler.start_disabled = recording->delay_ms > 0 || recording->starts_disabled;
	interrupt_watch();
	return recording->runs > 1 ? record_runs(recording, &control) : record(recording, &control);
}
