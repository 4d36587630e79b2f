/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* What sentences about a comparison are made of: one wording for verdict, scale and warnings. */

/* "CPU time", or the metric's own name. */
const char *words_metric(const struct diff *diff);

/* " per run", " at equal load", " per second", ...: what a figure is compared by, behind the metric. "" for shares. */
const char *words_scale(enum diff_scale_mode mode);

/* Room for a change in words. */
enum { WORDS_CHANGE = 240 };

/*
 * "12.3 % more CPU time per run (95 % interval 9.8 to 14.9 %)", "8.76 times as much CPU time": from twice as much on in
 * times, with why an interval without 0 is no proof.
 */
void words_change(const struct diff *diff, const struct diff_estimate *estimate, char out[WORDS_CHANGE]);

/* The same of base and head as another factor scales them, without an interval: "2.47 times as much". */
void words_ratio(const struct diff *diff, double base, double head, char out[WORDS_CHANGE]);

/* A function's name as a sentence can hold it. The buffer is initialised, and is the caller's to free. */
void words_name(const struct diff *diff, uint32_t name, struct buffer *out);
