/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Chooses the metric on both sides and sums it: fills metric, sample_weight, diff->metric, unit, raw_total. */
COMMON_MUST_CHECK
bool metric_choose(struct diff_build *build, struct error *err);
