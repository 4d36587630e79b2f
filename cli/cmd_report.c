/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `kelvin report`: reads a profile, in a process without rights where it can, and writes it in the formats that are
 * asked for.
 */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/naming.h"
#include "cli/output.h"
#include "cli/question.h"
#include "cli/recordings.h"
#include "cli/suite_view.h"
#include "cli/verification.h"

static const char cmd_report_usage[] =
	"Usage: kelvin report PROFILE [OPTIONS]\n"
	"Shows one profile (Kelvin's, any pprof, OTLP, perf.data, the text of perf script, folded stacks, callgrind.out,\n"
	".cpuprofile, speedscope; '-': standard input), or the sum of several, separated by commas,\n"
	"or of those of a store: 'pyroscope+http://HOST:4040/?service=NAME&from=now-2h'.\n";

static const char cmd_report_notes[] = "Examples:\n"
				       "  kelvin report kelvin.pb.gz\n"
				       "  kelvin report kelvin.pb.gz -o report.html --folded stacks.txt\n"
				       "\n"
				       "Exit codes: 0 success, 2 usage or input error.\n";

struct cmd_report_request {
	struct diff_options diff;
	struct outputs outputs;
	struct question question;
	struct lines lines;
	uint32_t verify_every;
	struct naming naming;
	const char *benchmark; /* borrowed: the only one that is shown; NULL: all */
};

static const struct options_row cmd_report_rows[] = {
	{ .rows = output_rows, .at = offsetof(struct cmd_report_request, outputs) },
	{ 0, "json", "[FILE]", "schema kelvin.report/1",
		OPTIONS_OUTPUT(struct cmd_report_request, outputs.paths[OUTPUT_JSON]) },
	{ .rows = output_svg_rows, .at = offsetof(struct cmd_report_request, outputs) },
	{ 0, "folded", "[FILE]", "folded stacks for FlameGraph's tools",
		OPTIONS_OUTPUT(struct cmd_report_request, outputs.paths[OUTPUT_FOLDED]) },
	{ 0, "otlp", "FILE",
		"OTLP profiles for collectors and stores: protobuf, v1development of opentelemetry-proto\n1.10 and 1.11; gzipped where FILE ends in .gz",
		OPTIONS_OUTPUT(struct cmd_report_request, outputs.paths[OUTPUT_OTLP]) },
	{ .rows = question_option_rows, .at = offsetof(struct cmd_report_request, question) },
	{ .rows = lines_single_rows, .at = offsetof(struct cmd_report_request, lines) },
	{ .name = "Options:" },
	{ 0, "benchmark", "NAME", "of a profile with benchmarks: the functions of this one, by its name or URI",
		OPTIONS_TEXT(struct cmd_report_request, benchmark) },
	{ 0, "metric", "NAME",
		"which value to show: cpu, off-cpu, wall, idle, samples, or a sample type of a pprof\nfile (default: the profile's own)",
		OPTIONS_TEXT(struct cmd_report_request, diff.metric), .words = OUTPUT_METRICS },
	{ 0, "verify", "[=N]",
		"of perf.data: unwinds one stack in N (default: 100) again with libunwind and names its\n"
		"addresses again with libdw, and tells how many are equal",
		verification_take, offsetof(struct cmd_report_request, verify_every) },
	{ .rows = options_mode_rows, .at = offsetof(struct cmd_report_request, outputs.mode) },
	{ .rows = naming_rows, .at = offsetof(struct cmd_report_request, naming) },
	{ 0 },
};

/* A profile with benchmarks is shown benchmark by benchmark. */
static bool show_suite(
	const struct cmd_report_request *request, const struct profile *profile, const char *name, struct error *err)
{
	const struct diff_suite_options options = { .diff = request->diff };
	const char *const sides[DIFF_SIDES] = { [DIFF_HEAD] = name };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	CLEANUP(suite_view_deinit) struct suite_view view = { 0 };
	bool done;

	if (request->lines.functions && !request->benchmark)
		return error_set(
			err, ERROR_USAGE, "--list: the profile has benchmarks; choose one with --benchmark NAME");
	if (!suite_view_check(profile, name, err) || !diff_suite_create(NULL, profile, &options, &suite, err))
		return false;
	done = request->benchmark ? suite_view_one(&view, suite, request->benchmark, sides, err)
				  : suite_view_all(&view, &request->outputs, suite, sides, err);
	return done && suite_view_write(&view, &request->outputs, err);
}

static struct render_input cmd_report_input_of(const char *name)
{
	return (struct render_input){
		.names = { [DIFF_HEAD] = name }, .tool = CLI_TOOL, .origin_rule_text = output_rule_text
	};
}

/* Shows the part that the user asks about: folded stacks are those of the part as well. */
static bool show_answer(
	const struct cmd_report_request *request, const struct profile *profile, const char *name, struct error *err)
{
	CLEANUP(answer_deinit) struct answer answer = { 0 };
	struct render_question shown;
	struct render_input input = cmd_report_input_of(name);

	if (!question_answer(
		    &request->question, (const struct profile *[]){ NULL, profile }, &request->diff, &answer, err))
		return false;
	question_show(&request->question, &answer, &shown, &input);
	return outputs_write(&request->outputs, &input, err);
}

/* The report of an open profile, made in a worker. */
struct showing {
	struct cmd_report_request *request;
	struct recordings recordings;
	const char *name;
	const struct load_inputs *inputs;
	const struct load_options *options;
};

