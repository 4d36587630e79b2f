/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/comparison.h"

#include "cli/cli.h"
#include "cli/confirm.h"
#include "cli/suite_view.h"

#include <string.h>

enum { MAX_GATES = 1000, MAX_SAID_BYTES = 1 << 24 };

void comparison_deinit(struct comparison *comparison)
{
	free(comparison->gates);
	naming_deinit(&comparison->naming);
	lines_deinit(&comparison->lines);
}

static bool take_scale(void *context, const char *text, struct error *err)
{
	struct comparison *c = context;

	return diff_scale_parse(text, &c->diff.scale, c->diff.work, err);
}

static bool comparison_take_min_effect(void *points, const char *text, struct error *err)
{
	return options_parse_positive("--min-effect", text, points, err);
}

static bool comparison_take_gate(void *context, const char *text, struct error *err)
{
	struct comparison *c = context;

	if (!ARRAY_RESERVE(&c->gates, &c->gate_capacity, c->gate_count + 1, MAX_GATES, err) ||
		!diff_gate_parse(text, &c->gates[c->gate_count], err))
		return false;
	c->gate_count++;
	return true;
}

static bool take_inconclusive(void *context, const char *text, struct error *err)
{
	struct comparison *c = context;

	if (strcmp(text, "pass") == 0)
		c->inconclusive = INCONCLUSIVE_PASSES;
	else if (strcmp(text, "fail") == 0)
		c->inconclusive = INCONCLUSIVE_FAILS;
	else
		return error_set(err, ERROR_USAGE, "--inconclusive '%.60s': write pass or fail", text);
	return true;
}

/* Takes "1" or "1%". */
static bool take_precision(void *precision, const char *text, struct error *err)
{
	CLEANUP(cleanup_free) char *number = strdup(text);
	size_t size = strlen(text);
	double percent;

	if (!number)
		return error_set_memory(err);
	if (size > 0 && number[size - 1] == '%')
		number[size - 1] = '\0';
	if (!options_parse_positive("--precision", number, &percent, err))
		return false;
	if (percent >= 100)
		return error_set(err, ERROR_USAGE, "--precision '%.60s': write a number of percent below 100", text);
	*(double *)precision = percent / 100;
	return true;
}

static const struct options_row commit_range_rows[] = {
	{ 0, "commits", "A..B",
		"which commits of this range, from base to head, touched the functions that are\nproven to differ",
		OPTIONS_TEXT(struct commit_range, text) },
	{ 0, "confirm", "COMMAND",
		"builds and runs the first suspect and its parent in turn, each in a copy of its own",
		OPTIONS_TEXT(struct commit_range, confirm) },
	{ 0 },
};

const struct options_row comparison_output_rows[] = {
	{ .rows = output_rows, .at = offsetof(struct comparison, outputs) },
	{ 0, "json", "[FILE]", "schema kelvin.diff/1", OPTIONS_OUTPUT(struct comparison, outputs.paths[OUTPUT_JSON]) },
	{ 0, "markdown", "[FILE]", "for a pull request",
		OPTIONS_OUTPUT(struct comparison, outputs.paths[OUTPUT_MARKDOWN]) },
	{ .rows = output_svg_rows, .at = offsetof(struct comparison, outputs) },
	{ 0 },
};

