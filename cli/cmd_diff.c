/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin diff`: reads the profiles of both sides, in a process without rights where it can, and compares them. */
#include "cli/cli.h"
#include "cli/comparison.h"
#include "cli/load.h"
#include "cli/recordings.h"
#include "cli/suite_view.h"

#include <string.h>

static const char cmd_diff_usage[] =
	"Usage: kelvin diff BASE HEAD [OPTIONS]\n"
	"Compares two profiles: which functions take more or less time, and which of the changes are proven.\n"
	"BASE and HEAD are profiles (Kelvin's, any pprof, OTLP, perf.data, the text of perf script, folded stacks, callgrind.out,\n"
	".cpuprofile, speedscope), '-' for standard input, or several profiles of the same program separated by commas;\n"
	"or the address of a store with a query, as 'pyroscope+http://HOST:4040/?service=NAME&from=now-2h'.\n"
	"'man kelvin' has a glossary: share, point, proven, load.\n";

static const char cmd_diff_notes[] = "Examples:\n"
				     "  kelvin diff before.pb.gz after.pb.gz -o diff.html\n"
				     "  kelvin diff b1.pb.gz,b2.pb.gz,b3.pb.gz h1.pb.gz,h2.pb.gz,h3.pb.gz\n"
				     "  kelvin diff base.pb.gz head.pb.gz --fail-on 'total>2%' --markdown comment.md\n"
				     "\n" COMPARISON_EXIT_HELP;

static const struct options_row cmd_diff_rows[] = {
	{ .rows = comparison_output_rows },
	{ .rows = question_option_rows, .at = offsetof(struct comparison, question) },
	{ .rows = lines_rows, .at = offsetof(struct comparison, lines) },
	{ .name = "Options:" },
	{ 0, "benchmark", "NAME", "of profiles with benchmarks: the functions of this one, by its name or URI",
		OPTIONS_TEXT(struct comparison, benchmark) },
	{ .rows = comparison_rows },
	{ 0 },
};

/* Two profiles with benchmarks are compared benchmark by benchmark; any others as a whole. */
static bool cmd_diff_compare_profiles(struct comparison *comparison, const struct profile *base,
	const struct profile *head, char *const *sides, int *code, struct error *err)
{
	const char *const called[DIFF_SIDES] = { sides[DIFF_BASE], sides[DIFF_HEAD] };
	CLEANUP(profile_cleanup) struct profile *joined_base = NULL;
	CLEANUP(profile_cleanup) struct profile *joined_head = NULL;

	if (comparison->benchmark && question_is_asked(&comparison->question))
		return error_set(err, ERROR_USAGE,
			"--benchmark shows all of a benchmark; leave it out, or ask with --where benchmark=NAME");
	if (comparison->benchmark &&
		(!suite_view_check(base, called[DIFF_BASE], err) || !suite_view_check(head, called[DIFF_HEAD], err)))
		return false;
	if (question_is_asked(&comparison->question) && !question_is_of_benchmarks(&comparison->question, head))
		return comparison_answer(comparison, (const struct profile *[]){ base, head }, called, code, err);
	if (comparison->lines.functions && !comparison->benchmark && profile_has_phases(base) &&
		profile_has_phases(head))
		return error_set(
			err, ERROR_USAGE, "--list: the profiles have benchmarks; choose one with --benchmark NAME");
	if (comparison_has_suites((const struct profile *[]){ base, head }, called))
		return comparison_run_suite(
			comparison, (const struct profile *[]){ base, head }, called, false, code, err);
	if (!profile_join_phases(base, &joined_base, err) || !profile_join_phases(head, &joined_head, err))
		return false;
	return comparison_run(comparison,
		(const struct profile *[]){ joined_base ? joined_base : base, joined_head ? joined_head : head },
		called, code, err);
}

/* The comparison of open profiles, made in a worker. */
struct comparing {
	struct comparison *comparison;
	char *const *sides;
	const struct load_inputs *inputs; /* [side] */
	struct load_options *options;
	struct recordings recordings;
};

static int cmd_diff_work(void *context)
{
	const struct comparing *comparing = context;
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	struct error err;
	int code;

	if (load_read(&comparing->inputs[DIFF_BASE], comparing->options, &base, &err) &&
		load_read(&comparing->inputs[DIFF_HEAD], comparing->options, &head, &err) &&
		weights_unify(base, head, &err) &&
		symbolize_idle_lives(
			(struct profile *[]){ base, head }, DIFF_SIDES, &comparing->options->naming, &err) &&
		cmd_diff_compare_profiles(comparing->comparison, base, head, comparing->sides, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

/* Answers what the process without rights may ask of this one. */
static int cmd_diff_answer_worker(void *context, const void *bytes, size_t size, struct error *err)
{
	struct comparing *comparing = context;

	if (recordings_are_asked(bytes, size))
		return recordings_answer(&comparing->recordings, bytes, size, err);
	if (commit_range_is_asked(bytes, size))
		return commit_range_answer(&comparing->comparison->range, bytes, size);
	return texts_answer(&comparing->comparison->lines.texts, bytes, size);
}

/* One child process reads both sides, as it compares them. */
static bool compare_confined(struct comparing *comparing, int *code, struct error *err)
{
	const struct load_inputs *base = &comparing->inputs[DIFF_BASE], *head = &comparing->inputs[DIFF_HEAD];
	CLEANUP(cleanup_free) int *descriptors = calloc(base->count + head->count, sizeof(*descriptors));
	CLEANUP(cleanup_free) char *subject = NULL;
	struct worker_output files[OUTPUT_KIND_COUNT];
	struct worker worker = { .inputs = descriptors,
		.input_count = base->count + head->count,
		.outputs = files,
		.output_count = OUTPUT_KIND_COUNT };

	if (!descriptors ||
		asprintf(&subject, "%s and %s", comparing->sides[DIFF_BASE], comparing->sides[DIFF_HEAD]) < 0)
		return error_set_memory(err);
	memcpy(descriptors, base->descriptors, base->count * sizeof(*descriptors));
	memcpy(descriptors + base->count, head->descriptors, head->count * sizeof(*descriptors));
	outputs_list(&comparing->comparison->outputs, files);
	worker.subject = subject;
	worker.answer = cmd_diff_answer_worker;
	worker.context = comparing;
	comparing->comparison->outputs.worker = &worker;
	recordings_serve(&comparing->recordings, &worker, &comparing->options->naming);
	return worker_run(&worker, cmd_diff_work, comparing, code, err);
}

static bool compare_opened(struct comparing *comparing, int *code, struct error *err)
{
	CLEANUP(cleanup_free) char *base = load_title(comparing->sides[DIFF_BASE], &comparing->inputs[DIFF_BASE]);
	CLEANUP(cleanup_free) char *head = load_title(comparing->sides[DIFF_HEAD], &comparing->inputs[DIFF_HEAD]);
	char *const titles[DIFF_SIDES] = { base, head };

	if (!base || !head)
		return error_set_memory(err);
	comparing->sides = titles;
	return compare_confined(comparing, code, err);
}

/* Opens both sides; secrets are gone before a process begins that reads them. */
static bool open_sides(
	struct comparing *comparing, struct load_inputs *inputs, struct store_secrets *secrets, struct error *err)
{
	bool done = load_open(comparing->sides[DIFF_BASE], comparing->options, &inputs[DIFF_BASE], err) &&
		    load_open(comparing->sides[DIFF_HEAD], comparing->options, &inputs[DIFF_HEAD], err);

	store_secrets_deinit(secrets);
	return done;
}

static bool cmd_diff_compare(
	struct comparison *comparison, char *const *sides, struct store_secrets *secrets, int *code, struct error *err)
{
	struct load_options options = { .metric = comparison->diff.metric, .secrets = secrets };
	struct load_inputs inputs[DIFF_SIDES] = { 0 };
	const struct load_inputs *const listed[] = { &inputs[DIFF_BASE], &inputs[DIFF_HEAD], NULL };
	struct comparing comparing = {
		.comparison = comparison, .sides = sides, .inputs = inputs, .options = &options
	};
	bool done;

	recordings_init(&comparing.recordings, listed);
	options.opener = &comparing.recordings.opener;
	done = question_check(&comparison->question, err) && outputs_check(&comparison->outputs, err) &&
	       outputs_spare(&comparison->outputs, sides[DIFF_BASE], err) &&
	       outputs_spare(&comparison->outputs, sides[DIFF_HEAD], err) &&
	       naming_prepare(&comparison->naming, &options.naming, err) && lines_prepare(&comparison->lines, err) &&
	       comparison_open_range(comparison, err) && open_sides(&comparing, inputs, secrets, err) &&
	       compare_opened(&comparing, code, err) &&
	       (*code == CLI_EXIT_ERROR || comparison_confirm(comparison, err));

	for (size_t i = 0; i < DIFF_SIDES; i++)
		load_inputs_deinit(&inputs[i]);
	recordings_deinit(&comparing.recordings);
	return done;
}

static int cmd_diff_run(struct options *options)
{
	CLEANUP(comparison_deinit) struct comparison comparison = { .diff.scale = DIFF_SCALE_AUTO };
	CLEANUP(store_secrets_deinit) struct store_secrets secrets = { 0 };
	struct error err;
	int code;

	if (!options_read(options, &comparison, &code))
		return code;
	comparison.outputs.lines = &comparison.lines;
	if (options->argc - optind != DIFF_SIDES)
		return options_fail("diff", "two profiles are needed, BASE and HEAD; %d given", options->argc - optind);
	if (strcmp(options->argv[optind], "-") == 0 && strcmp(options->argv[optind + 1], "-") == 0)
		return options_fail("diff", "only one of BASE and HEAD can come from standard input");
	if (load_take_secrets(options->argv + optind, DIFF_SIDES, &secrets, &err) &&
		cmd_diff_compare(&comparison, options->argv + optind, &secrets, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.summary = "compare two profiles: where did the time go?",
	.usage = cmd_diff_usage,
	.rows = cmd_diff_rows,
	.notes = cmd_diff_notes,
	.word = "FILE",
	.needed_words = DIFF_SIDES,
	.run = cmd_diff_run,
};
