/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `kelvin simulate`: runs a command on valgrind's simulated processor, run by run, and writes what it counted as a
 * profile.
 */
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/labels.h"
#include "cli/naming.h"
#include "cli/progress.h"
#include "cli/source_simulated.h"
#include "cli/streams.h"
#include "render/render.h"

#include <string.h>

static const char cmd_simulate_usage[] =
	"Usage: kelvin simulate [OPTIONS] -- COMMAND...\n"
	"Runs a command on a simulated processor (valgrind) and counts every instruction in its whole calling context, every\n"
	"cache miss, wrong branch and system call. The counts of one run are exact: the next run has the same ones. The command\n"
	"takes about 30 times as long.\n";

static const char cmd_simulate_notes[] =
	"Examples:\n"
	"  kelvin simulate -o before.pb.gz -- ./parse input.json\n"
	"  kelvin report before.pb.gz --metric instructions\n"
	"  kelvin diff before.pb.gz after.pb.gz\n"
	"\n"
	"Exit codes: the command's own; 125 the simulation failed, 126 the command cannot be executed or simulated, 127 it was\n"
	"not found, 128 + N signal N ended it. 2 usage error.\n";

struct cmd_simulate_request {
	struct source_simulated_options simulated;
	struct naming naming;
	struct labels labels;
	const char *output;
	mode_t mode;
	uint64_t runs;
	bool quiet;
};

/* One command, from its first run to the file. */
struct simulation {
	const struct cmd_simulate_request *request;
	struct symbolize_options naming;
	struct source *source;
	struct progress progress;
	struct buffer notices;  /* owned: of the last run that is kept */
	struct profile *merged; /* owned: all runs so far; NULL: none */
	int64_t naming_ns;
	struct symbolize_kept_sources sources; /* of the last run */
	int code;                              /* of the program, when all went well */
};

/* ---- The summary ---- */

static int64_t cmd_simulate_sum_of(const struct profile *profile, const char *type)
{
	return profile_sum(profile, profile_find_metric(profile, type, NULL));
}

/* A run with a name is a part of the execution before it, whose processes it shares. */
static size_t count_processes(const struct profile *profile)
{
	struct process_key {
		uint32_t execution;
		int32_t pid;
	};
	struct hash_map known;
	struct error ignored;
	uint32_t *value;
	size_t count;
	bool added;

	hash_map_init(&known, sizeof(struct process_key));
	for (size_t i = 0; i < profile->thread_count; i++) {
		struct process_key key = { profile_execution(profile, profile->threads[i].run),
			profile->threads[i].pid };

		if (!hash_map_add(&known, &key, 0, &value, &added, &ignored))
			break;
	}
	count = known.count;
	hash_map_deinit(&known);
	return count;
}

static void append_model(struct buffer *text, const struct source_simulated_options *options)
{
	char sizes[SIMULATOR_CACHES][DIGITS_SIZE];

	for (size_t i = 0; i < SIMULATOR_CACHES; i++)
		if (options->caches[i].bytes < 1 << 20)
			snprintf(sizes[i], sizeof(sizes[i]), "%llu kB",
				(unsigned long long)(options->caches[i].bytes >> 10));
		else
			snprintf(sizes[i], sizeof(sizes[i]), "%llu MB",
				(unsigned long long)(options->caches[i].bytes >> 20));
	buffer_printf(text,
		"cycles: %.2g for most instructions, %d for a miss of the first cache (%s code, %s data), %d of the last (%s), %d for a wrong branch\n",
		COST_MODEL_QUARTERS / 4.0, COST_MODEL_FIRST_MISS_CYCLES, sizes[0], sizes[1],
		COST_MODEL_LAST_MISS_CYCLES, sizes[2], COST_MODEL_BRANCH_MISS_CYCLES);
}

