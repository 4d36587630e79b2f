/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recording.h"

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/closing.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { POLL_MS = 100, MAX_NOTICE_BYTES = 1 << 16 };
static const size_t max_file_bytes = (size_t)2 << 30;
static const int64_t ns_per_ms = 1000000;

static bool is_command(const struct recording *recording)
{
	return recording->sampler.target.kind == SAMPLER_TARGET_COMMAND;
}

static int64_t end_ns(const struct recording *recording)
{
	if (recording->duration_s <= 0)
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

static bool sample(const struct recording *recording, struct sampler *sampler, struct progress *progress, struct error *err)
{
	struct sampler_progress state = { .state = SAMPLER_RUNNING };
	bool is_delayed = recording->delay_ms > 0;

	while (state.state == SAMPLER_RUNNING && state.elapsed_ns < end_ns(recording) && !interrupt_signal()) {
		if (!sampler_poll(sampler, timeout_ms(recording, state.elapsed_ns, is_delayed), -1, &state, err))
			return false;
		if (is_delayed && state.elapsed_ns >= (int64_t)recording->delay_ms * ns_per_ms) {
			if (!sampler_set_enabled(sampler, true, err))
				return false;
			is_delayed = false;
		}
		progress_show(progress, &state);
	}
	return true;
}

/* A process of another mount namespace has its debug files there too. */
static void look_in_target(const struct recording *recording, char *root, size_t size, struct symbolize_options *options)
{
	const struct sampler_target *target = &recording->sampler.target;

	if (target->kind != SAMPLER_TARGET_PIDS || target->pid_count != 1)
		return;
	snprintf(root, size, "/proc/%d/root", (int)target->pids[0]);
	if (access(root, X_OK) == 0)
		options->debug.root = root;
}

static bool name_addresses(struct recording *recording, const struct sampler_result *result, struct symbolize_stats *stats,
	struct buffer *notices, struct error *err)
{
	struct symbolize_options options = { 0 };
	char root[64];

	look_in_target(recording, root, sizeof(root), &options);
	options.project_roots = recording->naming.roots.items;
	options.project_root_count = recording->naming.roots.count;
	options.origin_rules = recording->naming.origin_rules;
	return symbolize_profile(
		result->profile, result->images, (const char *const *)result->jit_maps, &options, stats, notices, err);
}

static bool write_file(const struct recording *recording, const struct profile *profile, uint64_t *size, struct error *err)
{
	struct buffer out;
	bool ok;

	buffer_init(&out, max_file_bytes);
	ok = profile_write_pprof(profile, &out, err) && buffer_ok(&out, err) &&
	     file_write(recording->output, out.data, out.size, 0600, err);
	*size = out.size;
	buffer_deinit(&out);
	return ok;
}

/* From the last sample to the file, and the closing lines. */
static bool keep(struct recording *recording, struct sampler_result *result, struct progress *progress, struct buffer *notices,
	struct error *err)
{
	struct symbolize_stats stats = { 0 };
	int64_t begin_ns = progress_now_ns();
	uint64_t file_bytes = 0;

	progress_phase(progress, "naming functions");
	if (!name_addresses(recording, result, &stats, notices, err))
		return false;
	progress_phase(progress, "writing");
	if (!write_file(recording, result->profile, &file_bytes, err))
		return false;
	progress_clear(progress);
	if (recording->quiet)
		return true;
	cli_print_notices(notices);
	closing_print(stderr, &(struct closing){
				      .profile = result->profile,
				      .duration_ns = result->profile->run_count ? result->profile->runs[0].duration_ns : 0,
				      .recorder_cpu_ns = result->cpu_ns,
				      .naming_ns = progress_now_ns() - begin_ns,
				      .path = recording->output,
				      .file_bytes = file_bytes,
			      });
	return true;
}

static int start_failure(const struct recording *recording, const struct error *err)
{
	if (!is_command(recording))
		return CLI_EXIT_ERROR;
	return err->system_errno == ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_NOT_EXECUTABLE;
}

/* The exit code: of a command its own, which may still run when -d or a signal ended the recording. */
static int finish(struct recording *recording, struct sampler *sampler, struct progress *progress)
{
	struct sampler_result result = { .child_status = -1 };
	struct buffer notices;
	struct error err;
	int code = CLI_EXIT_OK, child_code = -1;

	buffer_init(&notices, MAX_NOTICE_BYTES);
	if (!sampler_finish(sampler, &result, &notices, &err) || !keep(recording, &result, progress, &notices, &err)) {
		progress_clear(progress);
		cli_print_error(&err);
		code = is_command(recording) ? CLI_EXIT_RECORDER_FAILED : CLI_EXIT_ERROR;
	}
	if (is_command(recording))
		child_code = result.child_status != -1 ? child_exit_code(result.child_status) : child_wait();
	sampler_result_deinit(&result);
	buffer_deinit(&notices);
	return code == CLI_EXIT_OK && child_code >= 0 ? child_code : code;
}

static int fail(const struct recording *recording, const struct error *err)
{
	cli_print_error(err);
	return is_command(recording) ? CLI_EXIT_RECORDER_FAILED : CLI_EXIT_ERROR;
}

int recording_run(struct recording *recording)
{
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct symbolize_options checked = { 0 };
	struct progress progress;
	struct error err;

	if (!file_check_writable(recording->output, &err) || !naming_prepare(&recording->naming, &checked, &err))
		return fail(recording, &err);
	recording->sampler.start_disabled = recording->delay_ms > 0;
	interrupt_watch();
	if (!sampler_create(&recording->sampler, &sampler, &err))
		return fail(recording, &err);
	if (!sampler_start(sampler, &err)) {
		cli_print_error(&err);
		return start_failure(recording, &err);
	}
	progress_init(&progress, recording->quiet);
	if (!sample(recording, sampler, &progress, &err)) {
		progress_clear(&progress);
		return fail(recording, &err);
	}
	if (is_command(recording) && interrupt_is_for_us_alone())
		child_signal(interrupt_signal());
	return finish(recording, sampler, &progress);
}
