/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Aligns the lines of two versions of a text. Lines that are unique in both are anchors, as many as stand in the same
 * order (patience diff, Bram Cohen); between anchors again, where there are further ones; then by the shortest edit
 * script (Myers 1986, "An O(ND) difference algorithm and its variations"). A script of more than ALIGN_MOST_EDITS is
 * ended where it has got furthest, and another begins there: the time is in proportion to the lines, and the alignment
 * is right, if not the shortest.
 */
enum { ALIGN_MOST_EDITS = 512, ALIGN_MOST_LINES = 1 << 20 };

/* The lines of one version. */
struct align_side {
	const uint32_t *lines; /* [line] a number below `line_numbers`, which equal lines share; borrowed */
	size_t count;
};

/*
 * Aligns the lines of two texts; match[i], for each line of `base`: the line of `head` that is the same, or UINT32_MAX.
 * Equal numbers only are matched, and the matches increase.
 */
COMMON_MUST_CHECK
bool align_lines(const struct align_side *base, const struct align_side *head, size_t line_numbers, uint32_t *match,
	struct error *err);

/* A text of one line, without its end; not NUL-terminated. */
struct align_text {
	const char *text;
	size_t size;
};

/*
 * Chooses which of some lines that were replaced stand opposite which of those that replaced them: the likest ones, in
 * order. pair[i], for each line of `base`: the line of `head`, or UINT32_MAX. As many as possible have a partner where
 * there are many lines of each.
 */
void align_pair(const struct align_text *base, size_t base_count, const struct align_text *head, size_t head_count,
	uint32_t *pair);