static void cmd_simulate_print_summary(
	const struct simulation *simulation, const struct profile *profile, uint64_t file_bytes)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(CLI_MESSAGE_BYTES);
	char instructions[DIGITS_SIZE], cycles[DIGITS_SIZE];
	size_t processes = count_processes(profile);

	digits_in_groups((uint64_t)cmd_simulate_sum_of(profile, COST_MODEL_INSTRUCTIONS), instructions);
	digits_in_groups((uint64_t)cmd_simulate_sum_of(profile, COST_MODEL_CYCLES), cycles);
	buffer_printf(&text, "%s instructions, %s cycles (estimated) in %zu process%s\n", instructions, cycles,
		processes, processes == 1 ? "" : "es");
	append_model(&text, &simulation->request->simulated);
	symbolize_append_kept(&simulation->sources, &text);
	render_append_written(&text, simulation->request->output, file_bytes);
	buffer_printf(&text, " in %.2f s after the command ended\n", (double)simulation->naming_ns / 1e9);
	cli_print_notices(&text);
}

/* ---- Runs ---- */

static bool add_run(struct simulation *simulation, struct recording *result, struct error *err)
{
	if (!simulation->merged) {
		simulation->merged = TAKE(result->profile);
		return true;
	}
	return profile_merge(simulation->merged, result->profile, err) && profile_finish(simulation->merged, err);
}

static int cmd_simulate_failure_code(const struct source_result *result, const struct error *err)
{
	int status = result->recording.child_status;

	/* A command that failed before anything was counted failed with its own code. */
	if (result->stage == SOURCE_FINISHING && err->code == ERROR_EMPTY && status > 0)
		return child_exit_code(status);
	return source_failure_code(result->stage, err);
}

/* Simulates one run. False: it failed, and the message has been printed. */
static bool simulate(struct simulation *simulation)
{
	CLEANUP(source_result_deinit) struct source_result result = { 0 };
	struct source *source = simulation->source;
	struct error err;
	int64_t begin_ns;
	bool ok;

	ok = source_read(source, &result, &err);
	begin_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (ok && !simulation->naming.no_names)
		progress_phase(&simulation->progress, "naming functions");
	ok = ok && source_name(source, &simulation->naming, &result, &err);
	recording_release_symbols(&result.recording);
	ok = ok && add_run(simulation, &result.recording, &err);
	simulation->naming_ns += clock_read_ns(CLOCK_MONOTONIC) - begin_ns;
	progress_clear(&simulation->progress);
	if (ok) {
		simulation->sources = result.sources;
		simulation->code = child_exit_code(result.recording.child_status);
		buffer_deinit(&simulation->notices);
		simulation->notices = result.notices;
		result.notices = (struct buffer){ 0 };
		return true;
	}
	simulation->code = cmd_simulate_failure_code(&result, &err);
	cli_print_notices(&result.notices);
	cli_print_error(&err);
	return false;
}

/* Simulates the runs up to the first that fails; what was counted until then is kept. */
static void simulate_runs(struct simulation *simulation)
{
	uint64_t runs = simulation->request->runs;

	for (uint64_t run = 1; run <= runs && !interrupt_signal(); run++) {
		if (!simulate(simulation))
			return;
		if (simulation->code != 0 && run < runs) {
			cli_say("kelvin: run %llu of %llu ended with exit code %d; the runs up to it are kept\n",
				(unsigned long long)run, (unsigned long long)runs, simulation->code);
			return;
		}
	}
}

static int cmd_simulate_finish(struct simulation *simulation)
{
	int64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t file_bytes;
	struct error err;

	if (!simulation->merged)
		return simulation->code;
	progress_phase(&simulation->progress, "writing");
	if (!profile_write_file(
		    simulation->merged, simulation->request->output, simulation->request->mode, &file_bytes, &err)) {
		progress_clear(&simulation->progress);
		cli_print_error(&err);
		return CLI_EXIT_RECORDER_FAILED;
	}
	simulation->naming_ns += clock_read_ns(CLOCK_MONOTONIC) - begin_ns;
	progress_clear(&simulation->progress);
	if (!simulation->request->quiet) {
		cli_print_notices(&simulation->notices);
		cmd_simulate_print_summary(simulation, simulation->merged, file_bytes);
	}
	return simulation->code;
}

