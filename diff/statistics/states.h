/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/* States without evidence: what differs by the least effect is unproven, the rest is the same. */
void states_without_evidence(struct diff_build *build);

/* Writes a row's result into its estimate or node. `alpha`: the p at which its family finds something. */
void states_apply(struct diff_build *build, const struct row *row, const struct row_result *result, double alpha);

/* Whether a result counts as found: proven at rate q, in the direction that the values show, and of the least effect.
 */
bool states_found(const struct row_result *result, double rate, double least_effect);
