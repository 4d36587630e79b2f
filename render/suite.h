/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"
#include "render/report.h"

/*
 * Output of a comparison benchmark by benchmark, or of one side's benchmarks: the table of benchmarks first, then for
 * each explained one the functions and lines behind its change.
 */

struct render_part {
	uint32_t benchmark;        /* index in suite->benchmarks; DIFF_ALL_BENCHMARKS: all together */
	struct render_input input; /* of that benchmark */
};

/* All members are borrowed. */
struct render_suite {
	const struct diff_suite *suite;
	/* those that are explained, in the order of the suite; the first may be all benchmarks together */
	const struct render_part *parts;
	size_t part_count;
	const char *names[DIFF_SIDES]; /* the user's names of the sides; may be NULL */
	const char *tool;
	size_t max_page_bytes; /* the page leaves out parts that would make it larger; 0: 64 MB */
};

/* Returns the part that explains a benchmark; NULL: there is none. */
const struct render_part *render_part_of(const struct render_suite *input, uint32_t benchmark);

/*
 * Appends what a report of a single benchmark is of, for render_input.title: its URI and, where a harness measured it,
 * what it found: "benchmark t.py::test_parse: 12.4 µs → 15.0 µs per iteration, +21.2 % (20.8 to 21.7 %), regressed".
 * Not cleaned.
 */
void render_benchmark_title(const struct diff_suite *suite, uint32_t benchmark, struct buffer *out);

COMMON_MUST_CHECK
bool render_suite_text(const struct render_suite *input, const struct render_text_options *options, struct buffer *out,
	struct error *err);

/* Writes as render_json() does of all benchmarks together, with `benchmarks` in addition. */
COMMON_MUST_CHECK
bool render_suite_json(const struct render_suite *input, struct buffer *out, struct error *err);

/* Writes at most 65,536 characters with a hidden marker first, by which a comment is found again to be replaced. */
COMMON_MUST_CHECK
bool render_suite_markdown(const struct render_suite *input, struct buffer *out, struct error *err);

/* Writes one page with a list of benchmarks and the flame graphs of all parts (docs/report.md). */
COMMON_MUST_CHECK
bool render_suite_html(const struct render_suite *input, struct buffer *out, struct error *err);
