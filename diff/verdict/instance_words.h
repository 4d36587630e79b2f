/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Sentences on instances that lie far from the others, and on CPU models that differ within a side. */

/* Appends a sentence on the outliers of a side. False: there are none. */
bool instance_words_outliers(const struct diff *diff, enum diff_side side, struct buffer *text);

/*
 * Appends a sentence on the CPU models. False: each side is of one model. `*blocks`: the sides ran on models so
 * different that this may be what differs between them.
 */
bool instance_words_cpus(const struct diff *diff, struct buffer *text, bool *blocks);
