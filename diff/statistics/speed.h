/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * The speed of the machine in each run. The CPU time of identical work varies from run to run, and functions follow
 * that to different degrees. A run's size is the typical ratio of its functions' times to their means over the runs of
 * its side, as in Anders and Huber (2010), but by the midmean (median.h).
 */
struct speed {
	double *x[DIFF_SIDES]; /* [run] relative size of the run, centred within its side; owned */
	double sum_squares;    /* of all x */
	bool quiet;      /* sizes vary no more than their own error: all x are 0, and all runs count as equally fast */
	double variance; /* variance of x within the sides */
	double delta;    /* logarithm of head's typical time per run over base's */
	double delta_error;    /* variance of delta as an estimate from functions that scatter around it */
	double delta_variance; /* variance of delta that the variation of speed between runs explains */
	bool explained;        /* delta lies within the range that the runs' own variation explains */
};

/* Estimates the speed; `delta`: NAN to take the median over the experiment's own rows. */
void speed_measure(const struct experiment *experiment, double delta, struct speed *speed);
void speed_deinit(struct speed *speed);
