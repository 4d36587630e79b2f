/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/* Returns the variance that the common factor and the load add to that of a row. */
double row_follow_variance(enum evidence_class class, const struct evidence_factor *factor);

/* Weighs a row, whose spreads have priors of the caller's (evidence_weigh_row() has those of its class). */
void row_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	const struct evidence_factor *factor, struct evidence *evidence);
