/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Decides what is proven: chooses the unit of replication, tests, and fills states, intervals, q, detectable and
 * diff->evidence. May refine the scale by the machine's speed (RUNS, per-run). Needs the scaled totals.
 */
void evidence_weigh(struct diff_build *build);
