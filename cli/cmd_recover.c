/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin recover`: names the functions of the .part file of a killed recording, and writes it as a profile. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/naming.h"
#include "cli/recordings.h"
#include "render/render.h"

#include <limits.h>
#include <string.h>

static const char cmd_recover_usage[] = "Usage: kelvin recover FILE.part [OPTIONS]\n"
					"Turns what a killed recording left into a profile. The .part file is kept.\n";

static const char cmd_recover_notes[] = "Examples:\n"
					"  kelvin recover before.pb.gz.part -o before.pb.gz\n"
					"\n"
					"Exit codes: 0 success, 2 usage or input error.\n";

struct cmd_recover_request {
	const char *output; /* NULL: made from the input's name */
	mode_t mode;
	struct naming naming;
};

static const struct options_row cmd_recover_rows[] = {
	{ .name = "Options:" },
	{ 'o', "output", "FILE", "the profile, gzipped pprof; '-': standard output (default: without .part)",
		OPTIONS_OUTPUT(struct cmd_recover_request, output) },
	{ .rows = options_mode_rows, .at = offsetof(struct cmd_recover_request, mode) },
	{ .rows = naming_rows, .at = offsetof(struct cmd_recover_request, naming) },
	{ 0 },
};

static bool choose_output(
	const struct cmd_recover_request *request, const char *name, char path[PATH_MAX], struct error *err)
{
	static const char ending[] = ".part";
	size_t size = strlen(name), end = sizeof(ending) - 1;

	if (request->output) {
		snprintf(path, PATH_MAX, "%s", request->output);
		return true;
	}
	if (size <= end || size - end >= PATH_MAX || strcmp(name + size - end, ending) != 0)
		return error_set(err, ERROR_USAGE,
			"cannot derive the profile's name from %s, which does not end in .part; give the name with -o",
			name);
	memcpy(path, name, size - end);
	path[size - end] = '\0';
	return true;
}

/* A recovery, which is made in a worker. */
struct recovering {
	struct load_options options;
	struct load_inputs inputs;
	struct recordings recordings;
	struct worker worker;
};

static void recovering_deinit(struct recovering *recovering)
{
	recordings_deinit(&recovering->recordings);
	load_inputs_deinit(&recovering->inputs);
}

static bool write_profile(const struct worker *worker, const struct profile *profile, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT((size_t)2 << 30);
	CLEANUP(buffer_deinit) struct buffer said = BUFFER_INIT(CLI_MESSAGE_BYTES);
	char samples[DIGITS_SIZE];

	if (!profile_write_pprof(profile, &bytes, err) || !buffer_ok(&bytes, err) ||
		!worker_write(worker, 0, bytes.data, bytes.size, err))
		return false;
	digits_in_groups(profile->quality.samples, samples);
	buffer_printf(&said, "recovered %s sample%s of %.1f s\n", samples, profile->quality.samples == 1 ? "" : "s",
		(double)(profile->run_count ? profile->runs[0].duration_ns : 0) / 1e9);
	render_append_written(&said, worker->outputs[0].path, bytes.size);
	cli_print_notices(&said);
	return true;
}

static int cmd_recover_work(void *context)
{
	const struct recovering *recovering = context;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	/* A signal asks the parent to leave the rest unnamed, and what was recorded is written. */
	interrupt_leave_to_parent();
	if (load_read(&recovering->inputs, &recovering->options, &profile, &err) &&
		write_profile(&recovering->worker, profile, &err))
		return CLI_EXIT_OK;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

static int cmd_recover_answer_worker(void *context, const void *bytes, size_t size, struct error *err)
{
	struct recovering *recovering = context;

	return recordings_are_asked(bytes, size) ? recordings_answer(&recovering->recordings, bytes, size, err) : -1;
}

static bool cli_cmd_recover(struct cmd_recover_request *request, const char *name, int *code, struct error *err)
{
	CLEANUP(recovering_deinit) struct recovering recovering = { .options.is_recovery = true };
	const struct load_inputs *const sides[] = { &recovering.inputs, NULL };
	char path[PATH_MAX];
	const struct worker_output output = { .path = path, .mode = request->mode };

	recordings_init(&recovering.recordings, sides);
	recovering.options.opener = &recovering.recordings.opener;
	if (!choose_output(request, name, path, err) || !file_check_writable(path, err) ||
		!naming_prepare(&request->naming, &recovering.options.naming, err) ||
		!load_open(name, &recovering.options, &recovering.inputs, err))
		return false;
	if (recovering.inputs.count != 1)
		return error_set(err, ERROR_USAGE, "recover: one FILE.part is needed; %s are several", name);
	recovering.worker = (struct worker){ .subject = name,
		.inputs = recovering.inputs.descriptors,
		.input_count = 1,
		.outputs = &output,
		.output_count = 1,
		.answer = cmd_recover_answer_worker,
		.context = &recovering };
	recordings_serve(&recovering.recordings, &recovering.worker, &recovering.options.naming);
	return worker_run(&recovering.worker, cmd_recover_work, &recovering, code, err);
}

static void cmd_recover_request_deinit(struct cmd_recover_request *request)
{
	naming_deinit(&request->naming);
}

static int cmd_recover_run(struct options *options)
{
	CLEANUP(cmd_recover_request_deinit) struct cmd_recover_request request = { 0 };
	struct error err;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	if (options->argc - optind != 1)
		return options_fail("recover", "one FILE.part is needed; %d given", options->argc - optind);
	interrupt_watch();
	if (cli_cmd_recover(&request, options->argv[optind], &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

const struct cli_command cmd_recover = {
	.name = "recover",
	.summary = "turn what a killed recording left into a profile",
	.usage = cmd_recover_usage,
	.rows = cmd_recover_rows,
	.notes = cmd_recover_notes,
	.word = "FILE.part",
	.needed_words = 1,
	.run = cmd_recover_run,
};
