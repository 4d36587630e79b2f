/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Whether a recording is there more than once, by when it began and how long it took: on both sides, where nothing can
 * differ, or twice on one, where it passes for a run that agrees with another. Says so in `text`, which is "" when none
 * is.
 */
COMMON_MUST_CHECK
bool copies_name(const struct diff_build *build, char *text, size_t size, struct error *err);
