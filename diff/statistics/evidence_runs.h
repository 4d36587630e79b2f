/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/probability/probability.h"
#include "diff/statistics/experiment.h"
#include "diff/statistics/speed.h"

/* The way in which a row's test treats a difference in the machine's speed between the sides. */
enum speed_use {
	/*
	 * the scale divided it out, and the runs explain it: each function is adjusted by how much it follows the speed
	 */
	SPEED_ADJUST,
	SPEED_DIVIDED, /* the scale divided it out; the extent to which functions follow the speed counts as noise */
	SPEED_NOISE,   /* it is part of the values, and counts as noise to the extent that runs vary */
	/*
	 * it is part of the values, and the runs explain it: functions are judged relative to how much they follow it
	 */
	SPEED_BESIDE,
};

/*
 * Tests every row with the run as the unit of replication, by an analysis of covariance (Fisher 1932): relative times
 * in a run against the run's size, with one slope for each row. Residual variances are moderated across rows
 * (moderate.h). The test is Student's t on the logarithm of head over base; where variances are added, its degrees of
 * freedom are by Satterthwaite (1946). Rows with few samples are tested by small.h. With whole_is_measured, only the
 * differences between runs test the whole. Fills results[row]; `moderation` becomes what the variances were moderated
 * by, unless the experiment is of a part, whose whole's it then is.
 */
void evidence_runs(const struct experiment *experiment, const struct speed *speed, enum speed_use use,
	struct moderation *moderation, struct row_result *results);
