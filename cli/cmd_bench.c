/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin bench`: runs two commands alternately until there are enough runs of each, and compares their profiles. */
#include "cli/bench_looks.h"
#include "cli/bench_run.h"
#include "cli/cli.h"
#include "cli/comparison.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/sampling.h"

#include <string.h>

enum {
	MOST_PAD_BYTES = 4096,
	MAX_FIGURES_BYTES = 1 << 20,
	FIGURES_INDENT = 4,
};

static const char cmd_bench_usage[] =
	"Usage: kelvin bench BASE HEAD [OPTIONS]\n"
	"       kelvin bench --base COMMAND --head COMMAND [OPTIONS]\n"
	"Runs two commands alternately, records every run, and shows which functions take more or less time, and which of the\n"
	"changes are proven. A command with quotes or anything else that is special to a shell is run by /bin/sh.\n";

static const char cmd_bench_notes[] =
	"Examples:\n"
	"  kelvin bench ./old ./new\n"
	"  kelvin bench --base './old input.json' --head './new input.json'\n"
	"  kelvin bench --base ./old --head ./new --runs 20 -o bench.html --fail-on 'total>2%'\n"
	"  kelvin bench --layouts 8 --build-base 'make -C old OUT=old-{layout}' --build-head 'make -C new OUT=new-{layout}' \\\n"
	"    old/old-{layout} new/new-{layout}\n"
	"  kelvin bench --benchmarks --base 'pytest --codspeed old/' --head 'pytest --codspeed new/' -o bench.html\n"
	"\n" COMPARISON_EXIT_HELP;

struct cmd_bench_request {
	struct comparison comparison;
	const char *commands[DIFF_SIDES], *builds[DIFF_SIDES], *setup, *prepare, *save;
	uint64_t layouts; /* 0: layouts are not told apart */
	bool control, no_pad;
	struct bench_goal goal;
	uint64_t warmup;
	struct simulator_cache caches[SIMULATOR_CACHES]; /* all zero: not given */
	bool simulates;
	bool folds_recursion;
	bool benchmarks; /* the commands are suites */
	struct sampler_options sampler;
	bool quiet;
};

struct bench {
	const struct cmd_bench_request *request;
	struct bench_runner runner;
	struct bench_plan plan;
	struct bench_commands commands[DIFF_SIDES], prepare;
	struct bench_runs runs;
	struct profile *profiles[DIFF_SIDES]; /* owned; all runs of a side */
	struct progress progress;
	struct bench_looks looks;
	bool is_cut_short; /* a signal came before all were done */
};

static void bench_deinit(struct bench *bench)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		bench_commands_deinit(&bench->commands[side]);
		profile_destroy(bench->profiles[side]);
	}
	bench_runs_deinit(&bench->runs);
	bench_looks_deinit(&bench->looks);
	bench_commands_deinit(&bench->prepare);
	bench_runner_deinit(&bench->runner);
}

/* ---- Runs ---- */

static int cmd_bench_side_of(enum bench_arm arm)
{
	return arm == BENCH_HEAD ? DIFF_HEAD : DIFF_BASE;
}

/* The environment that the next run has. */
static bool cmd_bench_set_environment(struct bench *bench, uint32_t layout, bool is_padded, struct error *err)
{
	int pad = is_padded && !bench->request->no_pad ? (int)bench_plan_draw(&bench->plan, MOST_PAD_BYTES) : -1;

	return bench_layout_set(bench->request->layouts > 0 ? layout : 0, err) && bench_pad_set(pad, err);
}

/* Prepares a run, which `what` names. */
static bool cmd_bench_prepare(struct bench *bench, uint32_t layout, const char *what, struct error *err)
{
	char text[160];

	if (!cmd_bench_set_environment(bench, layout, false, err) ||
		(bench->prepare.items &&
			!bench_run(&bench->runner, &bench->prepare.items[layout - 1], "--prepare", err)))
		return error_prefix(err, "before %s", what);
	bench_runs_describe(&bench->runs, what, text, sizeof(text));
	progress_phase(&bench->progress, text);
	return true;
}

static bool bench_make_run(struct bench *bench, enum bench_arm arm, uint32_t layout, uint64_t number, struct error *err)
{
	const struct bench_command *command = &bench->commands[cmd_bench_side_of(arm)].items[layout - 1];
	struct bench_record record;
	char what[96], of_layout[32] = "";

	if (bench->request->layouts > 0)
		snprintf(of_layout, sizeof(of_layout), " in layout %u", layout);
	snprintf(what, sizeof(what), "run %llu of %s%s", (unsigned long long)number, bench_arm_name(arm), of_layout);
	if (!cmd_bench_prepare(bench, layout, what, err) || !cmd_bench_set_environment(bench, layout, true, err) ||
		!bench_record(&bench->runner, command, what, &record, err))
		return false;
	record.layout = bench->request->layouts > 0 ? layout : 0;
	return bench_runs_add(&bench->runs, arm, &record, err);
}

static bool warm_up(struct bench *bench, struct error *err)
{
	for (uint64_t i = 0; i < bench->request->warmup; i++)
		for (int side = 0; side < DIFF_SIDES; side++) {
			uint32_t layout = (uint32_t)(i % bench->plan.layouts) + 1;
			char what[64];

			snprintf(what, sizeof(what), "warm-up run %llu of %s", (unsigned long long)i + 1,
				diff_side_name(side));
			if (!cmd_bench_prepare(bench, layout, what, err) ||
				!bench_run(&bench->runner, &bench->commands[side].items[layout - 1], what, err))
				return false;
		}
	return true;
}

/* What was measured until a signal came is worth as much as ever; it is only less than was asked for. */
static bool cut_short(struct bench *bench, struct error *err)
{
	if (!interrupt_signal() || bench->runs.pairs == 0)
		return false;
	bench->is_cut_short = true;
	progress_clear(&bench->progress);
	cli_say("kelvin: %s: the result compares the %llu pair%s of runs that %s completed\n", err->message,
		(unsigned long long)bench->runs.pairs, bench->runs.pairs == 1 ? "" : "s",
		bench->runs.pairs == 1 ? "was" : "were");
	return true;
}

/* Finds out whether all is decided, when it is time to look; what is, is run no more. */
static bool cmd_bench_look(struct bench *bench, struct error *err)
{
	const struct diff_suite_options options = comparison_suite_options(&bench->request->comparison, true);

	if (!bench->request->goal.until_decided || !diff_suite_is_look(bench->runs.pairs))
		return true;
	return bench_looks_take(&bench->looks, &bench->runs, &options, err);
}

static bool make_turn(struct bench *bench, const struct bench_turn *turn, struct error *err)
{
	for (size_t i = 0; i < turn->count; i++)
		if (!bench_make_run(bench, turn->arms[i], turn->layouts[turn->arms[i]], bench->runs.pairs + 1, err))
			return false;
	bench->runs.pairs++;
	return true;
}

/* The same; a suite that fails where some of its benchmarks are left out, as one without any may, is run with all. */
static bool make_next_turn(struct bench *bench, const struct bench_turn *turn, struct error *err)
{
	if (make_turn(bench, turn, err))
		return true;
	return !interrupt_signal() && bench_looks_run_all(&bench->looks) && make_turn(bench, turn, err);
}

/* ---- What is compared: CPU time, or the time on the clock ---- */

/* Returns whether the user leaves it to us. */
static bool chooses_clock(const struct cmd_bench_request *request)
{
	const struct sampler_options *sampler = &request->sampler;

	return !request->simulates && !request->benchmarks && !request->comparison.diff.metric && !sampler->event &&
	       sampler->off_cpu_ns == 0;
}

static void say_clock(struct bench *bench, const struct bench_clock *clock)
{
	progress_clear(&bench->progress);
	cli_say("kelvin: a run takes %.0f ms on the clock and %.0f ms of CPU time, so that elapsed time is recorded and compared; --metric cpu compares CPU time\n",
		clock->elapsed / 1e6, clock->cpu / 1e6);
}

/*
 * After the first turn: if its clock tells another time than CPUs do, the turn is made once more with its elapsed time.
 * That tells whether the machine was busy, which is no reason to compare it.
 */
static bool choose_clock(struct bench *bench, const struct bench_turn *turn, struct error *err)
{
	const struct sampler_options plain = bench->runner.sampler;
	struct bench_clock clock;
	bool differs;

	if (bench->runs.pairs != 1 || !chooses_clock(bench->request))
		return true;
	if (!bench_runs_clock(&bench->runs, &clock, &differs, err))
		return false;
	if (!differs)
		return true;
	sampling_add_elapsed(&bench->runner.sampler);
	if (!make_turn(bench, turn, err) || !bench_runs_clock(&bench->runs, &clock, &differs, err))
		return false;
	/* Where nobody may sample waits there is no elapsed time. */
	differs = differs && clock.is_recorded;
	bench_runs_keep_turn(&bench->runs, turn, differs);
	if (differs)
		say_clock(bench, &clock);
	else
		bench->runner.sampler = plain;
	return true;
}

/* Returns whether the turn at hand is only a warm-up: a suite's first, where the user asked for no other one. */
static bool is_warmup(struct bench *bench)
{
	return bench->request->goal.until_decided && bench->request->warmup == 0 && bench_looks_warm_up(&bench->looks);
}

static bool make_runs(struct bench *bench, struct error *err)
{
	const char *metric = bench->request->comparison.diff.metric;

	if (!warm_up(bench, err))
		return false;
	bench_runs_begin(&bench->runs);
	while (!bench_runs_are_enough(&bench->runs)) {
		struct bench_turn turn = bench_plan_turn(&bench->plan, bench->runs.pairs);

		if (!make_next_turn(bench, &turn, err) || !choose_clock(bench, &turn, err))
			return cut_short(bench, err);
		if (metric && bench->runs.pairs == 1 && !bench_runs_check_metric(&bench->runs, metric, err))
			return false;
		if (is_warmup(bench)) {
			bench_runs_begin(&bench->runs);
		} else if (!cmd_bench_look(bench, err)) {
			return false;
		}
	}
	return true;
}

/* ---- Before and after ---- */

static void set_up_runner(struct bench *bench)
{
	const struct cmd_bench_request *request = bench->request;

	bench->runner.simulates = request->simulates;
	bench->runner.benchmarks = request->benchmarks;
	bench->runner.simulated.has_benchmarks = request->benchmarks;
	bench->runner.simulated.folds_recursion = request->folds_recursion;
	bench->runner.simulated.no_arguments = request->sampler.no_arguments;
	memcpy(bench->runner.simulated.caches, request->caches, sizeof(request->caches));
	bench->runner.sampler = request->sampler;
	/* Both sides are given the same work. */
	bench->runner.sampler.no_requests = true;
}

static bool parse_commands(struct bench *bench, struct error *err)
{
	const struct cmd_bench_request *request = bench->request;
	uint32_t layouts = bench->plan.layouts;

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!bench_commands_parse(request->commands[side], false, layouts, &bench->commands[side], err))
			return error_prefix(err, "--%s", diff_side_name(side));
	}
	return !request->prepare || bench_commands_parse(request->prepare, true, layouts, &bench->prepare, err) ||
	       error_prefix(err, "--prepare");
}

/* Makes each layout of a side. */
static bool build_side(struct bench *bench, int side, struct error *err)
{
	CLEANUP(bench_commands_deinit) struct bench_commands builds = { 0 };
	char what[64];

	if (!bench->request->builds[side])
		return true;
	if (!bench_commands_parse(bench->request->builds[side], true, bench->plan.layouts, &builds, err))
		return error_prefix(err, "--build-%s", diff_side_name(side));
	for (uint32_t i = 0; i < builds.count; i++) {
		snprintf(what, sizeof(what), "--build-%s of layout %u", diff_side_name(side), i + 1);
		progress_phase(&bench->progress, what);
		if (!bench_layout_set(i + 1, err) || !bench_run(&bench->runner, &builds.items[i], what, err))
			return false;
	}
	return true;
}

static bool set_up(struct bench *bench, struct error *err)
{
	const struct cmd_bench_request *request = bench->request;
	CLEANUP(bench_command_deinit) struct bench_command setup = { 0 };

	bench_plan_init(
		&bench->plan, request->layouts > 0 ? (uint32_t)request->layouts : 1, request->control, hash_seed());
	if (!parse_commands(bench, err) || (request->save && !bench_save_prepare(request->save, err)))
		return false;
	set_up_runner(bench);
	if (request->setup) {
		progress_phase(&bench->progress, "setup");
		if (!bench_command_parse(request->setup, true, &setup, err) ||
			!bench_run(&bench->runner, &setup, "--setup", err))
			return false;
	}
	return build_side(bench, DIFF_BASE, err) && build_side(bench, DIFF_HEAD, err);
}

/* The figures stand before the text; when something else is written to standard output they must not get into it. */
static FILE *figures_stream(const struct comparison *comparison)
{
	const char *text = comparison->outputs.paths[OUTPUT_TEXT];

	return outputs_use_stdout(&comparison->outputs) && !(text && strcmp(text, "-") == 0) ? stderr : stdout;
}

/* Checks options that only several layouts can have wrong. */
static bool check_layouts(const struct bench *bench, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer said = BUFFER_INIT(CLI_MESSAGE_BYTES);

	if (bench->request->layouts < 2)
		return true;
	if (bench->runs.pairs < bench->request->layouts)
		cli_say("kelvin: only %llu of %llu layouts were measured before the end; the verdict rests on these\n",
			(unsigned long long)bench->runs.pairs, (unsigned long long)bench->request->layouts);
	if (bench->request->simulates) {
		cli_say("kelvin: what is executed does not depend on where code lies, so that one layout is enough with --simulate; only misses of caches may differ\n");
		return true;
	}
	for (int side = 0; side < DIFF_SIDES; side++)
		if (!bench_layouts_check(&bench->runs, (enum bench_arm)side, &said, err))
			return false;
	cli_print_messages(&said);
	return true;
}

/* Compares base with the other runs of base, as base and head are compared. */
static bool judge_control(
	struct bench *bench, struct comparison *comparison, struct diff_control *control, struct error *err)
{
	const struct diff_suite_options options = comparison_suite_options(comparison, false);
	CLEANUP(profile_cleanup) struct profile *again = NULL;

	if (!bench->request->control)
		return true;
	if (!bench_runs_read_all(&bench->runs, BENCH_CONTROL, &again, err) ||
		!diff_control_judge(
			&options, bench->profiles[DIFF_BASE], again, bench->request->benchmarks, control, err))
		return error_prefix(err, "the control");
	comparison->diff.control = control;
	return true;
}

static bool bench_finish(
	struct bench *bench, struct comparison *comparison, struct diff_control *control, int *code, struct error *err)
{
	FILE *stream = figures_stream(comparison);
	CLEANUP(buffer_deinit) struct buffer figures = BUFFER_INIT(MAX_FIGURES_BYTES);
	const struct profile *profiles[DIFF_SIDES];

	progress_phase(&bench->progress, "comparing");
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!bench_runs_read_all(&bench->runs, (enum bench_arm)side, &bench->profiles[side], err))
			return error_prefix(err, "%s", diff_side_name(side));
		if ((bench->request->save && !bench_save(bench->request->save, diff_side_name(side),
						     bench->profiles[side], comparison->outputs.mode, err)))
			return false;
		profiles[side] = bench->profiles[side];
	}
	if (!symbolize_idle_lives(bench->profiles, DIFF_SIDES, bench->runner.naming, err))
		return false;
	if (!check_layouts(bench, err) || !judge_control(bench, comparison, control, err))
		return false;
	progress_clear(&bench->progress);
	bench_print_notices(&bench->runner);
	if (bench->request->benchmarks)
		return comparison_run_suite(comparison, profiles, (const char *[]){ NULL, NULL },
			bench->request->goal.until_decided, code, err);
	render_run_figures(&figures, profiles);
	if (!buffer_ok(&figures, err))
		return false;
	cli_write(stream, FIGURES_INDENT, "%s", figures.data);
	fflush(stream);
	return comparison_run(comparison, profiles, (const char *[]){ NULL, NULL }, code, err);
}

static int run_bench(struct cmd_bench_request *request)
{
	CLEANUP(bench_deinit) struct bench bench = { .request = request, .runs.goal = &request->goal };
	struct symbolize_options naming = { 0 };
	struct diff_control control = { 0 };
	struct error err;
	int code = CLI_EXIT_OK;

	progress_init(&bench.progress, request->quiet);
	request->comparison.outputs.lines = &request->comparison.lines;
	if (!outputs_check(&request->comparison.outputs, &err) ||
		!naming_prepare(&request->comparison.naming, &naming, &err) ||
		!lines_prepare(&request->comparison.lines, &err) ||
		!comparison_open_range(&request->comparison, &err) ||
		!bench_runner_init(&bench.runner, &naming, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_ERROR;
	}
	bench.runs.profiles = bench.runner.profiles;
	interrupt_watch();
	if (!set_up(&bench, &err) || !make_runs(&bench, &err)) {
		progress_clear(&bench.progress);
		cli_print_error(&err);
		if (err.code != ERROR_USAGE)
			bench_print_stderr(&bench.runner);
		return CLI_EXIT_ERROR;
	}
	if (bench_finish(&bench, &request->comparison, &control, &code, &err) &&
		comparison_confirm(&request->comparison, &err))
		return bench.is_cut_short && code == CLI_EXIT_OK ? comparison_inconclusive_code(&request->comparison)
								 : code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

/* ---- Options ---- */

static bool cmd_bench_take_warmup(void *warmup, const char *text, struct error *err)
{
	return options_parse_count("--warmup", text, OPTIONS_MAX_RUNS, warmup, err);
}

static bool cmd_bench_take_min_time(void *seconds, const char *text, struct error *err)
{
	return options_parse_some_time("--min-time", text, seconds, err);
}

static bool cmd_bench_take_time_limit(void *seconds, const char *text, struct error *err)
{
	return options_parse_some_time("--time-limit", text, seconds, err);
}

static bool cmd_bench_take_layouts(void *layouts, const char *text, struct error *err)
{
	return options_parse_some("--layouts", text, BENCH_MOST_LAYOUTS, layouts, err);
}

static const struct options_row cmd_bench_rows[] = {
	{ .name = "Runs:" },
	{ 0, "base", "COMMAND", "before the change", OPTIONS_TEXT(struct cmd_bench_request, commands[DIFF_BASE]) },
	{ 0, "head", "COMMAND", "after it", OPTIONS_TEXT(struct cmd_bench_request, commands[DIFF_HEAD]) },
	{ 0, "runs", "N", "runs of each command (default: 10; one proves only large differences)", options_take_runs,
		offsetof(struct cmd_bench_request, goal.runs) },
	{ 0, "warmup", "N", "runs of each command before all others, which are not recorded (default: 0)",
		cmd_bench_take_warmup, offsetof(struct cmd_bench_request, warmup) },
	{ 0, "min-time", "TIME", "adds runs until each command has run for this time in total: 30, 30s, 2m",
		cmd_bench_take_min_time, offsetof(struct cmd_bench_request, goal.min_time_s) },
	{ 0, "time-limit", "TIME", "begins no further runs that would end later: 90, 90s, 10m",
		cmd_bench_take_time_limit, offsetof(struct cmd_bench_request, goal.time_limit_s) },
	{ 0, "layouts", "N",
		"measures each side in N layouts of its code, --runs in all (default: 3 a layout): the commands have\n"
		"KELVIN_LAYOUT in their environment, and 1...N in place of {layout}",
		cmd_bench_take_layouts, offsetof(struct cmd_bench_request, layouts) },
	{ 0, "build-base", "COMMAND", "makes each layout of base, before all runs: with KELVIN_LAYOUT and {layout}",
		OPTIONS_TEXT(struct cmd_bench_request, builds[DIFF_BASE]) },
	{ 0, "build-head", "COMMAND", "the same of head", OPTIONS_TEXT(struct cmd_bench_request, builds[DIFF_HEAD]) },
	{ 0, "control", NULL,
		"runs base as a third side in the same turns: what the machine and chance make of no change",
		OPTIONS_FLAG(struct cmd_bench_request, control) },
	{ 0, "no-pad", NULL,
		"leaves KELVIN_PAD out, which gives each run an environment of another length, and so its stack\n"
		"another place",
		OPTIONS_FLAG(struct cmd_bench_request, no_pad) },
	{ 0, "setup", "COMMAND", "run once before everything else", OPTIONS_TEXT(struct cmd_bench_request, setup) },
	{ 0, "prepare", "COMMAND", "run before every run", OPTIONS_TEXT(struct cmd_bench_request, prepare) },
	{ .rows = sampling_rows, .at = offsetof(struct cmd_bench_request, sampler) },
	{ .rows = sampling_native_rows, .at = offsetof(struct cmd_bench_request, sampler) },
	{ 0, "simulate", NULL,
		"counts what the commands execute on a simulated processor, in place of samples: one run of\n"
		"each is enough (default: --runs 1; Python and node vary: 3)",
		OPTIONS_FLAG(struct cmd_bench_request, simulates) },
	{ 0, "cache", "I1,D1,LL", "caches of that processor, each SIZE:WAYS:LINE (default: 32k:8:64,32k:8:64,8M:16:64)",
		simulator_take_caches, offsetof(struct cmd_bench_request, caches) },
	{ 0, "fold-recursion", NULL, "with --simulate: recursive calls have one context in place of one for each depth",
		OPTIONS_FLAG(struct cmd_bench_request, folds_recursion) },
	{ 0, "benchmarks", NULL,
		"the commands are suites of benchmarks (pytest --codspeed, cargo codspeed run, go test -bench, ...),\n"
		"compared benchmark by benchmark; without --runs, they run until each benchmark is proven to\n"
		"differ or equal within --precision, for at most 10 minutes (--time-limit)",
		OPTIONS_FLAG(struct cmd_bench_request, benchmarks) },
	{ 0, "save", "DIR", "keeps the profiles as DIR/base.pb.gz and DIR/head.pb.gz",
		OPTIONS_TEXT(struct cmd_bench_request, save) },
	{ 0, "no-args", NULL, "keeps only the commands' programs in the profiles and reports, without their arguments",
		OPTIONS_FLAG(struct cmd_bench_request, sampler.no_arguments) },
	{ .rows = comparison_output_rows, .at = offsetof(struct cmd_bench_request, comparison) },
	{ .rows = lines_rows, .at = offsetof(struct cmd_bench_request, comparison.lines) },
	{ .name = "Options:" },
	{ .rows = comparison_rows, .at = offsetof(struct cmd_bench_request, comparison) },
	{ .rows = naming_sources_rows, .at = offsetof(struct cmd_bench_request, comparison.naming) },
	{ 'q', "quiet", NULL, "no progress", OPTIONS_FLAG(struct cmd_bench_request, quiet) },
	{ 0 },
};

static bool has_sampling_options(const struct sampler_options *sampler)
{
	return sampler->frequency_hz > 0 || sampler->event || sampler->off_cpu_ns > 0 || sampler->native_only;
}

static void cmd_bench_request_deinit(struct cmd_bench_request *request)
{
	comparison_deinit(&request->comparison);
}

/* Takes the operands of `kelvin bench ./old ./new`: each is a command as --base and --head have it. */
static bool take_operands(struct options *options, struct cmd_bench_request *request, int *code)
{
	int count = options->argc - optind;
	bool has_option = request->commands[DIFF_BASE] || request->commands[DIFF_HEAD];

	if (count > 0 && (count != DIFF_SIDES || has_option)) {
		*code = options_fail("bench",
			"unexpected '%s'; give each command as one quoted word: 'kelvin bench BASE HEAD', or with --base and --head",
			options->argv[has_option || count < DIFF_SIDES ? optind : optind + DIFF_SIDES]);
		return false;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (count > 0)
			request->commands[side] = options->argv[optind + side];
		if (request->commands[side])
			continue;
		*code = options_fail("bench", "two commands are needed: --%s is missing", diff_side_name(side));
		return false;
	}
	return true;
}

static int cmd_bench_run(struct options *options)
{
	CLEANUP(cmd_bench_request_deinit)
	struct cmd_bench_request request = { .comparison.diff = { .scale = DIFF_SCALE_AUTO, .runs_in_pairs = true } };
	int code;

	if (!options_read(options, &request, &code) || !take_operands(options, &request, &code))
		return code;
	if (request.simulates && has_sampling_options(&request.sampler))
		return options_fail("bench", "--simulate takes no samples; leave out -F, -e, --off-cpu and --native");
	if (request.caches[0].bytes == 0)
		simulator_default_caches(request.caches);
	else if (!request.simulates)
		return options_fail("bench", "--cache is of a simulated processor; give --simulate as well");
	if (request.folds_recursion && !request.simulates)
		return options_fail("bench", "--fold-recursion is of a simulation; give --simulate as well");
	bench_goal_complete(&request.goal, request.layouts, request.simulates, request.benchmarks);
	if (request.goal.runs < request.layouts)
		return options_fail("bench", "--runs %llu are too few for --layouts %llu: each layout needs a run",
			(unsigned long long)request.goal.runs, (unsigned long long)request.layouts);
	/* Places differ more between layouts than with what a pair of runs shares. */
	request.comparison.diff.runs_in_pairs = request.layouts < 2;
	return run_bench(&request);
}

const struct cli_command cmd_bench = {
	.name = "bench",
	.summary = "run two commands alternately and compare them",
	.usage = cmd_bench_usage,
	.rows = cmd_bench_rows,
	.notes = cmd_bench_notes,
	.run = cmd_bench_run,
};
