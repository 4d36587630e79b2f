/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The size of a difference in units that a reader knows: "31 ms per request". */

enum { SIZE_WORDS = 80 };

/* Appends a duration: "2.1 s", "31 ms". */
void size_append_duration(double ns, struct buffer *text);

/* Returns what scaled values are divided by to be those of one run, second, request or unit of work. */
double size_basis(const struct diff_build *build);

/*
 * Writes "+31 ms per request". "" if the metric is no time, or the scale says of what the values are only relatively.
 */
void size_words(const struct diff_build *build, double delta, char out[static SIZE_WORDS]);
