/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Median of ratios (Anders and Huber 2010), over functions of unchanged code where there are enough, else over all: fills
 * build->robust_factor, its variance, and what it rests on. Load makes more of every event, counted or timed. Needs raw_self and
 * code.
 */
COMMON_MUST_CHECK
bool scale_robust(struct diff_build *build, struct error *err);

/* Decides the mode and the factor: fills diff->scale. ERROR_USAGE when a mode lacks what it needs. */
COMMON_MUST_CHECK
bool scale_choose(struct diff_build *build, struct error *err);

/* Says what was divided out: fills scale_text. `speed_rsd`: of the machine's speed between runs, NAN when not known. */
COMMON_MUST_CHECK
bool scale_describe(struct diff_build *build, double speed_rsd, struct error *err);

/* Whether every run is a command from its start to its end. */
bool scale_whole_commands(const struct profile *profile);

/* Recorded time of a side's runs; 0 when a run does not know it. */
double scale_seconds(const struct profile *profile);
