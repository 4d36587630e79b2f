/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Compares the figures of whole runs (Welch's t on logarithms, or the paired t), and names outliers (modified z scores,
 * Iglewicz and Hoaglin 1993): fills diff->runs.
 */
COMMON_MUST_CHECK
bool run_figures_collect(struct diff_build *build, struct error *err);
