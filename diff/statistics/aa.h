/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Compares base's odd units with its even ones by the rules used for the two sides: any difference found there is due
 * to chance. Fills evidence.aa_*; does nothing if there are too few units for two halves.
 */
void aa_test(struct diff_build *build, const struct experiment *experiment, enum diff_evidence_mode mode);
