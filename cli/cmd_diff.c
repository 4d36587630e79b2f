/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/naming.h"
#include "cli/output.h"

#include <string.h>

enum {
	OPTION_TEXT = OPTIONS_LONG_ONLY,
	OPTION_JSON,
	OPTION_MARKDOWN,
	OPTION_SVG,
	OPTION_SCALE,
	OPTION_METRIC,
	OPTION_MIN_EFFECT,
	OPTION_FAIL_ON,
	OPTION_IGNORE_WARNINGS,
	OPTION_PROJECT_ROOT,
	OPTION_ORIGIN_RULES,
	MAX_GATES = 1000,
};

static const char help[] =
	"Usage: kelvin diff BASE HEAD [OPTIONS]\n"
	"Compares two profiles: which functions take more or less time, and what of it is proven.\n"
	"BASE and HEAD are profiles (Kelvin's, any pprof, folded stacks), '-' for standard input, or several joined by\n"
	"commas: runs of the same program.\n"
	"\n"
	"Output, several at once; a FILE of '-', or none, is standard output:\n"
	"  -o, --output FILE           a self-contained HTML page\n"
	"      --text [FILE]           text (the default when no output is named)\n"
	"      --json [FILE]           schema kelvin.diff/1\n"
	"      --markdown [FILE]       for a pull request\n"
	"      --svg [FILE]            a static flame graph\n"
	"\n"
	"Options:\n"
	"      --scale MODE            auto, per-run, robust, share, rate or work=BASE:HEAD (default: auto)\n"
	"      --metric NAME           which value to compare, as cpu or samples (default: the profiles' own)\n"
	"      --min-effect POINTS     least difference that matters, in percent of the total (default: 0.1)\n"
	"      --fail-on RULE          total>2%, function>5% or function:NAME>1%; repeatable\n"
	"      --ignore-warnings       judges --fail-on although the recordings are hardly comparable\n"
	"      --project-root DIR      sources below DIR are the user's own; repeatable\n"
	"      --origin-rules FILE     rules that decide what is user, library or system\n"
	"  -h, --help                  this text\n"
	"\n"
	"Examples:\n"
	"  kelvin diff before.pb.gz after.pb.gz -o diff.html\n"
	"  kelvin diff b1.pb.gz,b2.pb.gz,b3.pb.gz h1.pb.gz,h2.pb.gz,h3.pb.gz\n"
	"  kelvin diff base.pb.gz head.pb.gz --fail-on 'total>2%' --markdown comment.md\n"
	"\n"
	"Exit codes: 0 not regressed (with --fail-on: within its limits), 1 regressed, 2 usage or input error,\n"
	"3 inconclusive.\n";

static const struct option names[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "text", optional_argument, NULL, OPTION_TEXT },
	{ "json", optional_argument, NULL, OPTION_JSON },
	{ "markdown", optional_argument, NULL, OPTION_MARKDOWN },
	{ "svg", optional_argument, NULL, OPTION_SVG },
	{ "scale", required_argument, NULL, OPTION_SCALE },
	{ "metric", required_argument, NULL, OPTION_METRIC },
	{ "min-effect", required_argument, NULL, OPTION_MIN_EFFECT },
	{ "fail-on", required_argument, NULL, OPTION_FAIL_ON },
	{ "ignore-warnings", no_argument, NULL, OPTION_IGNORE_WARNINGS },
	{ "project-root", required_argument, NULL, OPTION_PROJECT_ROOT },
	{ "origin-rules", required_argument, NULL, OPTION_ORIGIN_RULES },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct request {
	struct options *options;
	struct diff_options diff;
	struct diff_gate *gates; /* owned */
	size_t gate_count, gate_capacity;
	struct outputs outputs;
	struct naming naming;
};

static bool add_gate(struct request *request, const char *text, struct error *err)
{
	if (!ARRAY_RESERVE(&request->gates, &request->gate_capacity, request->gate_count + 1, MAX_GATES, err) ||
		!diff_gate_parse(text, &request->gates[request->gate_count], err))
		return false;
	request->gate_count++;
	return true;
}

