/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a comparison of suites in JSON: as of all benchmarks together, with a list of them. */
#include "render/json_members.h"
#include "render/json_text.h"
#include "render/suite_words.h"

#include <math.h>
#include <string.h>

enum { MOST_FUNCTIONS = 5, MOST_BYTES = 1 << 30 };

/* Returns the key of a member of one side. */
static const char *side_key(enum diff_side side, const char *what, char key[static 24])
{
	snprintf(key, 24, "%s_%s", diff_side_name(side), what);
	return key;
}

/* 0 in the suite means that the number is not known. */
static void put_count(struct buffer *out, const char *key, uint64_t count)
{
	json_text_member_known(out, key, count > 0, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static void put_counts(struct buffer *out, const struct diff_benchmark *benchmark)
{
	char key[24];

	for (int side = DIFF_BASE; side < DIFF_SIDES; side++) {
		json_text_member_integer(
			out, side_key((enum diff_side)side, "executions", key), (int64_t)benchmark->executions[side]);
		put_count(out, side_key((enum diff_side)side, "rounds", key), benchmark->rounds[side]);
		put_count(out, side_key((enum diff_side)side, "iterations", key), benchmark->iterations[side]);
	}
}

/* The functions that explain the benchmark, if it was explained. */
static void put_top(const struct render_suite *input, uint32_t benchmark, struct buffer *out)
{
	const struct render_part *part = render_part_of(input, benchmark);
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (part)
		suite_words_functions(input, part, MOST_FUNCTIONS, &list);
	json_text_begin(out, "top", '[');
	for (size_t i = 0; i < list.count; i++)
		json_text_string(out, diff_string(part->input.diff, part->input.diff->functions[list.ids[i]].shown));
	json_text_close(out, ']');
}

/* Writes the function that explains the change, with the line that changed most. */
static void put_because(const struct render_suite *input, uint32_t benchmark, struct buffer *out)
{
	const struct render_part *part = render_part_of(input, benchmark);
	uint32_t function = suite_words_because(input, part);
	CLEANUP(buffer_deinit) struct buffer place = { 0 };

	if (function == PROFILE_NONE) {
		json_text_member_null(out, "because");
		json_text_member_null(out, "where");
		return;
	}
	buffer_init(&place, MOST_BYTES);
	suite_words_place(part, function, &place);
	out->failed |= place.failed;
	json_text_begin(out, "because", '{');
	json_text_member(out, "function", diff_string(part->input.diff, part->input.diff->functions[function].shown));
	json_text_member(out, "place", place.data);
	json_text_close(out, '}');
	json_text_member(out, "where", place.data);
}

/* Writes what else is known of how it differs; nothing of a single side. */
static void put_circumstances(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	char key[24];

	if (suite->sides != DIFF_SIDES || b->presence != DIFF_IN_BOTH)
		return;
	json_text_member(out, "code", diff_code_name(b->code));
	for (int side = DIFF_BASE; side < DIFF_SIDES && b->cpu[side] > 0; side++)
		json_text_member_number(out, side_key((enum diff_side)side, "cpu_ns", key), b->cpu[side]);
	if (b->cpu[DIFF_BASE] > 0 && isfinite(b->cpu_change)) {
		json_text_member_number(out, "cpu_delta_pct", 100 * b->cpu_change);
		json_text_flag(out, "contradicted", b->is_contradicted);
	}
	if (suite->layouts[DIFF_BASE] > 0 && isfinite(b->layout_rsd))
		json_text_member_number(out, "layout_spread_pct", 100 * b->layout_rsd);
	if (b->more_executions > 0)
		put_count(out, "more_executions", b->more_executions);
}

static void put_benchmark(const struct render_suite *input, uint32_t number, bool is_time, struct buffer *out)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *benchmark = &suite->benchmarks[number];
	bool is_compared = benchmark->presence == DIFF_IN_BOTH;

	json_text_open(out, '{');
	json_text_member(out, "name", diff_suite_string(suite, benchmark->name));
	json_text_member(out, "uri", diff_suite_string(suite, benchmark->uri));
	json_text_member_if(out, "verdict", suite->sides == DIFF_SIDES ? diff_benchmark_verdict_name(benchmark) : "");
	json_text_member_number(out, is_time ? "base_ns" : "base", benchmark->value[DIFF_BASE]);
	json_text_member_number(out, is_time ? "head_ns" : "head", benchmark->value[DIFF_HEAD]);
	json_text_member_number(out, "delta_pct", is_compared ? 100 * benchmark->change : NAN);
	json_text_member_interval(
		out, "ci", is_compared ? 100 * benchmark->change_low : NAN, 100 * benchmark->change_high);
	json_text_member_number(out, "q", benchmark->q);
	put_counts(out, benchmark);
	put_circumstances(suite, benchmark, out);
	put_because(input, number, out);
	put_top(input, number, out);
	json_text_close(out, '}');
}

void json_benchmarks(const struct render_suite *input, bool is_time, struct buffer *out)
{
	json_text_list(out, "benchmarks");
	for (uint32_t i = 0; i < input->suite->benchmark_count && !out->failed; i++) {
		json_text_line(out, 2);
		put_benchmark(input, i, is_time, out);
	}
	json_text_end_list(out);
}

bool render_suite_json(const struct render_suite *input, struct buffer *out, struct error *err)
{
	const struct render_part *all = render_part_of(input, DIFF_ALL_BENCHMARKS);

	if (!all)
		return error_set(err, ERROR_EMPTY,
			"JSON needs the functions of all benchmarks together, and nothing was recorded of them; use --text");
	return json_document(&all->input, input, out, err);
}
