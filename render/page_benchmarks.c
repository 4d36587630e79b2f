/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of a suite: its list of benchmarks. */
#include "render/json_text.h"
#include "render/page_data.h"
#include "render/suite_words.h"

#include <math.h>
#include <stdlib.h>

static const size_t max_text_bytes = (size_t)1 << 20;

/* Appends what was recorded, as in a page of one comparison: labels if they say it. */
static bool benchmarks_title(const struct diff_suite *suite, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	buffer_init(&title, max_text_bytes);
	profile_identities(suite->sides == 2 ? suite->profiles[DIFF_BASE] : NULL, suite->profiles[DIFF_HEAD], &title);
	return !title.failed && json_text_member(out, "title", title.data);
}

/* Appends what the values are, and what the verdicts rest on. */
static bool benchmarks_evidence(const struct diff_suite *suite, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, max_text_bytes);
	suite_words_evidence(suite, &words);
	return !words.failed && json_text_member(out, "evidenceText", words.data);
}

static bool benchmarks_recordings(const struct render_suite *input, struct buffer *out)
{
	const struct diff_suite *suite = input->suite;
	size_t first = suite->sides == 2 ? DIFF_BASE : DIFF_HEAD;

	JSON_TEXT(out, ",\"recordings\":[");
	for (size_t side = first; side < DIFF_SIDES; side++) {
		const struct profile *profile = suite->profiles[side];

		buffer_append_string(out, side > first ? ",{\"name\":" : "{\"name\":");
		if (!json_text_string(out, input->names[side] ? input->names[side] : "") ||
			!json_text_member(
				out, "command", profile ? profile_string(profile, profile->facts.command) : ""))
			return false;
		JSON_TEXT(out, "}");
	}
	JSON_TEXT(out, "]");
	return true;
}

static bool benchmarks_warnings(const struct diff_suite *suite, struct buffer *out)
{
	JSON_TEXT(out, ",\"warnings\":[");
	for (size_t i = 0; i < suite->warning_count; i++) {
		if (i > 0)
			JSON_TEXT(out, ",");
		if (!json_text_string(out, diff_suite_string(suite, suite->warnings[i].text)))
			return false;
	}
	JSON_TEXT(out, "]");
	return true;
}

/* The number of a part, null if there is none. */
static void benchmarks_part(struct buffer *out, uint32_t part)
{
	if (part == PAGE_NO_PART)
		JSON_TEXT(out, "null");
	else
		buffer_printf(out, "%u", part);
}

/* Appends what else there is to say of a change: "no changed code ran here"; null if nothing is. */
static bool benchmarks_remark(const struct diff_suite *suite, uint32_t benchmark, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer remark = { 0 };

	if (!suite_words_has_remark(suite, &suite->benchmarks[benchmark])) {
		JSON_TEXT(out, ",null");
		return true;
	}
	buffer_init(&remark, max_text_bytes);
	suite_words_remark(suite, &suite->benchmarks[benchmark], &remark);
	JSON_TEXT(out, ",[\"\",");
	if (remark.failed || !json_text_string(out, remark.data))
		return false;
	JSON_TEXT(out, "]");
	return true;
}

/* The function that explains the change and where it is, or an empty name and a remark. */
static bool benchmarks_because(const struct render_suite *input, uint32_t benchmark, struct buffer *out)
{
	const struct render_part *part = render_part_of(input, benchmark);
	uint32_t function = suite_words_because(input, part);
	CLEANUP(buffer_deinit) struct buffer place = { 0 };

	if (function == PROFILE_NONE)
		return benchmarks_remark(input->suite, benchmark, out);
	buffer_init(&place, max_text_bytes);
	suite_words_place(part, function, &place);
	buffer_append(&place, "", 0);
	JSON_TEXT(out, ",[");
	if (place.failed ||
		!json_text_string(out, diff_string(part->input.diff, part->input.diff->functions[function].shown)))
		return false;
	JSON_TEXT(out, ",");
	if (!json_text_string(out, place.data))
		return false;
	JSON_TEXT(out, "]");
	return true;
}

/*
 * Appends [name, URI, verdict, base, head, change, low, high, q, rounds and iterations of base, of head, part,
 * because].
 */
