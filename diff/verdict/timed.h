/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Programs that repeat their work for a fixed time, such as benchmark harnesses and load generators: their time per run
 * is the one asked for, however fast they are. Both functions describe it in `text`, with the options that allow a
 * comparison. They need the states and the figures of the runs.
 */

/* Returns whether both sides are whole runs of a known harness or load generator that runs for a fixed time. */
bool timed_by_design(const struct diff_build *build, char *text, size_t size);

/* Returns whether all runs take equally long although their work changed. This is a reason to check, not a proof. */
bool timed_by_looks(const struct diff_build *build, char *text, size_t size);
