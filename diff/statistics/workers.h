/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"
#include "diff/statistics/sums.h"

/*
 * Processes that share the requests of a service (prefork servers, pools of workers) are replicates of each other: what
 * a request costs in one and in another shows noise that blocks of time, which all of them share, do not. They are
 * forks of one process as a rule, and so say nothing of how far starts of the service differ (floor.h).
 *
 * Workers of a side are the processes of one name that answered at least a third as many requests as the one with the
 * most. Three are needed. What other processes do, such as a master's, is in no worker.
 */
enum { WORKERS_LEAST = 3, WORKERS_MOST = 40 };

/*
 * Fills experiment_side.workers where requests are the scale and blocks of time the evidence. If there are more than
 * WORKERS_MOST workers, each unit is a group of them.
 */
void workers_fill(const struct diff_build *build, const struct row_index *index, enum diff_side side,
	struct experiment *experiment);
