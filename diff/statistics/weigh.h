/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"
#include "diff/statistics/experiment.h"

/*
 * Weighs the rows of an experiment by the model of evidence (diff/evidence/evidence.h): makes the model's rows of the
 * experiment's units, finds the factors that they have in common, or takes those of the whole that this is a part of,
 * and fills results[row] with all but q.
 */
void weigh_rows(struct diff_build *build, const struct experiment *experiment, struct row_result *results);

/*
 * Fills q: of the total by itself, and of all others in families: self times, totals of functions, and nodes, those
 * whose code changed apart from others. Totals repeat what is below them, and the largest are of what changed least:
 * in one family they would take the weight of the self times. All of a part (diff_options.like) is a question of its
 * own. Needs the final p of each row.
 */
void weigh_families(const struct experiment *experiment, struct row_result *results);
