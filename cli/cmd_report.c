/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/naming.h"
#include "cli/output.h"
#include "cli/suite_view.h"
#include "cli/verification.h"

enum { OPTION_METRIC = OPTIONS_LONG_ONLY, OPTION_VERIFY, OPTION_BENCHMARK };

static const char help[] =
	"Usage: kelvin report PROFILE [OPTIONS]\n"
	"Shows one profile (Kelvin's, any pprof, folded stacks, perf.data, callgrind.out; '-': standard input), or the sum of several,\n"
	"separated by commas.\n"
	"\n"
	"Output, several at once; without FILE, or with '-', to standard output:\n"
	"  -o, --output FILE           a self-contained HTML page\n"
	"      --text [FILE]           text (the default when no output is named)\n"
	"      --json [FILE]           schema kelvin.report/1\n"
	"      --svg [FILE]            a static flame graph\n"
	"      --folded [FILE]         folded stacks for FlameGraph's tools\n"
	"\n"
	"Options:\n"
	"      --benchmark NAME        of a profile with benchmarks: the functions of this one, by its name or URI\n"
	"      --metric NAME           which value to show: cpu, off-cpu, wall, idle or samples (default: the profile's\n"
	"                              own)\n"
	"      --verify[=N]            of perf.data: unwinds one stack in N (default: 100) again with libunwind and names its\n"
	"                              addresses again with libdw, and tells how many are equal\n" OPTIONS_MODE_HELP
		NAMING_HELP NAMING_PROFILE_HELP "  -h, --help                  this text\n"
	"\n"
	"Examples:\n"
	"  kelvin report kelvin.pb.gz\n"
	"  kelvin report kelvin.pb.gz -o report.html --folded stacks.txt\n"
	"\n"
	"Exit codes: 0 success, 2 usage or input error.\n";

static const struct option names[] = {
	OUTPUT_OPTIONS,
	{ "folded", optional_argument, NULL, OUTPUT_OPTION + OUTPUT_FOLDED },
	{ "benchmark", required_argument, NULL, OPTION_BENCHMARK },
	{ "metric", required_argument, NULL, OPTION_METRIC },
	{ "verify", optional_argument, NULL, OPTION_VERIFY },
	NAMING_OPTIONS,
	NAMING_PROFILE_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct request {
	struct options_switch *options;
	struct diff_options diff;
	struct outputs outputs;
	uint32_t verify_every;
	struct naming naming;
	const char *benchmark; /* borrowed: the only one that is shown; NULL: all */
};

static bool cmd_report_take(void *context, int option, struct error *err)
{
	struct request *request = context;
	bool is_taken;

	if (!outputs_take(&request->outputs, request->options, option, &is_taken, err))
		return false;
	if (is_taken)
		return true;
	if (option == OPTION_VERIFY)
		return verification_parse(optarg, &request->verify_every, err);
	if (option == OPTION_BENCHMARK) {
		request->benchmark = optarg;
		return true;
	}
	if (option != OPTION_METRIC)
		return naming_take(&request->naming, option, err);
	request->diff.metric = request->outputs.folded_metric = optarg;
	return true;
}

/* A profile with benchmarks is shown benchmark by benchmark. */
static bool show_suite(
	const struct request *request, const struct profile *profile, const char *name, struct error *err)
{
	const struct diff_suite_options options = { .diff = request->diff };
	const char *const sides[DIFF_SIDES] = { [DIFF_HEAD] = name };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	CLEANUP(suite_view_deinit) struct suite_view view = { 0 };
	bool done;

	if (!suite_view_check(profile, name, err) || !diff_suite_create(NULL, profile, &options, &suite, err))
		return false;
	done = request->benchmark ? suite_view_one(&view, suite, request->benchmark, sides, err)
				  : suite_view_all(&view, &request->outputs, suite, sides, err);
	return done && suite_view_write(&view, &request->outputs, err);
}

/* What is done with an open profile, in a worker if it needs no more than that. */
struct showing {
	struct request *request;
	const char *name;
	const struct load_inputs *inputs;
	const struct load_options *options;
};

static bool show(const struct showing *showing, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct request *request = showing->request;
	bool names_only = showing->options->naming.names_only, needs_diff;
	struct render_input input;

	if (!load_read(showing->inputs, showing->options, &profile, err) ||
		!symbolize_idle_lives(&profile, 1, &showing->options->naming, err))
		return false;
	if (request->benchmark || (profile_has_parts(profile) && !names_only))
		return show_suite(request, profile, showing->name, err);
	/*
	 * Folded stacks are written from the profile without a diff. An empty profile or a missing metric must still be
	 * refused, which the diff does.
	 */
	needs_diff = !names_only || request->diff.metric || profile->quality.samples == 0;
	if (needs_diff && !diff_create_single(profile, &request->diff, &diff, err))
		return false;
	input = (struct render_input){
		.diff = diff,
		.profiles = { [DIFF_HEAD] = profile },
		.names = { [DIFF_HEAD] = showing->name },
		.tool = CLI_TOOL,
		.origin_rule_text = output_rule_text,
	};
	return outputs_write(&request->outputs, &input, err);
}

static int cmd_report_work(void *context)
{
	struct error err;

	if (show(context, &err))
		return CLI_EXIT_OK;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

static bool report(struct request *request, const char *name, int *code, struct error *err)
{
	CLEANUP(load_inputs_deinit) struct load_inputs inputs = { 0 };
	struct load_options options = {
		.naming = { .fingerprints = SYMBOLIZE_FINGERPRINT_UNNAMED },
		.metric = request->diff.metric,
		.verify_every = request->verify_every,
	};
	struct showing showing = { request, name, &inputs, &options };
	struct worker_output files[OUTPUT_KIND_COUNT];
	struct worker worker = { .subject = name, .outputs = files, .output_count = OUTPUT_KIND_COUNT };

	if (!outputs_check(&request->outputs, err) || !outputs_spare(&request->outputs, name, err) ||
		!naming_prepare(&request->naming, &options.naming, err))
		return false;
	options.naming.names_only = outputs_show_names_only(&request->outputs);
	if (!load_open(name, &options, &inputs, err))
		return false;
	if (!load_are_named(&inputs)) {
		*code = cmd_report_work(&showing);
		return true;
	}
	outputs_list(&request->outputs, files);
	worker.inputs = inputs.descriptors;
	worker.input_count = inputs.count;
	request->outputs.worker = &worker;
	return worker_run(&worker, cmd_report_work, &showing, code, err);
}

static int cmd_report_run(struct request *request, struct options_switch *options)
{
	struct error err;
	int code;

	request->options = options;
	options_count_spare(options, 1);
	if (!options_read_switch(options, help, cmd_report_take, request, &code))
		return code;
	if (options->argc - optind != 1)
		return options_fail("report", "one profile is needed; %d given", options->argc - optind);
	if (report(request, options->argv[optind], &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

static int cmd_report_main(int argc, char **argv)
{
	struct options_switch options = { argc, argv, "report", ":ho:", names };
	struct request request = { 0 };
	int code = cmd_report_run(&request, &options);

	naming_deinit(&request.naming);
	return code;
}

static int cmd_report_start(struct options *options)
{
	return cmd_report_main(options->argc, options->argv);
}

const struct cli_command cmd_report = {
	.name = "report",
	.summary = "show one profile",
	.rows = (const struct options_row[]){ { 0 } },
	.run = cmd_report_start,
};
