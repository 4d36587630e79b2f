/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Decides the mode and the factor: fills diff->scale. ERROR_USAGE when a mode lacks what it needs. */
COMMON_MUST_CHECK
bool scale_choose(struct diff_build *build, struct error *err);

/* Says what was divided out, and what may be the machine's: fills scale_text. Needs the evidence. */
COMMON_MUST_CHECK
bool scale_describe(struct diff_build *build, struct error *err);

/*
 * Whether the metric follows load at all: what is in use does not; and where samples are not counted, ratios of
 * functions do not tell how sure they are.
 */
bool scale_has_load(const struct diff_build *build);

/* Whether every run is a command from its start to its end. */
bool scale_whole_commands(const struct profile *profile);
