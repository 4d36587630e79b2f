/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/* The share of each row's time that some nodes have by themselves, of both sides together. */

struct row_shares {
	double *self, *total;         /* [node] of the marked nodes, both sides, head scaled; owned */
	double *of_self, *of_total;   /* [function] likewise; owned */
	double *all_self, *all_total; /* [function] of all nodes; owned */
};

/* Sums up the self time of the nodes that are marked. Needs the scale. On failure `shares` may only be freed. */
void row_shares_sum(const struct diff_build *build, const bool *marked, struct row_shares *shares);
void row_shares_deinit(struct row_shares *shares);

/* Returns the share of a row: 0 to 1. */
double row_share(const struct diff *diff, const struct row_shares *shares, const struct row *row);
