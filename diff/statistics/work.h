/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * The requests that a service answered while it was recorded (profile/requests.h), as the unit that its costs are
 * compared by.
 *
 * Model: the program's cost in a stretch of time is in proportion to the requests that it answered then. This holds for
 * a service whose requests are alike on both sides. It does not hold, and the count is not used, if
 * - either side answered too few requests for a rate,
 * - the sides count different things, or
 * - bytes per request that the clients sent differ: these are other requests, or bursts of other sizes (pipelining,
 *   HTTP/2), or
 * - connections have a few requests on one side and many on the other: making a connection has exchanges, too, or
 * - requests were in progress for a small part of the CPU time only: the program's work is something else.
 */

/*
 * Finds out whether costs can be compared per request. If both sides count requests and costs can not be,
 * diff->requests_doubt says why. Needs diff->requests.
 */
void work_compare(struct diff_build *build, bool *usable);

/*
 * Fills experiment_side.work of both sides, with the requests in each unit: runs (RUNS) or blocks of time (SINGLE).
 * Nothing if the scale is another one, or a side is one unit. Needs unit_count.
 */
void work_fill(const struct diff_build *build, struct experiment *experiment);

/* Returns whether requests were in progress for enough of a profile's time to be what the program works on. */
bool work_is_of_requests(const struct profile *profile);
