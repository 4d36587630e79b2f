/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/* Weighs a row, whose spreads have priors of the caller's (evidence_weigh_row() has those of its class). */
void row_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	const struct evidence_factor *factor, struct evidence *evidence);
