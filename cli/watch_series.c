/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch_series.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "cli/worker.h"
#include "sampler/sampler.h"

/* Prints the labels in a process without rights. */
static int print_labels(void *context)
{
	const struct load_options options = { 0 };
	const struct load_inputs *inputs = context;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer line = BUFFER_INIT(CLI_MESSAGE_BYTES);
	struct error err;

	if (!load_read(inputs, &options, &profile, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_ERROR;
	}
	watch_series_append(profile, inputs->names, &line);
	fwrite(line.data ? line.data : "", 1, line.size, stdout);
	return CLI_EXIT_OK;
}

static bool print_one(const char *name, struct error *err)
{
	CLEANUP(load_inputs_deinit) struct load_inputs inputs = { 0 };
	const struct load_options options = { 0 };
	struct worker worker = { .subject = name };
	int code;

	if (!load_open(name, &options, &inputs, err))
		return false;
	if (!load_are_named(&inputs))
		return error_set(err, ERROR_UNSUPPORTED, "%s is no profile of a watch", name);
	worker.inputs = inputs.descriptors;
	worker.input_count = inputs.count;
	return worker_run(&worker, print_labels, &inputs, &code, err) && code == CLI_EXIT_OK;
}

int watch_series_print(const char *const *names)
{
	struct error err;

	for (; *names; names++)
		if (!print_one(*names, &err))
			printf("%s" WATCH_SERIES_NOTHING, *names);
	return CLI_EXIT_OK;
}