const struct options_row comparison_rows[] = {
	{ 0, "scale", "MODE", "auto, per-run, per-request, robust, share, rate or work=BASE:HEAD (default: auto)",
		take_scale, .words = "auto per-run per-request robust share rate work=" },
	{ 0, "metric", "NAME",
		"which value to compare: cpu, off-cpu, wall, idle, samples, or a sample type of pprof\nfiles (default: the profiles' own)",
		OPTIONS_TEXT(struct comparison, diff.metric), .words = OUTPUT_METRICS },
	{ 0, "min-effect", "POINTS",
		"smallest difference that matters, in points of the total (default: 0.1, of exact\ncounts 0.005)",
		comparison_take_min_effect, offsetof(struct comparison, diff.min_effect_points) },
	{ 0, "precision", "PERCENT",
		"of benchmarks: a change of this part of base, or less, does not matter (default: 1)", take_precision,
		offsetof(struct comparison, precision) },
	{ 0, "fail-on", "RULE", "limit: total>2%, function>5%, function:NAME>1% or benchmark:NAME>5%, of base",
		comparison_take_gate, .repeatable = true },
	{ 0, "ignore-warnings", NULL, "checks --fail-on even when the recordings are hardly comparable",
		OPTIONS_FLAG(struct comparison, diff.gates_ignore_warnings) },
	{ 0, "inconclusive", "RESULT", "pass or fail: exits with 0 or 1 when inconclusive (default: with 3)",
		take_inconclusive, .words = "pass fail" },
	{ .rows = commit_range_rows, .at = offsetof(struct comparison, range) },
	{ .rows = options_mode_rows, .at = offsetof(struct comparison, outputs.mode) },
	{ .rows = naming_rows, .at = offsetof(struct comparison, naming) },
	{ 0 },
};

static void warn_of_unmet(const struct comparison *comparison, const struct diff *diff)
{
	CLEANUP(buffer_deinit) struct buffer said = BUFFER_INIT(MAX_SAID_BYTES);

	if (!diff)
		return;
	diff_gates_append_unmet(diff, comparison->gates, comparison->gate_count, &said);
	cli_print_messages(&said);
}

int comparison_inconclusive_code(const struct comparison *comparison)
{
	switch (comparison->inconclusive) {
	case INCONCLUSIVE_APART:
		return CLI_EXIT_INCONCLUSIVE;
	case INCONCLUSIVE_PASSES:
		return CLI_EXIT_OK;
	case INCONCLUSIVE_FAILS:
		return CLI_EXIT_REGRESSED;
	}
	return CLI_EXIT_INCONCLUSIVE;
}

static int exit_code(
	const struct comparison *comparison, enum diff_verdict verdict, bool gate_failed, bool is_regressed)
{
	if (comparison->gate_count > 0 ? gate_failed : is_regressed)
		return CLI_EXIT_REGRESSED;
	return verdict == DIFF_INCONCLUSIVE ? comparison_inconclusive_code(comparison) : CLI_EXIT_OK;
}

/* Limits that are never checked, however much is recorded, are not passed: a script would not notice. */
static int diff_exit_code(const struct comparison *comparison, const struct diff *diff)
{
	int code = exit_code(comparison, diff->verdict, diff->gate_failed, diff->verdict == DIFF_REGRESSED);

	if (code != CLI_EXIT_OK || comparison->gate_count == 0 || !diff->scale.length_is_unknown)
		return code;
	cli_say("kelvin: --inconclusive pass passes no limits of --fail-on that cannot be checked; --scale per-run checks them, if both sides were recorded alike\n");
	return CLI_EXIT_INCONCLUSIVE;
}

bool comparison_open_range(struct comparison *comparison, struct error *err)
{
	struct commit_range *range = &comparison->range;
	struct texts *texts = &comparison->lines.texts;
	const struct repository *repository;

	range->say = cli_say;
	if (!commit_range_check(range, err))
		return false;
	if (!range->text)
		return true;
	if (!texts_repository(texts, &repository, err))
		return error_prefix(err, "--commits %s", range->text);
	return commit_range_open(range, repository, texts->directory ? texts->directory : ".", err);
}

static void comparison_rank(struct comparison *comparison, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct commit_findings *findings)
{
	const struct worker *worker = comparison->outputs.worker;

	comparison->range.ask = worker ? lines_ask_parent : NULL;
	comparison->range.context = (void *)(uintptr_t)worker;
	commit_range_rank(&comparison->range, diff, profiles, findings);
}

static bool comparison_show(
	struct comparison *comparison, const struct render_input *input, int *code, struct error *err)
{
	const struct diff *diff = input->diff;

	comparison->outputs.max_lines = comparison->question.max_lines;
	if (!outputs_write(&comparison->outputs, input, err))
		return false;
	if (!outputs_use_stdout(&comparison->outputs))
		cli_write(stdout, 0, "%s: %s", diff_verdict_name(diff->verdict), diff_string(diff, diff->verdict_text));
	warn_of_unmet(comparison, diff);
	*code = diff_exit_code(comparison, diff);
	return true;
}

