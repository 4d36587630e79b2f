/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Whether whole runs look like those of a program that repeats its work for a fixed time (benchmark harnesses, load generators): its
 * time per run is what it was asked for, however fast it is. If so, says it in `text`, with how to compare all the same. Needs the
 * states and what the runs took.
 */
bool timed_runs(const struct diff_build *build, char *text, size_t size);
