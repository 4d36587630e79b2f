/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Sets the states if there is no evidence: differences of at least the least effect are unproven, others are the same.
 */
void states_without_evidence(struct diff_build *build);

/* Writes a row's result to its estimate or node. */
void states_apply(struct diff_build *build, const struct row *row, const struct row_result *result);

/*
 * Returns whether a result is a proven difference: at rate q, in the direction that the values show, of at least the
 * least effect, and by its own interval.
 */
bool states_found(const struct row_result *result, double rate, double least_effect);
