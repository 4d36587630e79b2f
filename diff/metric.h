/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Chooses the metric and sums it up on both sides: fills metric, counts, sample_weight, diff->metric, unit, is_exact,
 * waiting, raw_total, uncounted and the default of options.min_effect_points.
 */
COMMON_MUST_CHECK
bool metric_choose(struct diff_build *build, struct error *err);

/* Returns the kind of head's metric. */
enum profile_metric_kind metric_kind(const struct diff_build *build);

/*
 * Returns whether the metric is time or a measure of time (cycles), which depends on the speed of the machine. Counts
 * of events do not depend on it.
 */
bool metric_is_time(const struct diff_build *build);

/* Returns a noun for the metric: "time", "page-faults". Borrowed from the diff. */
const char *metric_noun(const struct diff_build *build);

/* Returns "less" as in less time, or "fewer" as in fewer page-faults. */
const char *metric_less(const struct diff_build *build);

/* Returns whether a value type is the time that passed (record --elapsed). */
bool metric_is_elapsed(const struct profile *profile, uint32_t value_type);
