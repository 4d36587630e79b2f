/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Compares base's odd units with its even ones by the same rule as the sides: what is flagged there is flagged by
 * chance. Fills evidence.aa_*; does nothing with too few units for a half.
 */
COMMON_MUST_CHECK
bool aa_test(
	struct diff_build *build, const struct experiment *experiment, enum diff_evidence_mode mode, struct error *err);