static bool benchmarks_row(const struct render_suite *input, uint32_t number, uint32_t part, struct buffer *out)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *benchmark = &suite->benchmarks[number];
	const double numbers[] = { suite->sides == 2 ? benchmark->value[DIFF_BASE] : NAN, benchmark->value[DIFF_HEAD],
		benchmark->change, benchmark->change_low, benchmark->change_high, benchmark->q };

	JSON_TEXT(out, "[");
	if (!json_text_string(out, suite_words_name(suite, benchmark)))
		return false;
	JSON_TEXT(out, ",");
	if (!json_text_string(out, diff_suite_string(suite, benchmark->uri)))
		return false;
	buffer_printf(out, ",\"%s\"", suite->sides == 2 ? diff_benchmark_verdict_name(benchmark) : "");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		JSON_TEXT(out, ",");
		json_text_number(out, numbers[i]);
	}
	for (int side = 0; side < DIFF_SIDES; side++)
		buffer_printf(out, ",%llu,%llu", (unsigned long long)benchmark->rounds[side],
			(unsigned long long)benchmark->iterations[side]);
	JSON_TEXT(out, ",");
	benchmarks_part(out, part);
	if (!benchmarks_because(input, number, out))
		return false;
	JSON_TEXT(out, "]");
	return true;
}

static bool benchmarks_rows(const struct render_suite *input, const uint32_t *parts, struct buffer *out)
{
	JSON_TEXT(out, ",\"rows\":[");
	for (uint32_t i = 0; i < input->suite->benchmark_count; i++) {
		if (i > 0)
			JSON_TEXT(out, ",");
		if (!benchmarks_row(input, i, parts[i], out))
			return false;
	}
	JSON_TEXT(out, "]");
	return true;
}

/* Gives each benchmark its part in the page. Returns that of all benchmarks together. */
static uint32_t benchmarks_place(const struct render_suite *input, const bool *left_out, uint32_t *parts)
{
	uint32_t all = PAGE_NO_PART;

	for (size_t i = 0; i < input->suite->benchmark_count; i++)
		parts[i] = PAGE_NO_PART;
	for (size_t i = 0; i < input->part_count; i++) {
		uint32_t benchmark = input->parts[i].benchmark;

		if (left_out[i])
			continue;
		if (benchmark == DIFF_ALL_BENCHMARKS)
			all = (uint32_t)i;
		else if (benchmark < input->suite->benchmark_count)
			parts[benchmark] = (uint32_t)i;
	}
	return all;
}

bool page_data_benchmarks(const struct render_suite *input, const bool *left_out, struct buffer *out, struct error *err)
{
	const struct diff_suite *suite = input->suite;
	CLEANUP(cleanup_free) uint32_t *parts = calloc(suite->benchmark_count + 1, sizeof(*parts));
	size_t left_out_count = 0;
	bool ok;

	if (!parts)
		return error_set_memory(err);
	for (size_t i = 0; i < input->part_count; i++)
		left_out_count += left_out[i];
	buffer_printf(out, "{\"format\":1,\"sides\":%zu,\"leftOut\":%zu,\"all\":", suite->sides, left_out_count);
	benchmarks_part(out, benchmarks_place(input, left_out, parts));
	json_text_flag(out, "isMeasured", suite->is_measured);
	json_text_flag(out, "isExact", suite->is_exact);
	ok = json_text_member(out, "tool", input->tool ? input->tool : "kelvin") && benchmarks_title(suite, out) &&
	     json_text_member(out, "shortWords", suite_words_of_short_proof) &&
	     json_text_member(out, "metric", diff_suite_string(suite, suite->metric)) &&
	     json_text_member(out, "metricWords", diff_suite_string(suite, suite->metric_words)) &&
	     json_text_member(out, "unit", diff_suite_string(suite, suite->unit)) &&
	     json_text_member(out, "verdict", suite->sides == 2 ? diff_verdict_name(suite->verdict) : "") &&
	     json_text_member(out, "verdictText", diff_suite_string(suite, suite->verdict_text)) &&
	     benchmarks_evidence(suite, out) && benchmarks_warnings(suite, out) && benchmarks_recordings(input, out) &&
	     benchmarks_rows(input, parts, out);
	JSON_TEXT(out, "}");
	return ok ? buffer_ok(out, err) : error_set_memory(err);
}
