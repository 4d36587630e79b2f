/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Longer names are cut in their middle before anything else is done with them. */
enum { LABEL_LONGEST = 400 };

/*
 * Appends what of a function's name has room on its box, in at most `columns` columns: the whole, else without
 * arguments, without those of templates (`‹…›`), without its scopes (`…::leaf`), and cut at its end. The viewer does
 * the same (viewer/labels.js).
 */
void label_append(const char *name, size_t columns, struct buffer *out);
