/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/comparison.h"

/*
 * Judges the control of `bench`: base against other runs of base, by the options of the comparison but for its limits.
 * What is proven there is proven of no change.
 */
COMMON_MUST_CHECK
bool bench_control_judge(const struct comparison *comparison, const struct profile *base, const struct profile *again,
	bool are_suites, struct diff_control *control, struct error *err);
