/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

/*
 * What the viewer reads (render/viewer/decode.js is the other side). Blocks are appended raw; the page gzips each of them.
 *
 *	meta      JSON: everything but the tree and the samples
 *	tree      columns of the union tree in preorder
 *	samples   columns of (node, thread, count, value) of each side
 *	timeline  columns of (time, sample) of each side; only where the recording has one
 *
 * Numbers in columns are LEB128, signed ones zigzag. A column is its values one after the other, without a length: each block
 * starts with the count.
 */
COMMON_MUST_CHECK
bool page_data_meta(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_tree(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_samples(const struct render_input *input, struct buffer *out, struct error *err);

COMMON_MUST_CHECK
bool page_data_timeline(const struct render_input *input, struct buffer *out, struct error *err);
