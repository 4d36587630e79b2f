/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Longer names are cut in the middle first. */
enum { LABEL_LONGEST = 400 };

/*
 * Appends the form of a function's name that fits its box, in at most `columns` columns: the whole name, else without
 * arguments, without those of templates (`‹…›`), without scopes (`…::leaf`), and at last cut at the end. The viewer
 * does the same (viewer/drawing/labels.js).
 */
void label_append(const char *name, size_t columns, struct buffer *out);