/* Limits on benchmarks need some. */
static bool check_gates(const struct comparison *comparison, struct error *err)
{
	for (size_t i = 0; i < comparison->gate_count; i++)
		if (comparison->gates[i].subject == DIFF_GATE_BENCHMARK)
			return error_set(err, ERROR_USAGE,
				"--fail-on benchmark: the recordings have no benchmarks; 'kelvin record --benchmarks' and 'kelvin bench --benchmarks' record suites");
	return true;
}

static struct render_input comparison_input_of(const char *const names[DIFF_SIDES])
{
	return (struct render_input){
		.names = { names[DIFF_BASE], names[DIFF_HEAD] },
		.tool = CLI_TOOL,
		.origin_rule_text = output_rule_text,
	};
}

bool comparison_run(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], int *code, struct error *err)
{
	const struct render_question question = question_shown(&comparison->question);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(commit_findings_deinit) struct commit_findings findings = { 0 };
	struct render_input input = comparison_input_of(names);

	comparison->diff.gates = comparison->gates;
	comparison->diff.gate_count = comparison->gate_count;
	if (!check_gates(comparison, err) ||
		!diff_create(profiles[DIFF_BASE], profiles[DIFF_HEAD], &comparison->diff, &diff, err))
		return false;
	input.diff = diff;
	input.profiles[DIFF_BASE] = profiles[DIFF_BASE];
	input.profiles[DIFF_HEAD] = profiles[DIFF_HEAD];
	input.question = &question;
	comparison_rank(comparison, diff, profiles, &findings);
	input.commits = findings.commits;
	return comparison_show(comparison, &input, code, err);
}

bool comparison_answer(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], int *code, struct error *err)
{
	CLEANUP(answer_deinit) struct answer answer = { 0 };
	struct render_question shown;
	CLEANUP(commit_findings_deinit) struct commit_findings findings = { 0 };
	struct render_input input = comparison_input_of(names);

	comparison->diff.gates = comparison->gates;
	comparison->diff.gate_count = comparison->gate_count;
	if (!check_gates(comparison, err) ||
		!question_answer(&comparison->question, profiles, &comparison->diff, &answer, err))
		return false;
	question_show(&comparison->question, &answer, &shown, &input);
	comparison_rank(comparison, input.diff, input.profiles, &findings);
	input.commits = findings.commits;
	return comparison_show(comparison, &input, code, err);
}

bool comparison_confirm(const struct comparison *comparison, struct error *err)
{
	const struct commit_range *range = &comparison->range;
	const char *text = comparison->outputs.paths[OUTPUT_TEXT];

	return !range->confirm ||
	       confirm_suspect(range, range->confirm,
		       !outputs_use_stdout(&comparison->outputs) || (text && strcmp(text, "-") == 0), err);
}

/* ---- Benchmarks ---- */

bool comparison_has_suites(const struct profile *const profiles[DIFF_SIDES], const char *const names[DIFF_SIDES])
{
	bool has[DIFF_SIDES] = { profile_has_phases(profiles[DIFF_BASE]), profile_has_phases(profiles[DIFF_HEAD]) };

	if (has[DIFF_BASE] != has[DIFF_HEAD])
		cli_say("kelvin: only %s (%s) has benchmarks, so the sides are compared as a whole\n",
			has[DIFF_BASE] ? "base" : "head", names[has[DIFF_BASE] ? DIFF_BASE : DIFF_HEAD]);
	return has[DIFF_BASE] && has[DIFF_HEAD];
}

struct diff_suite_options comparison_suite_options(const struct comparison *comparison, bool is_watched)
{
	struct diff_suite_options options = {
		.diff = comparison->diff, .precision = comparison->precision, .is_watched = is_watched
	};

	options.diff.gates = comparison->gates;
	options.diff.gate_count = comparison->gate_count;
	return options;
}