static bool take_output(struct request *request, int option, struct error *err)
{
	const char **paths = request->outputs.paths;

	switch (option) {
	case 'o':
		paths[OUTPUT_HTML] = optarg;
		return true;
	case OPTION_TEXT:
		paths[OUTPUT_TEXT] = options_take_file(request->options);
		return true;
	case OPTION_JSON:
		paths[OUTPUT_JSON] = options_take_file(request->options);
		return true;
	case OPTION_MARKDOWN:
		paths[OUTPUT_MARKDOWN] = options_take_file(request->options);
		return true;
	case OPTION_SVG:
		paths[OUTPUT_SVG] = options_take_file(request->options);
		return true;
	default:
		return error_set(err, ERROR_USAGE, "unknown option");
	}
}

static bool take(struct request *request, int option, struct error *err)
{
	switch (option) {
	case OPTION_SCALE:
		return diff_scale_parse(optarg, &request->diff.scale, request->diff.work, err);
	case OPTION_METRIC:
		request->diff.metric = optarg;
		return true;
	case OPTION_MIN_EFFECT:
		return options_parse_positive("--min-effect", optarg, &request->diff.min_effect_points, err);
	case OPTION_FAIL_ON:
		return add_gate(request, optarg, err);
	case OPTION_IGNORE_WARNINGS:
		request->diff.gates_ignore_warnings = true;
		return true;
	case OPTION_PROJECT_ROOT:
		return options_list_add(&request->naming.roots, optarg, err);
	case OPTION_ORIGIN_RULES:
		request->naming.rules_path = optarg;
		return true;
	default:
		return take_output(request, option, err);
	}
}

static int exit_code(const struct diff *diff, bool has_gates)
{
	if (has_gates ? diff->gate_failed : diff->verdict == DIFF_REGRESSED)
		return CLI_EXIT_REGRESSED;
	return diff->verdict == DIFF_INCONCLUSIVE ? CLI_EXIT_INCONCLUSIVE : CLI_EXIT_OK;
}

static bool compare(struct request *request, char *const *sides, int *code, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct symbolize_options options = { 0 };
	struct render_input input;

	request->diff.gates = request->gates;
	request->diff.gate_count = request->gate_count;
	if (!outputs_check(&request->outputs, err) || !naming_prepare(&request->naming, &options, err) ||
		!load_profiles(sides[DIFF_BASE], &options, &base, err) || !load_profiles(sides[DIFF_HEAD], &options, &head, err) ||
		!diff_create(base, head, &request->diff, &diff, err))
		return false;
	input = (struct render_input){
		.diff = diff,
		.profiles = { base, head },
		.names = { sides[DIFF_BASE], sides[DIFF_HEAD] },
		.tool = CLI_TOOL,
		.origin_rule_text = output_rule_text,
	};
	if (!outputs_write(&request->outputs, &input, err))
		return false;
	if (!outputs_use_stdout(&request->outputs))
		printf("%s: %s\n", diff_verdict_name(diff->verdict), diff_string(diff, diff->verdict_text));
	*code = exit_code(diff, request->gate_count > 0);
	return true;
}

static int run(struct request *request, struct options *options)
{
	struct error err;
	int option, code;

	request->options = options;
	options_count_spare(options, DIFF_SIDES);
	while ((option = options_next(options)) != OPTIONS_END) {
		if (option == OPTIONS_WRONG)
			return CLI_EXIT_ERROR;
		if (option == 'h') {
			fputs(help, stdout);
			return CLI_EXIT_OK;
		}
		if (!take(request, option, &err))
			return options_fail("diff", "%s", err.message);
	}
	if (options->argc - optind != DIFF_SIDES)
		return options_fail("diff", "two profiles are needed, BASE and HEAD, not %d", options->argc - optind);
	if (strcmp(options->argv[optind], "-") == 0 && strcmp(options->argv[optind + 1], "-") == 0)
		return options_fail("diff", "only one side can come from standard input");
	if (compare(request, options->argv + optind, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

int cmd_diff(int argc, char **argv)
{
	struct options options = { argc, argv, "diff", ":ho:", names };
	struct request request = { .diff.scale = DIFF_SCALE_AUTO };
	int code = run(&request, &options);

	free(request.gates);
	naming_deinit(&request.naming);
	return code;
}
