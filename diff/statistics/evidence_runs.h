/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"
#include "diff/statistics/speed.h"

/* What a difference in speed between the sides means for a row. */
enum speed_use {
	SPEED_ADJUST, /* the scale divided it out, and the runs explain it: each function is moved by what it follows of
			 it */
	SPEED_DIVIDED, /* the scale divided it out; how far functions follow the machine is noise */
	SPEED_NOISE,   /* it stands in the values: noise, as far as runs vary */
	SPEED_BESIDE,  /* it stands in the values, and the runs explain it: functions are judged beside what they follow
			  of it */
};

/*
 * Tests every row with the run as the unit of replication: an analysis of covariance (Fisher 1932), relative times in a
 * run against the run's size, one slope a row; residual variance moderated across rows (moderate.h); Student's t on the
 * logarithm of head over base, its degrees of freedom by Satterthwaite (1946) where variances are added. Few samples:
 * small.h. Where whole_is_measured, the whole is tested by what runs differ by alone. Fills results[row].
 */
COMMON_MUST_CHECK
bool evidence_runs(const struct experiment *experiment, const struct speed *speed, enum speed_use use,
	struct row_result *results, struct error *err);
