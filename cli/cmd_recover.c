/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "cli/closing.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/naming.h"

#include <limits.h>
#include <string.h>

static const size_t max_file_bytes = (size_t)2 << 30;

static const char help[] =
	"Usage: kelvin recover FILE.part [OPTIONS]\n"
	"Turns what a killed recording left into a profile. The .part file is kept.\n"
	"\n"
	"Options:\n"
	"  -o, --output FILE           the profile, gzipped pprof; '-': standard output (default: without .part)\n" OPTIONS_MODE_HELP
		NAMING_HELP NAMING_PROFILE_HELP "  -h, --help                  this text\n"
	"\n"
	"Examples:\n"
	"  kelvin recover before.pb.gz.part -o before.pb.gz\n"
	"\n"
	"Exit codes: 0 success, 2 usage or input error.\n";

static const struct option names[] = {
	{ "output", required_argument, NULL, 'o' },
	OPTIONS_MODE_ROW,
	NAMING_OPTIONS,
	NAMING_PROFILE_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct request {
	const char *output; /* NULL: made from the input's name */
	mode_t mode;
	struct naming naming;
};

static bool cmd_recover_take(void *context, int option, struct error *err)
{
	struct request *request = context;

	if (option == OPTIONS_MODE)
		return options_parse_mode(optarg, &request->mode, err);
	if (option != 'o')
		return naming_take(&request->naming, option, err);
	request->output = options_output_file(optarg);
	return true;
}

static bool choose_output(const struct request *request, const char *name, char path[PATH_MAX], struct error *err)
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

static bool write_profile(const struct profile *profile, const char *path, mode_t mode, struct error *err)
{
	char samples[CLOSING_NUMBER_SIZE], bytes[CLOSING_NUMBER_SIZE];
	struct buffer out;
	bool ok;

	buffer_init(&out, max_file_bytes);
	ok = profile_write_pprof(profile, &out, err) && buffer_ok(&out, err) &&
	     file_write(path, out.data, out.size, mode, err);
	if (ok) {
		digits_in_groups(profile->quality.samples, samples);
		closing_format_bytes(out.size, bytes);
		cli_say("recovered %s sample%s of %.1f s\nwrote %s (%s)\n", samples,
			profile->quality.samples == 1 ? "" : "s",
			(double)(profile->run_count ? profile->runs[0].duration_ns : 0) / 1e9,
			strcmp(path, "-") == 0 ? "standard output" : path, bytes);
	}
	buffer_deinit(&out);
	return ok;
}

static bool recover(struct request *request, const char *name, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct symbolize_options options = { 0 };
	char path[PATH_MAX];

	return choose_output(request, name, path, err) && file_check_writable(path, err) &&
	       naming_prepare(&request->naming, &options, err) && load_part(name, &options, &profile, err) &&
	       write_profile(profile, path, request->mode, err);
}

static int cmd_recover_run(struct request *request, const struct options *options)
{
	struct error err;
	int code;

	if (!options_read(options, help, cmd_recover_take, request, &code))
		return code;
	if (options->argc - optind != 1)
		return options_fail("recover", "one FILE.part is needed; %d given", options->argc - optind);
	interrupt_watch();
	if (recover(request, options->argv[optind], &err))
		return CLI_EXIT_OK;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

int cmd_recover(int argc, char **argv)
{
	struct options options = { argc, argv, "recover", ":ho:", names };
	struct request request = { 0 };
	int code = cmd_recover_run(&request, &options);

	naming_deinit(&request.naming);
	return code;
}