static int run_simulation(struct cmd_simulate_request *request)
{
	CLEANUP(source_cleanup) struct source *source = NULL;
	CLEANUP(profile_cleanup) struct profile *merged = NULL;
	struct simulation simulation = { .request = request };
	struct error err;
	int code;

	request->simulated.streams = streams_apart_from(request->output);
	if (!file_check_writable(request->output, &err) ||
		!naming_prepare(&request->naming, &simulation.naming, &err) ||
		!source_simulated_create(&request->simulated, &source, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_RECORDER_FAILED;
	}
	simulation.source = source;
	progress_init(&simulation.progress, request->quiet);
	interrupt_watch();
	simulate_runs(&simulation);
	code = cmd_simulate_finish(&simulation);
	merged = simulation.merged;
	buffer_deinit(&simulation.notices);
	return code;
}

/* ---- Options ---- */

static const struct options_row cmd_simulate_rows[] = {
	{ .name = "Options:" },
	{ 'o', "output", "FILE", "the profile, gzipped pprof; '-': standard output (default: kelvin.pb.gz)",
		OPTIONS_OUTPUT(struct cmd_simulate_request, output) },
	{ 0, "cache", "I1,D1,LL", "sizes of the caches, each SIZE:WAYS:LINE (default: 32k:8:64,32k:8:64,8M:16:64)",
		simulator_take_caches, offsetof(struct cmd_simulate_request, simulated.caches) },
	{ 0, "fold-recursion", NULL,
		"a function that calls itself, or is called again by what it calls, has one context in place of\n"
		"one for each depth: for parsers and walks through trees; sums stay exact",
		OPTIONS_FLAG(struct cmd_simulate_request, simulated.folds_recursion) },
	{ 0, "runs", "N",
		"runs the command N times, one after the other, into one profile: what differs between\nthe runs is noise",
		options_take_runs, offsetof(struct cmd_simulate_request, runs) },
	{ 0, "benchmarks", NULL,
		"the command is a suite of benchmarks (pytest-codspeed, criterion, divan, google-benchmark,\n"
		"vitest): only they are counted, each for itself",
		OPTIONS_FLAG(struct cmd_simulate_request, simulated.has_benchmarks) },
	{ .rows = naming_rows, .at = offsetof(struct cmd_simulate_request, naming) },
	{ .rows = naming_sources_rows, .at = offsetof(struct cmd_simulate_request, naming) },
	{ .rows = labels_rows, .at = offsetof(struct cmd_simulate_request, labels) },
	{ .rows = options_no_args_rows, .at = offsetof(struct cmd_simulate_request, simulated.no_arguments) },
	{ .rows = options_mode_rows, .at = offsetof(struct cmd_simulate_request, mode) },
	{ 'q', "quiet", NULL, "prints errors only", OPTIONS_FLAG(struct cmd_simulate_request, quiet) },
	{ 0 },
};

static void cmd_simulate_request_deinit(struct cmd_simulate_request *request)
{
	naming_deinit(&request->naming);
	labels_deinit(&request->labels);
}

static int cmd_simulate_run(struct options *options)
{
	CLEANUP(cmd_simulate_request_deinit)
	struct cmd_simulate_request request = { .output = "kelvin.pb.gz", .runs = 1, .simulated.tool = CLI_TOOL };
	int code;

	simulator_default_caches(request.simulated.caches);
	if (!options_read(options, &request, &code))
		return code;
	if (!options->argv[optind])
		return options_fail("simulate", "nothing to simulate; give a command after --");
	request.simulated.command = options->argv + optind;
	request.simulated.labels = request.labels.items;
	request.simulated.label_count = request.labels.count;
	return run_simulation(&request);
}

const struct cli_command cmd_simulate = {
	.name = "simulate",
	.summary = "count what a command executes, on a simulated processor",
	.usage = cmd_simulate_usage,
	.rows = cmd_simulate_rows,
	.notes = cmd_simulate_notes,
	.word = "COMMAND",
	.run = cmd_simulate_run,
};
