/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a comparison of suites in JSON: as of all benchmarks together, with a list of them. */
#include "render/json_document.h"
#include "render/json_text.h"
#include "render/suite_words.h"

#include <math.h>
#include <string.h>

enum { MOST_FUNCTIONS = 5, MOST_BYTES = 1 << 30 };

/* Writes the key of a member of one side. */
static void suite_json_put_key(struct buffer *out, const char *side, const char *what)
{
	buffer_printf(out, ",\"%s%s\":", side, what);
}

/* Writes [low, high] in percent of base; null without evidence. */
static void suite_json_put_interval(struct buffer *out, const struct diff_benchmark *benchmark)
{
	if (benchmark->presence != DIFF_IN_BOTH || !isfinite(benchmark->change_low) ||
		!isfinite(benchmark->change_high)) {
		JSON_TEXT(out, "null");
		return;
	}
	buffer_append_byte(out, '[');
	json_text_number(out, 100 * benchmark->change_low);
	buffer_append_byte(out, ',');
	json_text_number(out, 100 * benchmark->change_high);
	buffer_append_byte(out, ']');
}

/* 0 in the suite means that the number is not known. */
static void put_count(struct buffer *out, uint64_t count)
{
	if (count > 0)
		json_text_integer(out, count > INT64_MAX ? INT64_MAX : (int64_t)count);
	else
		JSON_TEXT(out, "null");
}

static void put_counts(struct buffer *out, const struct diff_benchmark *benchmark)
{
	static const char *const sides[DIFF_SIDES] = { "base_", "head_" };

	for (int side = 0; side < DIFF_SIDES; side++) {
		suite_json_put_key(out, sides[side], "executions");
		json_text_integer(out, (int64_t)benchmark->executions[side]);
		suite_json_put_key(out, sides[side], "rounds");
		put_count(out, benchmark->rounds[side]);
		suite_json_put_key(out, sides[side], "iterations");
		put_count(out, benchmark->iterations[side]);
	}
}

/* The functions that explain the benchmark, if it was explained. */
static bool put_top(const struct render_suite *input, uint32_t benchmark, struct buffer *out, struct error *err)
{
	const struct render_part *part = render_part_of(input, benchmark);
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	JSON_TEXT(out, ",\"top\":[");
	if (part && !suite_words_functions(input, part, MOST_FUNCTIONS, &list, err))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		const struct diff *diff = part->input.diff;

		if (i > 0)
			buffer_append_byte(out, ',');
		if (!json_text_string(out, diff_string(diff, diff->functions[list.ids[i]].shown)))
			return error_set_memory(err);
	}
	buffer_append_byte(out, ']');
	return true;
}

/* Writes the function that explains the change, with the line that changed most. */
static bool put_because(const struct render_suite *input, uint32_t benchmark, struct buffer *out, struct error *err)
{
	const struct render_part *part = render_part_of(input, benchmark);
	uint32_t function = suite_words_because(input, part);
	CLEANUP(buffer_deinit) struct buffer place = { 0 };

	if (function == PROFILE_NONE) {
		JSON_TEXT(out, ",\"because\":null,\"where\":null");
		return true;
	}
	JSON_TEXT(out, ",\"because\":");
	buffer_init(&place, MOST_BYTES);
	suite_words_place(part, function, &place);
	buffer_append(&place, "", 0);
	JSON_TEXT(out, "{\"function\":");
	if (!buffer_ok(&place, err) ||
		!json_text_string(out, diff_string(part->input.diff, part->input.diff->functions[function].shown)))
		return error_set_memory(err);
	JSON_TEXT(out, ",\"place\":");
	if (!json_text_string(out, place.data))
		return error_set_memory(err);
	JSON_TEXT(out, "},\"where\":");
	return json_text_string(out, place.data) || error_set_memory(err);
}

