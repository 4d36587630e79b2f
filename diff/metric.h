/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Chooses the metric on both sides and sums it: fills metric, counts, sample_weight, diff->metric, unit, raw_total,
 * uncounted. */
COMMON_MUST_CHECK
bool metric_choose(struct diff_build *build, struct error *err);

/* What head's metric measures. */
enum profile_metric_kind metric_kind(const struct diff_build *build);

/* Whether the metric is time, or passes like time (cycles): how fast the machine was shows in it. Counts of events do
 * not know. */
bool metric_is_time(const struct diff_build *build);

/* What a function takes of it: "time", "page-faults". Borrowed from the diff. */
const char *metric_noun(const struct diff_build *build);

/* "less" time, "fewer" page-faults. */
const char *metric_less(const struct diff_build *build);
