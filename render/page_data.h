/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

/*
 * What the viewer reads (render/viewer/decode.js is the other side). Blocks are appended raw; the page gzips each of
 * them.
 *
 * - meta: JSON of what was compared, the verdict, the recordings.
 * - functions: columns of the function table, estimates as 32-bit floats; the strings, as their count, the size of all
 * in bytes and their UTF-8 with a NUL between two; then the columns that the first picture does not need. An origin is
 * a number of enum profile_origin, or the one after the last of them: the function as it runs in interrupts.
 * - tree: columns of the union tree in preorder. Flags are those of struct diff_node. Self values hold the interrupts,
 * so that a frame is as wide as the thread stood in it; totals that leave interrupts out are the viewer's to sum.
 * - samples: columns of (node, thread, count, value by metric) of each side; a metric that is the count has no column
 * of its own.
 * - timeline: columns of (time, sample) of each side; only where the recording has one.
 *
 * Numbers are LEB128, signed ones zigzag. A column is its values one after the other, without a length: each block
 * starts with the count. Columns that the first picture needs are fixed ones, which a browser takes as they stand: a
 * byte telling how wide a value is (1, 2 or 4 bytes, unsigned; 8: a double), then the values, little-endian.
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

/* A value type that all sides have. Strings are borrowed from head's profile. */
struct page_metric {
	const char *type, *unit;
	uint32_t index[DIFF_SIDES]; /* its place among each side's value types */
	bool is_tested;             /* what the diff's evidence is about */
};

/* In head's order; returns how many. */
size_t page_data_metrics(const struct render_input *input, struct page_metric metrics[PROFILE_MAX_VALUE_TYPES]);

/* A fixed column, as wide as its largest value needs. */
void page_data_append_fixed(struct buffer *out, const uint64_t *values, size_t count);

/* A C string of any bytes as UTF-8: what is none becomes U+FFFD. */
void page_data_append_utf8(struct buffer *out, const char *string);
