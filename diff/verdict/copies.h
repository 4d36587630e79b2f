/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds recordings that are given more than once, by start time and duration: on both sides, where nothing can differ,
 * or twice on one side, where a copy seems to confirm the other run. Describes it in `text`, which is "" if there are
 * none.
 */
void copies_name(const struct diff_build *build, char *text, size_t size);
