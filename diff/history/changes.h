/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/build.h"

/*
 * Fills points, changes and drifts of a series, which has its factors and deploys, with what the model of evidence
 * proves (diff/evidence/evidence.h), and what became of each change.
 */
COMMON_MUST_CHECK
bool changes_find(struct history_build *build, struct history_series *series, struct error *err);
