/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source_simulated.h"

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/streams.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMAND_BYTES = 1 << 16 };

struct source_simulated {
	struct source source;
	struct source_simulated_options options;
	struct simulator simulator;
	struct temporary temporary;
	struct sampler_simulation *simulation; /* owned: what was read last, until it is named */
	struct harness *harness;               /* owned, while a reading lasts; NULL: no benchmarks */
	struct harness_result suite; /* of the last reading; only the names of the harness and its toolchain */
};

static bool make_directories(struct temporary *temporary, struct error *err)
{
	static const char *const names[] = { "counts", "log" };
	char path[PATH_MAX + sizeof("/counts")];

	if (!temporary_create(temporary, TEMPORARY_LARGE, NULL, err))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", temporary->path, names[i]);
		if (mkdir(path, S_IRWXU) != 0)
			return error_set_errno(err, errno, "cannot make %.300s", path);
	}
	return true;
}

static bool start_command(const struct source_simulated *simulated, pid_t *pid, struct error *err)
{
	const int *streams = simulated->options.streams;

	*pid = child_fork(0);
	if (*pid == 0) {
		if (!streams || child_take_streams(streams))
			simulator_execute(
				&simulated->simulator, &(struct simulator_call){
							       .directory = simulated->temporary.path,
							       .caches = simulated->options.caches,
							       .command = simulated->options.command,
							       .counts_parts = simulated->options.has_benchmarks,
							       .folds_recursion = simulated->options.folds_recursion,
						       });
		_exit(CLI_EXIT_RECORDER_FAILED);
	}
	return *pid > 0 ||
	       error_set_errno(err, errno, "cannot start the tool in %.3000s", simulated->simulator.library);
}

/* ---- Benchmarks ---- */

/* Their harness finds the simulator by itself; it looks for its mode and its folder in the environment. */
static bool begin_benchmarks(struct source_simulated *simulated, struct error *err)
{
	const struct harness_options options = { .mode = HARNESS_SIMULATION };
	int outputs[2];

	if (!simulated->options.has_benchmarks)
		return true;
	return harness_create(&options, &simulated->harness, err) && harness_prepare(simulated->harness, outputs, err);
}

static bool end_benchmarks(struct source_simulated *simulated, struct buffer *notices, struct error *err)
{
	harness_result_deinit(&simulated->suite);
	return !simulated->harness || harness_finish(simulated->harness, &simulated->suite, notices, err);
}

static void forget_benchmarks(struct source_simulated *simulated)
{
	harness_destroy(simulated->harness);
	simulated->harness = NULL;
}

/* ---- A reading ---- */

static bool source_simulated_run_command(
	struct source_simulated *simulated, struct profile_run *run, struct source_result *result, struct error *err)
{
	int64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);
	pid_t pid;

	*run = (struct profile_run){ .start_unix_ns = clock_read_ns(CLOCK_REALTIME), .whole_command = true };
	if (!start_command(simulated, &pid, err))
		return false;
	result->stage = SOURCE_RUNNING;
	result->recording.child_status = child_wait_for(pid);
	/* Its times and its memory are valgrind's: they say nothing of the command. */
	run->duration_ns = clock_read_ns(CLOCK_MONOTONIC) - begin_ns;
	run->exit_status = result->recording.child_status;
	return true;
}

/* Writes the command as a person would type it. */
static void describe_command(const struct source_simulated_options *options, struct buffer *text)
{
	for (size_t i = 0; options->command[i] && (i == 0 || !options->no_arguments); i++)
		buffer_printf(text, "%s%s", i ? " " : "", options->command[i]);
	buffer_append_byte(text, '\0');
}

static bool source_simulated_read_counts(struct source_simulated *simulated, const struct profile_run *run,
	struct source_result *result, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer command = BUFFER_INIT(MAX_COMMAND_BYTES);
	char directory[PATH_MAX + sizeof("/counts")];
	const struct source_simulated_options *options = &simulated->options;
	struct sampler_simulated from = {
		.directory = directory,
		.tool = options->tool,
		.labels = options->labels,
		.label_count = options->label_count,
		.run = *run,
	};

	describe_command(options, &command);
	if (!buffer_ok(&command, err))
		return false;
	from.command = (const char *)command.data;
	snprintf(directory, sizeof(directory), "%s/counts", simulated->temporary.path);
	return sampler_simulation_read(&from, &simulated->simulation, &result->recording, &result->notices, err);
}

/* Explains what only the directory tells of a simulation that went wrong. */
static void source_simulated_explain(const struct source_simulated *simulated, struct buffer *notices)
{
	simulator_explain(simulated->temporary.path, notices);
	if (temporary_is_full(&simulated->temporary))
		buffer_append_string(notices,
			"the disk of the temporary files is full, so counts may be missing: set TMPDIR to a directory with more room\n");
	if (!simulator_can_fix_addresses())
		buffer_append_string(notices,
			"addresses are chosen at random here (personality(2) is not permitted), so counts may differ a little from run to run\n");
}

static bool simulated_read(struct source *source, struct source_result *result, struct error *err)
{
	struct source_simulated *simulated = (struct source_simulated *)source;
	struct profile_run run;
	bool ok;

	temporary_remove(&simulated->temporary, NULL);
	if (!simulator_find(&simulated->simulator, err))
		return false;
	result->stage = SOURCE_STARTING;
	if (!simulator_check_command(simulated->options.command[0], err))
		return false;
	result->stage = SOURCE_CREATING;
	if (!make_directories(&simulated->temporary, err) || !begin_benchmarks(simulated, err) ||
		!source_simulated_run_command(simulated, &run, result, err)) {
		forget_benchmarks(simulated);
		return false;
	}
	result->stage = SOURCE_FINISHING;
	source_simulated_explain(simulated, &result->notices);
	ok = end_benchmarks(simulated, &result->notices, err);
	forget_benchmarks(simulated);
	return ok && source_simulated_read_counts(simulated, &run, result, err);
}

/* Counts have their samples only now: their lines are known. */
static bool simulated_complete(struct source *source, struct source_result *result, struct error *err)
{
	struct source_simulated *simulated = (struct source_simulated *)source;
	bool ok = sampler_simulation_count(simulated->simulation, &result->recording, &result->notices, err) &&
		  harness_result_set_facts(&simulated->suite, result->recording.profile, err);

	if (!ok && err->code == ERROR_EMPTY && simulated->options.has_benchmarks)
		error_prefix(err, "no benchmark was met, since none asks the simulator for its counts");

	sampler_simulation_destroy(simulated->simulation);
	simulated->simulation = NULL;
	temporary_remove(&simulated->temporary, &result->notices);
	return ok;
}

static void simulated_destroy(struct source *source)
{
	struct source_simulated *simulated = (struct source_simulated *)source;

	sampler_simulation_destroy(simulated->simulation);
	forget_benchmarks(simulated);
	harness_result_deinit(&simulated->suite);
	temporary_remove(&simulated->temporary, NULL);
	free(simulated);
}

static const struct source_functions simulated_functions = {
	.read = simulated_read,
	.complete = simulated_complete,
	.destroy = simulated_destroy,
};

bool source_simulated_create(const struct source_simulated_options *options, struct source **source, struct error *err)
{
	struct source_simulated *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->source = (struct source){
		.functions = &simulated_functions, .name = "a simulation", .fd = -1, .is_live = true, .is_command = true
	};
	made->options = *options;
	*source = &made->source;
	return true;
}
