/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * How fast the machine was in each run. The CPU time of identical work varies from run to run, and functions follow
 * that more or less; a run's size factor is the typical ratio of its functions' times to their mean over the runs of
 * its side, in the way of Anders and Huber (2010), by the midmean (median.h).
 */
struct speed {
	double *x[DIFF_SIDES]; /* [run] relative size of the run, centred within its side; owned */
	double sum_squares;    /* of all x */
	bool quiet; /* sizes vary no more than their own error: all x are 0, and every run counts as equally fast */
	double variance;       /* of x, within the sides */
	double delta;          /* logarithm of head's typical time per run over base's */
	double delta_error;    /* variance of delta, as an estimate from functions that scatter around it */
	double delta_variance; /* of delta, as far as the speed between runs explains it */
	bool explained;        /* delta lies within what the runs' own variation explains */
};

/* delta: NAN to take the median over the experiment's own rows. */
COMMON_MUST_CHECK
bool speed_measure(const struct experiment *experiment, double delta, struct speed *speed, struct error *err);
void speed_deinit(struct speed *speed);