/* Writes what else is known of how it differs; nothing of a single side. */
static void put_circumstances(const struct diff_suite *suite, const struct diff_benchmark *b, struct buffer *out)
{
	static const char *const sides[DIFF_SIDES] = { "base_", "head_" };

	if (suite->sides != DIFF_SIDES || b->presence != DIFF_IN_BOTH)
		return;
	buffer_printf(out, ",\"code\":\"%s\"", diff_code_name(b->code));
	for (int side = 0; side < DIFF_SIDES && b->cpu[side] > 0; side++) {
		suite_json_put_key(out, sides[side], "cpu_ns");
		json_text_number(out, b->cpu[side]);
	}
	if (b->cpu[DIFF_BASE] > 0 && isfinite(b->cpu_change)) {
		JSON_TEXT(out, ",\"cpu_delta_pct\":");
		json_text_number(out, 100 * b->cpu_change);
		buffer_append_string(out, ",\"contradicted\":");
		buffer_append_string(out, b->is_contradicted ? "true" : "false");
	}
	if (suite->layouts[DIFF_BASE] > 0 && isfinite(b->layout_rsd)) {
		JSON_TEXT(out, ",\"layout_spread_pct\":");
		json_text_number(out, 100 * b->layout_rsd);
	}
	if (b->more_executions > 0) {
		JSON_TEXT(out, ",\"more_executions\":");
		put_count(out, b->more_executions);
	}
}

static bool put_benchmark(
	const struct render_suite *input, uint32_t number, bool is_time, struct buffer *out, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *benchmark = &suite->benchmarks[number];
	const char *unit = is_time ? "_ns" : "";

	JSON_TEXT(out, "{\"name\":");
	if (!json_text_string(out, diff_suite_string(suite, benchmark->name)))
		return error_set_memory(err);
	JSON_TEXT(out, ",\"uri\":");
	if (!json_text_string(out, diff_suite_string(suite, benchmark->uri)))
		return error_set_memory(err);
	JSON_TEXT(out, ",\"verdict\":");
	if (suite->sides == DIFF_SIDES)
		buffer_printf(out, "\"%s\"", diff_benchmark_verdict_name(benchmark));
	else
		JSON_TEXT(out, "null");
	suite_json_put_key(out, "base", unit);
	json_text_number(out, benchmark->value[DIFF_BASE]);
	suite_json_put_key(out, "head", unit);
	json_text_number(out, benchmark->value[DIFF_HEAD]);
	JSON_TEXT(out, ",\"delta_pct\":");
	json_text_number(out, benchmark->presence == DIFF_IN_BOTH ? 100 * benchmark->change : NAN);
	JSON_TEXT(out, ",\"ci\":");
	suite_json_put_interval(out, benchmark);
	JSON_TEXT(out, ",\"q\":");
	json_text_number(out, benchmark->q);
	put_counts(out, benchmark);
	put_circumstances(suite, benchmark, out);
	if (!put_because(input, number, out, err) || !put_top(input, number, out, err))
		return false;
	buffer_append_byte(out, '}');
	return true;
}

/* Writes the member `benchmarks`, one of them a line. */
static bool put_benchmarks(const struct render_suite *input, bool is_time, struct buffer *out, struct error *err)
{
	size_t count = input->suite->benchmark_count;

	buffer_append_string(out, ",\n \"benchmarks\": [");
	for (uint32_t i = 0; i < count && !out->failed; i++) {
		buffer_append_string(out, i ? ",\n  " : "\n  ");
		if (!put_benchmark(input, i, is_time, out, err))
			return false;
	}
	buffer_append_string(out, count ? "\n ]" : "]");
	return true;
}

bool render_suite_json(const struct render_suite *input, struct buffer *out, struct error *err)
{
	const struct render_part *all = render_part_of(input, DIFF_ALL_BENCHMARKS);
	CLEANUP(buffer_deinit) struct buffer benchmarks = { 0 };

	if (!all)
		return error_set(err, ERROR_EMPTY,
			"JSON needs the functions of all benchmarks together, and nothing was recorded of them; use --text");
	buffer_init(&benchmarks, MOST_BYTES);
	return put_benchmarks(input, input->suite->is_measured || all->input.diff->is_time, &benchmarks, err) &&
	       buffer_ok(&benchmarks, err) && json_document(&all->input, input->suite, &benchmarks, out, err);
}
