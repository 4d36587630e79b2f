/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Programs that repeat their work for a fixed time (benchmark harnesses, load generators): their time per run is what
 * was asked for, however fast they are. Both say so in `text`, with how to compare all the same. They need the states
 * and what the runs took.
 */

/* Whether both sides are whole runs of a harness or a load generator that is known to work so. */
bool timed_by_design(const struct diff_build *build, char *text, size_t size);

/* Whether all runs last equally long although their work changed: a reason to look, not a proof. */
bool timed_by_looks(const struct diff_build *build, char *text, size_t size);
