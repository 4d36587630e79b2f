/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * Which files are one although their paths differ: those of two builds in two directories, or one that was renamed. The
 * functions that the diff matched tell: the file of base's is that of head's, and so are files of one name that lines
 * of both come from (`#include` within a function). A path that both sides have is itself, and any other has one
 * partner at most, that of the matched functions with most self time.
 */
struct diff_file_pairs;

/*
 * Finds pairs of files; `diff` is the comparison of the whole, and `profiles` are those that it was made of, both of
 * two sides.
 */
void diff_file_pairs_create(
	const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], struct diff_file_pairs **pairs);
void diff_file_pairs_destroy(struct diff_file_pairs *pairs);

/*
 * Returns the path that the other side has for the file of a path that only one side has; NULL: none, or no other one.
 */
const char *diff_file_partner(const struct diff_file_pairs *pairs, const char *path, size_t bytes);

static inline void diff_file_pairs_cleanup(struct diff_file_pairs **pairs)
{
	diff_file_pairs_destroy(*pairs);
}