/* A benchmark that is slower fails, also where others are faster. */
static int suite_exit_code(const struct comparison *comparison, const struct suite_view *view)
{
	const struct diff_suite *suite = view->suite;
	const struct diff *diff = suite_view_diff(view);
	CLEANUP(buffer_deinit) struct buffer said = BUFFER_INIT(MAX_SAID_BYTES);
	const struct diff_benchmark *benchmark;
	enum diff_verdict verdict;
	bool failed;

	if (!view->title) {
		/* Improved ones do not make up for those that may be slower. */
		verdict = comparison->gate_count == 0 && suite->verdicts[DIFF_INCONCLUSIVE] > 0 ? DIFF_INCONCLUSIVE
												: suite->verdict;
		return exit_code(comparison, verdict, suite->gate_failed, suite->verdicts[DIFF_REGRESSED] > 0);
	}
	benchmark = &suite->benchmarks[view->parts[0].benchmark];
	if (benchmark->presence != DIFF_IN_BOTH)
		return CLI_EXIT_OK;
	verdict = comparison->gate_count > 0 && diff->verdict == DIFF_INCONCLUSIVE ? DIFF_INCONCLUSIVE
										   : benchmark->verdict;
	failed = diff->gate_failed;
	diff_suite_judge_one(suite, benchmark, &failed, &verdict, &said);
	cli_print_messages(&said);
	return exit_code(comparison, verdict, failed, benchmark->verdict == DIFF_REGRESSED);
}

static void print_verdict(const struct suite_view *view)
{
	const struct diff_suite *suite = view->suite;
	const struct diff *diff = suite_view_diff(view);

	if (!view->title)
		cli_write(stdout, 0, "%s: %s", diff_verdict_name(suite->verdict),
			diff_suite_string(suite, suite->verdict_text));
	else if (suite->is_measured || diff->sides != DIFF_SIDES)
		cli_write(stdout, 0, "%s", view->title);
	else
		cli_write(stdout, 0, "%s: %s: %s", diff_verdict_name(diff->verdict), view->title,
			diff_string(diff, diff->verdict_text));
}

/* Ranks a suite's commits by the benchmark that regressed most; where none did, by all of them together. */
static void rank_commits(struct comparison *comparison, struct suite_view *view, struct commit_findings *findings)
{
	const struct render_input *of = &view->parts[0].input;

	if (view->count == 0 || view->suite->sides != DIFF_SIDES)
		return;
	for (size_t i = view->count; i > 0; i--) {
		uint32_t benchmark = view->parts[i - 1].benchmark;

		if (benchmark != DIFF_ALL_BENCHMARKS && view->suite->benchmarks[benchmark].verdict == DIFF_REGRESSED)
			of = &view->parts[i - 1].input;
	}
	if (of->diff->sides == DIFF_SIDES)
		comparison_rank(comparison, of->diff, of->profiles, findings);
	view->parts[0].input.commits = findings->commits;
}

/* Writes every output of a suite, or of the benchmark that the user chose, and sets the exit code. */
static bool comparison_write_suite(struct comparison *comparison, const struct diff_suite *suite,
	const char *const names[DIFF_SIDES], int *code, struct error *err)
{
	CLEANUP(suite_view_deinit) struct suite_view view = { 0 };
	CLEANUP(commit_findings_deinit) struct commit_findings findings = { 0 };
	bool done = comparison->benchmark ? suite_view_one(&view, suite, comparison->benchmark, names, err)
					  : suite_view_all(&view, &comparison->outputs, suite, names, err);

	if (!done)
		return false;
	rank_commits(comparison, &view, &findings);
	if (!suite_view_write(&view, &comparison->outputs, err))
		return false;
	if (!outputs_use_stdout(&comparison->outputs))
		print_verdict(&view);
	warn_of_unmet(comparison, suite_view_diff(&view));
	*code = suite_exit_code(comparison, &view);
	return true;
}

bool comparison_run_suite(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], bool is_watched, int *code, struct error *err)
{
	struct diff_suite_options options = comparison_suite_options(comparison, is_watched);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	return diff_suite_create(profiles[DIFF_BASE], profiles[DIFF_HEAD], &options, &suite, err) &&
	       comparison_write_suite(comparison, suite, names, code, err);
}
