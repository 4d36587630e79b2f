/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Returns what a command gets whose profile is written to `output`: where that is "-", our standard output is the
 * profile's, and the command prints on standard error, as with perf. NULL: ours.
 */
const int *streams_apart_from(const char *output);
