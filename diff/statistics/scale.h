/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Chooses the mode and the factor: fills diff->scale. ERROR_USAGE if a mode lacks the data that it needs. */
COMMON_MUST_CHECK
bool scale_choose(struct diff_build *build, struct error *err);

/* Describes the factor, and a difference that may be due to the machine: fills scale_text. Needs the evidence. */
void scale_describe(struct diff_build *build);

/*
 * Returns whether the metric depends on load in proportion. Metrics of what is in use do not, and waits do not either;
 * and if samples are not counted, the uncertainty of the functions' ratios is not known.
 */
bool scale_has_load(const struct diff_build *build);

/*
 * Why shares alone are compared, as a part of a sentence: "no file says for how long it was recorded".
 * "" where diff_scale.length_is_unknown is not set. Static.
 */
const char *scale_length_words(const struct diff_build *build);

/* The same as a warning, with what compares totals all the same. */
enum { SCALE_LENGTH_WORDS = 240 };
void scale_length_warning(const struct diff_build *build, char out[static SCALE_LENGTH_WORDS]);

/* Returns whether every run is a whole command, from start to exit. */
bool scale_whole_commands(const struct profile *profile);
