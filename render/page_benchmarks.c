/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of a suite: its list of benchmarks. */
#include "render/json_text.h"
#include "render/page_data.h"
#include "render/suite_words.h"

#include <math.h>
#include <stdlib.h>

static const size_t max_text_bytes = (size_t)1 << 20;

/* Appends a text of words: what was recorded, as in a page of one comparison; what the verdicts rest on. */
static void benchmarks_words(const struct diff_suite *suite, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer title = { 0 }, evidence = { 0 };

	buffer_init(&title, max_text_bytes);
	buffer_init(&evidence, max_text_bytes);
	profile_identities(suite->sides == 2 ? suite->profiles[DIFF_BASE] : NULL, suite->profiles[DIFF_HEAD], &title);
	suite_words_evidence(suite, &evidence);
	out->failed |= title.failed || evidence.failed;
	json_text_member(out, "title", title.data);
	json_text_member(out, "evidenceText", evidence.data);
}

static void benchmarks_recordings(const struct render_suite *input, struct buffer *out)
{
	const struct diff_suite *suite = input->suite;

	json_text_begin(out, "recordings", '[');
	for (size_t side = suite->sides == 2 ? DIFF_BASE : DIFF_HEAD; side < DIFF_SIDES; side++) {
		const struct profile *profile = suite->profiles[side];

		json_text_open(out, '{');
		json_text_member(out, "name", input->names[side]);
		json_text_member(out, "command", profile ? profile_string(profile, profile->facts.command) : "");
		json_text_close(out, '}');
	}
	json_text_close(out, ']');
}

static void benchmarks_warnings(const struct diff_suite *suite, struct buffer *out)
{
	json_text_begin(out, "warnings", '[');
	for (size_t i = 0; i < suite->warning_count; i++)
		json_text_string(out, diff_suite_string(suite, suite->warnings[i].text));
	json_text_close(out, ']');
}

/* The number of a part, null if there is none. */
static void benchmarks_part(struct buffer *out, uint32_t part)
{
	if (part == PAGE_NO_PART)
		json_text_null(out);
	else
		json_text_integer(out, part);
}

/*
 * The function that explains the change and where it is; where none does, an empty name and what else there is to say:
 * "no changed code ran here"; null if nothing is.
 */
static void benchmarks_because(const struct render_suite *input, uint32_t benchmark, struct buffer *out)
{
	const struct render_part *part = render_part_of(input, benchmark);
	uint32_t function = suite_words_because(input, part);
	CLEANUP(buffer_deinit) struct buffer where = { 0 };

	suite_words_where(input, benchmark, &where);
	out->failed |= where.failed;
	if (function == PROFILE_NONE && where.size == 0) {
		json_text_null(out);
		return;
	}
	json_text_open(out, '[');
	json_text_string(out, function == PROFILE_NONE
				      ? ""
				      : diff_string(part->input.diff, part->input.diff->functions[function].shown));
	json_text_string(out, where.data);
	json_text_close(out, ']');
}

/*
 * Appends [name, URI, verdict, base, head, change, low, high, q, rounds and iterations of base, of head, part,
 * because].
 */
static void benchmarks_row(const struct render_suite *input, uint32_t number, uint32_t part, struct buffer *out)
{
	const struct diff_suite *suite = input->suite;
	const struct diff_benchmark *benchmark = &suite->benchmarks[number];
	const double numbers[] = { suite->sides == 2 ? benchmark->value[DIFF_BASE] : NAN, benchmark->value[DIFF_HEAD],
		benchmark->change, benchmark->change_low, benchmark->change_high, benchmark->q };

	json_text_open(out, '[');
	json_text_string(out, suite_words_name(suite, benchmark));
	json_text_string(out, diff_suite_string(suite, benchmark->uri));
	json_text_string(out, suite->sides == 2 ? diff_benchmark_verdict_name(benchmark) : "");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_text_number(out, numbers[i]);
	for (int side = 0; side < DIFF_SIDES; side++) {
		json_text_integer(out, (int64_t)benchmark->rounds[side]);
		json_text_integer(out, (int64_t)benchmark->iterations[side]);
	}
	benchmarks_part(out, part);
	benchmarks_because(input, number, out);
	json_text_close(out, ']');
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
	CLEANUP(cleanup_free) uint32_t *parts = memory_zeroed(suite->benchmark_count + 1, sizeof(*parts));
	size_t left_out_count = 0;

	for (size_t i = 0; i < input->part_count; i++)
		left_out_count += left_out[i];
	json_text_open(out, '{');
	json_text_member_integer(out, "format", 1);
	json_text_member_integer(out, "sides", (int64_t)suite->sides);
	json_text_member_integer(out, "leftOut", (int64_t)left_out_count);
	json_text_key(out, "all");
	benchmarks_part(out, benchmarks_place(input, left_out, parts));
	json_text_flag(out, "isMeasured", suite->is_measured);
	json_text_flag(out, "isExact", suite->is_exact);
	json_text_member(out, "tool", input->tool ? input->tool : "kelvin");
	benchmarks_words(suite, out);
	json_text_member(out, "shortWords", suite_words_of_short_proof);
	json_text_member(out, "metric", diff_suite_string(suite, suite->metric));
	json_text_member(out, "metricWords", diff_suite_string(suite, suite->metric_words));
	json_text_member(out, "unit", diff_suite_string(suite, suite->unit));
	json_text_member(out, "verdict", suite->sides == 2 ? diff_verdict_name(suite->verdict) : "");
	json_text_member(out, "verdictText", diff_suite_string(suite, suite->verdict_text));
	benchmarks_warnings(suite, out);
	benchmarks_recordings(input, out);
	json_text_begin(out, "rows", '[');
	for (uint32_t i = 0; i < suite->benchmark_count; i++)
		benchmarks_row(input, i, parts[i], out);
	json_text_close(out, ']');
	json_text_close(out, '}');
	return buffer_ok(out, err);
}
