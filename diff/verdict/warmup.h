/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds out whether a side was recorded while its program was warming up: a run-time compiler was busy, and much less
 * in the second half of the recording than in the first, or for as much work on the other side. Until functions are
 * compiled they run several times slower, and memory is touched for the first time, so that such a recording tells
 * little of the program. Commands that were recorded from their start are no such case: both sides have the start.
 *
 * Writes what is to be said of it; "" if there is nothing.
 */
void warmup_describe(const struct diff_build *build, enum diff_side side, char *text, size_t size);
