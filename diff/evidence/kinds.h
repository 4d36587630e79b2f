/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/*
 * Fills how probable each kind of program is, where the parts of all programs are of them and rows have likelihoods of
 * spreads: [row][spread]. priors: [kind] those of the spreads of its rows.
 */
void kinds_weigh(const double (*likelihoods)[EVIDENCE_SPREADS], size_t count, const double parts[EVIDENCE_KINDS],
	const double priors[EVIDENCE_KINDS][EVIDENCE_SPREADS], double weights[EVIDENCE_KINDS]);
