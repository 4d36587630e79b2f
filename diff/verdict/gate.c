/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/gate.h"

#include "diff/constants.h"

#include <math.h>
#include <string.h>

static bool gate_usage(const char *text, const char *why, struct error *err)
{
	return error_set(err, ERROR_USAGE,
		"--fail-on '%.80s': %s; write for example total>2%%, function>5%%, function:NAME>1%% or benchmark:NAME>5%%",
		text, why);
}

/* A name in the middle of `text` has no NUL at its end: it ends at the last '>'. */
bool diff_gate_parse(const char *text, struct diff_gate *gate, struct error *err)
{
	const char *limit = strrchr(text, '>');
	struct diff_gate parsed = { 0 };
	char *end;

	if (!limit)
		return gate_usage(text, "'>' is missing", err);
	if (limit - text == 5 && strncmp(text, "total", 5) == 0)
		parsed.subject = DIFF_GATE_TOTAL;
	else if (limit - text == 8 && strncmp(text, "function", 8) == 0)
		parsed.subject = DIFF_GATE_FUNCTION;
	else if (limit - text > 9 && strncmp(text, "function:", 9) == 0)
		parsed = (struct diff_gate){ .subject = DIFF_GATE_FUNCTION, .function = text + 9 };
	else if (limit - text == 9 && strncmp(text, "benchmark", 9) == 0)
		parsed.subject = DIFF_GATE_BENCHMARK;
	else if (limit - text > 10 && strncmp(text, "benchmark:", 10) == 0)
		parsed = (struct diff_gate){ .subject = DIFF_GATE_BENCHMARK, .benchmark = text + 10 };
	else
		return gate_usage(text, "it starts with none of total, function and benchmark", err);
	parsed.percent = strtod(limit + 1, &end);
	if (end == limit + 1 || !isfinite(parsed.percent) || parsed.percent < 0)
		return gate_usage(text, "the limit is not a percentage", err);
	if (*end == '%')
		end++;
	if (*end != '\0')
		return gate_usage(text, "there is text after the limit", err);
	*gate = parsed;
	return true;
}

bool diff_gate_is_about(const char *named, const char *name)
{
	const char *limit = strrchr(named, '>');
	size_t size = strlen(name);

	if (strcmp(named, name) == 0)
		return true;
	return limit && (size_t)(limit - named) == size && strncmp(named, name, size) == 0;
}

bool diff_gate_names(const struct diff *diff, const struct diff_gate *gate, const struct diff_function *function)
{
	enum profile_wait_class wait_class = diff_wait_class(diff, function);
	char words[64];

	if (diff_gate_is_about(gate->function, diff_string(diff, function->name)) ||
		diff_gate_is_about(gate->function, diff_string(diff, function->shown)))
		return true;
	if (wait_class == PROFILE_WAIT_NONE)
		return false;
	snprintf(words, sizeof(words), "waiting %s", profile_wait_info(wait_class)->reason);
	return diff_gate_is_about(gate->function, words);
}

static double percent_of_base(double value, double base)
{
	return base > 0 ? value / base * 100 : value > 0 ? INFINITY : 0;
}

/* Returns whether the difference of what moved is proven, as that of what did not move has a state for. */
static bool is_proven_move(const struct diff_build *build, const struct diff_estimate *estimate)
{
	return estimate->q < build->options.q;
}

static enum gate_outcome gate_judge(
	const struct diff_build *build, const struct diff_estimate *estimate, double limit, double *percent)
{
	*percent = percent_of_base(estimate->delta, estimate->base);
	if (!(*percent > limit))
		return GATE_PASSED;
	switch (estimate->state) {
	case DIFF_STATE_MORE:
	case DIFF_STATE_NEW:
		return GATE_FAILED;
	case DIFF_STATE_UNPROVEN:
		return GATE_UNDECIDED;
	case DIFF_STATE_MOVED:
		/* Time that moved here from another function counts against the limit too. */
		return is_proven_move(build, estimate) ? GATE_FAILED : GATE_UNDECIDED;
	case DIFF_STATE_SAME:
	case DIFF_STATE_LESS:
	case DIFF_STATE_GONE:
		return GATE_PASSED;
	}
	return GATE_PASSED;
}

static void keep_worst(struct gate_result *worst, const struct gate_result *candidate)
{
	static const int severity[] = { [GATE_PASSED] = 0, [GATE_UNDECIDED] = 1, [GATE_FAILED] = 2 };
	int was = severity[worst->outcome], is = severity[candidate->outcome];

	if (is > was || (is == was && is > 0 && candidate->percent > worst->percent))
		*worst = *candidate;
}

/*
 * Judges an estimate by its test. Rows with too few samples for a test pass, since one sample of a new function would
 * fail the build. A new function exceeds every limit in percent, so it fails only if it has a minimal size.
 */
static enum gate_outcome judge_tested(
	const struct diff_build *build, const struct diff_estimate *estimate, double limit, double *percent)
{
	enum gate_outcome outcome = gate_judge(build, estimate, limit, percent);

	if (isinf(*percent) && estimate->delta < gate_least_new_points / 100 * build_points_of(build->diff))
		return GATE_PASSED;
	return outcome == GATE_UNDECIDED && isnan(estimate->q) ? GATE_PASSED : outcome;
}

static void judge_function(
	const struct diff_build *build, const struct diff_gate *gate, uint32_t id, struct gate_result *worst)
{
	const struct diff_function *function = &build->diff->functions[id];
	struct gate_result result = { .gate = gate, .function = id };

	result.outcome = judge_tested(build, &function->self, gate->percent, &result.percent);
	keep_worst(worst, &result);
	result.is_total = true;
	result.outcome = judge_tested(build, &function->total, gate->percent, &result.percent);
	keep_worst(worst, &result);
}

struct gate_result gate_evaluate(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	struct gate_result worst = { .outcome = GATE_PASSED, .function = PROFILE_NONE };

	for (size_t i = 0; i < build->options.gate_count; i++) {
		const struct diff_gate *gate = &build->options.gates[i];

		if (gate->subject == DIFF_GATE_TOTAL) {
			struct gate_result result = { .gate = gate, .function = PROFILE_NONE };

			result.outcome = gate_judge(build, &diff->total, gate->percent, &result.percent);
			keep_worst(&worst, &result);
			continue;
		}
		for (uint32_t f = 0; gate->subject == DIFF_GATE_FUNCTION && f < diff->function_count; f++) {
			if (!diff->functions[f].interrupt && build->redirect[f] == f &&
				(!gate->function || diff_gate_names(diff, gate, &diff->functions[f])))
				judge_function(build, gate, f, &worst);
		}
	}
	return worst;
}

/*
 * Warns of a gate on a function that does not occur: it can never fail. The name may be incomplete, as without the
 * arguments of a C++ name.
 */
static void gate_append_unmet(const struct diff *diff, const struct diff_gate *gate, struct buffer *said)
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
	buffer_printf(said, "--fail-on 'function:%s': neither side has %s a function with this name%s%s%s\n",
		gate->function, diff->is_exact ? "executed" : "samples of", like ? "; a similar name is '" : "",
		like ? like : "", like ? "'" : "");
}

void diff_gates_append_unmet(const struct diff *diff, const struct diff_gate *gates, size_t count, struct buffer *said)
{
	for (size_t i = 0; i < count; i++)
		if (gates[i].function)
			gate_append_unmet(diff, &gates[i], said);
}
