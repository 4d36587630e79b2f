/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/history.h"
#include "render/report.h"
#include "render/suite.h"

/*
 * Appends the data that the viewer reads (render/viewer/data/decode.js decodes it). Blocks are appended raw; the page
 * gzips each of them.
 *
 * - meta: JSON of the compared recordings and the verdict.
 * - functions: columns of the function table, estimates as 32-bit floats; the strings, as their count, their total size
 * in bytes and their UTF-8 with a NUL between two, before which the changes of a diff stand; then the columns that the
 * first picture does not need. An origin is a number of enum profile_origin, or the one after its last, for a function
 * in interrupts. A language is a number of enum profile_language. The name is the one that people read; a name that
 * identifies the function, and a place other than the module, are there where they differ. A function whose own change
 * is proven has the line that changed most, where lines are known.
 * - tree: columns of the union tree in preorder. Flags are those of struct diff_node. Self values include interrupts,
 * so that a frame is as wide as the thread's time in it; the viewer computes totals without interrupts.
 * - samples: columns of (node, thread, count, value by metric) of each side; a metric that equals the count has no
 * column.
 * - timeline: of each side, the number of its events, and of its threads; how many events each thread has; columns of
 * (time, sample), those of a thread together and in order of time; the weights of events that have one.
 * - waits: of each side the locks, the functions that ended waits, and columns of (node, lock, function, nanoseconds)
 * of the longest waits; only in a page of recordings that have such. Its meta lists the functions that are no functions
 * but classes of waits.
 * - bottlenecks: of the functions, then of the nodes of the tree: for each side a column of classes, numbers of enum
 * profile_bottleneck, as bytes, and the four components of the self cost, unscaled; last the classes of the changes,
 * where there are two sides. Only in a page of profiles that tell of bottlenecks.
 * - lines: functions line by line, as struct listing has them: of each the words for where its texts are from and what
 * shows that, its files, and how many rows it has; then columns of the rows of all functions: the lines of each side,
 * their texts, the file where it is another one, the state with what else is known as bits, times and the ends of the
 * interval of their difference as doubles; last all strings. Only in a page with a listing,
 * as is the next block.
 * - linestacks: which of these rows the samples go through. A byte, 1 where that has no room; else of each side chains
 * of rows, each of which goes on from one before it (how far that is back, its row); stops, where stacks end (a chain,
 * the row that was executing, those that this was inlined at); a column with the stop of each sample, from 1.
 * - benchmarks: JSON of the list of a suite; a row says which part of the page explains its benchmark. Only in a page
 * of a suite, whose other blocks belong to parts: their ids begin with the part's number.
 * - history: JSON of the series of a history, of each its profiles, points, functions, changes and drifts; a point says
 * which part of the page explains it, as above. Functions are those that changed or drifted, then the largest others.
 * Only in a page of a history, as is the next block; page_history.c tells each member.
 * - values: of each series a column of the total, then of each of its functions one of its self time and one of its
 * time with all that it calls: a double, the quantum, and its multiples by profile as a column of fixed width. A
 * profile that has none of a function's time has 0. Functions are in percent of the series' typical total, the total is
 * in the unit of the metric, as in struct history_change.
 *
 * Numbers are LEB128, signed ones zigzag. A column is its values in sequence, without a length: each block starts with
 * the count. Columns that the first picture needs, and long ones of few different values, have a fixed width, so that a
 * browser can use them without decoding: a byte with the width of a value (1, 2 or 4 bytes, unsigned; 8: a double),
 * then the values, little-endian.
 */
COMMON_MUST_CHECK
bool page_data_meta(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_functions(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_tree(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_samples(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_timeline(const struct render_input *input, struct buffer *out, struct error *err);

/* Returns whether a side knows of locks or of what ended waits. */
bool page_data_has_releases(const struct render_input *input);

COMMON_MUST_CHECK
bool page_data_waits(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_bottlenecks(const struct render_input *input, struct buffer *out, struct error *err);

/* Returns whether a page has blocks of lines. */
bool page_data_has_lines(const struct render_input *input);

COMMON_MUST_CHECK
bool page_data_lines(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_line_stacks(const struct render_input *input, struct buffer *out, struct error *err);

enum { PAGE_NO_PART = UINT32_MAX };

/* Appends the benchmarks; `left_out` ([part]): the page does not have it, since it would be too large. */
COMMON_MUST_CHECK
bool page_data_benchmarks(
	const struct render_suite *input, const bool *left_out, struct buffer *out, struct error *err);

/* Appends the history; `left_out` as above. Makes both blocks. */
COMMON_MUST_CHECK
bool page_data_history(const struct render_history *input, const bool *left_out, struct buffer *list,
	struct buffer *values, struct error *err);

/* A value type that all sides have. Strings are borrowed from head's profile. */
struct page_metric {
	const char *type, *unit;
	uint32_t index[DIFF_SIDES]; /* its index among each side's value types */
	bool is_tested;             /* the diff's evidence is about this metric */
};

/* Lists the metrics in head's order; returns their number. */
size_t page_data_metrics(const struct render_input *input, struct page_metric metrics[PROFILE_MAX_VALUE_TYPES]);

/* Appends a column of fixed width, which is that of its largest value. */
void page_data_append_fixed(struct buffer *out, const uint64_t *values, size_t count);

/* Appends a C string of any bytes as UTF-8; U+FFFD replaces what is not UTF-8. */
void page_data_append_utf8(struct buffer *out, const char *string);