static void showing_deinit(struct showing *showing)
{
	recordings_deinit(&showing->recordings);
}

static bool cmd_report_show(const struct showing *showing, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct cmd_report_request *request = showing->request;
	bool names_only = showing->options->naming.names_only, needs_diff;
	const struct render_question question = question_shown(&request->question);
	struct render_input input = cmd_report_input_of(showing->name);

	if (!load_read(showing->inputs, showing->options, &profile, err) ||
		!symbolize_idle_lives(&profile, 1, &showing->options->naming, err))
		return false;
	if (request->benchmark && question_is_asked(&request->question))
		return error_set(err, ERROR_USAGE,
			"--benchmark shows all of a benchmark; leave it out, or ask with --where benchmark=NAME");
	if (question_is_asked(&request->question) && !question_is_of_benchmarks(&request->question, profile))
		return show_answer(request, profile, showing->name, err);
	if (request->benchmark || (profile_has_phases(profile) && !names_only))
		return show_suite(request, profile, showing->name, err);
	/*
	 * Folded stacks are written from the profile without a diff. An empty profile or a missing metric must still be
	 * refused, which the diff does.
	 */
	needs_diff = !names_only || request->diff.metric || profile->quality.samples == 0;
	if (needs_diff && !diff_create_single(profile, &request->diff, &diff, err))
		return false;
	for (size_t i = 0; names_only && i < profile->notes.count; i++)
		cli_say("kelvin: %s: %s\n", showing->name, profile_string(profile, profile->notes.texts[i]));
	input.diff = diff;
	input.profiles[DIFF_HEAD] = profile;
	input.question = &question;
	return outputs_write(&request->outputs, &input, err);
}

static int cmd_report_work(void *context)
{
	struct error err;

	if (cmd_report_show(context, &err))
		return CLI_EXIT_OK;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

/* Answers what the process without rights may ask of this one. */
static int cmd_report_answer_worker(void *context, const void *bytes, size_t size, struct error *err)
{
	struct showing *showing = context;

	return recordings_are_asked(bytes, size) ? recordings_answer(&showing->recordings, bytes, size, err)
						 : texts_answer(&showing->request->lines.texts, bytes, size);
}

static bool report(struct cmd_report_request *request, const char *name, struct store_secrets *secrets, int *code,
	struct error *err)
{
	CLEANUP(load_inputs_deinit) struct load_inputs inputs = { 0 };
	CLEANUP(cleanup_free) char *title = NULL;
	struct load_options options = {
		.naming = { .fingerprints = SYMBOLIZE_FINGERPRINT_UNNAMED },
		.metric = request->diff.metric,
		.verify_every = request->verify_every,
		.secrets = secrets,
	};
	CLEANUP(showing_deinit)
	struct showing showing = { .request = request, .inputs = &inputs, .options = &options };
	const struct load_inputs *const sides[] = { &inputs, NULL };
	struct worker_output files[OUTPUT_KIND_COUNT];
	struct worker worker = { .outputs = files,
		.output_count = OUTPUT_KIND_COUNT,
		.answer = cmd_report_answer_worker,
		.context = &showing };

	if (!question_check(&request->question, err) || !outputs_check(&request->outputs, err) ||
		!outputs_spare(&request->outputs, name, err) ||
		!naming_prepare(&request->naming, &options.naming, err) || !lines_prepare(&request->lines, err))
		return false;
	options.naming.names_only = outputs_show_names_only(&request->outputs);
	recordings_init(&showing.recordings, sides);
	if (request->verify_every == 0)
		options.opener = &showing.recordings.opener;
	if (!load_open(name, &options, &inputs, err))
		return false;
	title = load_title(name, &inputs);
	if (!title)
		return error_set_memory(err);
	showing.name = worker.subject = title;
	store_secrets_deinit(secrets);
	/* The libraries by which --verify checks open files themselves. */
	if (request->verify_every > 0 && !load_are_named(&inputs)) {
		*code = cmd_report_work(&showing);
		return true;
	}
	recordings_serve(&showing.recordings, &worker, &options.naming);
	outputs_list(&request->outputs, files);
	worker.inputs = inputs.descriptors;
	worker.input_count = inputs.count;
	request->outputs.worker = &worker;
	return worker_run(&worker, cmd_report_work, &showing, code, err);
}

static void cmd_report_request_deinit(struct cmd_report_request *request)
{
	naming_deinit(&request->naming);
	lines_deinit(&request->lines);
}

static int cmd_report_run(struct options *options)
{
	CLEANUP(cmd_report_request_deinit) struct cmd_report_request request = { 0 };
	CLEANUP(store_secrets_deinit) struct store_secrets secrets = { 0 };
	struct error err;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	request.outputs.folded_metric = request.diff.metric;
	request.outputs.max_lines = request.question.max_lines;
	request.outputs.lines = &request.lines;
	if (options->argc - optind != 1)
		return options_fail("report", "one profile is needed; %d given", options->argc - optind);
	if (load_take_secrets(options->argv + optind, 1, &secrets, &err) &&
		report(&request, options->argv[optind], &secrets, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

const struct cli_command cmd_report = {
	.name = "report",
	.summary = "show one profile",
	.usage = cmd_report_usage,
	.rows = cmd_report_rows,
	.notes = cmd_report_notes,
	.word = "FILE",
	.needed_words = 1,
	.run = cmd_report_run,
};
