/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/comparison.h"

#include "cli/cli.h"

#include <string.h>

enum { MAX_GATES = 1000 };

void comparison_deinit(struct comparison *comparison)
{
	free(comparison->gates);
	naming_deinit(&comparison->naming);
}

static bool add_gate(struct comparison *c, const char *text, struct error *err)
{
	if (!ARRAY_RESERVE(&c->gates, &c->gate_capacity, c->gate_count + 1, MAX_GATES, err) ||
		!diff_gate_parse(text, &c->gates[c->gate_count], err))
		return false;
	c->gate_count++;
	return true;
}

static bool take_inconclusive(struct comparison *c, const char *text, struct error *err)
{
	if (strcmp(text, "pass") == 0)
		c->inconclusive = INCONCLUSIVE_PASSES;
	else if (strcmp(text, "fail") == 0)
		c->inconclusive = INCONCLUSIVE_FAILS;
	else
		return error_set(err, ERROR_USAGE, "--inconclusive '%.60s': write pass or fail", text);
	return true;
}

bool comparison_take(struct comparison *comparison, struct options *options, int option, struct error *err)
{
	bool is_taken;

	switch (option) {
	case COMPARISON_SCALE:
		return diff_scale_parse(optarg, &comparison->diff.scale, comparison->diff.work, err);
	case COMPARISON_METRIC:
		comparison->diff.metric = optarg;
		return true;
	case COMPARISON_MIN_EFFECT:
		return options_parse_positive("--min-effect", optarg, &comparison->diff.min_effect_points, err);
	case COMPARISON_FAIL_ON:
		return add_gate(comparison, optarg, err);
	case COMPARISON_IGNORE_WARNINGS:
		comparison->diff.gates_ignore_warnings = true;
		return true;
	case COMPARISON_INCONCLUSIVE:
		return take_inconclusive(comparison, optarg, err);
	default:
		return outputs_take(&comparison->outputs, options, option, &is_taken, err) &&
		       (is_taken || naming_take(&comparison->naming, option, err));
	}
}

/*
 * Warns of a gate on a function that does not occur: it can never fail. The name may be incomplete, as without the
 * arguments of a C++ name.
 */
static void warn_unmet(const struct diff *diff, const struct diff_gate *gate)
{
	const char *limit = strrchr(gate->function, '>'), *like = NULL;
	size_t size = (size_t)(limit - gate->function);

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *function = &diff->functions[i];
		const char *name = diff_string(diff, function->name);

		if (diff_gate_names(diff, gate, function))
			return;
		if (!like && memmem(name, strlen(name), gate->function, size))
			like = name;
	}
	cli_say("kelvin: --fail-on 'function:%s': neither side has %s a function with this name%s%s%s\n",
		gate->function, diff->is_exact ? "executed" : "samples of", like ? "; a similar name is '" : "",
		like ? like : "", like ? "'" : "");
}

static void warn_of_unmet(const struct comparison *comparison, const struct diff *diff)
{
	for (size_t i = 0; i < comparison->gate_count; i++)
		if (comparison->gates[i].function)
			warn_unmet(diff, &comparison->gates[i]);
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

static int exit_code(const struct comparison *comparison, const struct diff *diff)
{
	if (comparison->gate_count > 0 ? diff->gate_failed : diff->verdict == DIFF_REGRESSED)
		return CLI_EXIT_REGRESSED;
	return diff->verdict == DIFF_INCONCLUSIVE ? comparison_inconclusive_code(comparison) : CLI_EXIT_OK;
}

bool comparison_run(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], int *code, struct error *err)
{
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct render_input input;

	comparison->diff.gates = comparison->gates;
	comparison->diff.gate_count = comparison->gate_count;
	if (!diff_create(profiles[DIFF_BASE], profiles[DIFF_HEAD], &comparison->diff, &diff, err))
		return false;
	input = (struct render_input){
		.diff = diff,
		.profiles = { profiles[DIFF_BASE], profiles[DIFF_HEAD] },
		.names = { names[DIFF_BASE], names[DIFF_HEAD] },
		.tool = CLI_TOOL,
		.origin_rule_text = output_rule_text,
	};
	if (!outputs_write(&comparison->outputs, &input, err))
		return false;
	if (!outputs_use_stdout(&comparison->outputs))
		printf("%s: %s\n", diff_verdict_name(diff->verdict), diff_string(diff, diff->verdict_text));
	warn_of_unmet(comparison, diff);
	*code = exit_code(comparison, diff);
	return true;
}
