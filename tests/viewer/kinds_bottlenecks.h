/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* Functions of known bottlenecks; tests/viewer/browser/bottlenecks.js knows them. */
void kinds_bottlenecks(struct profile *profiles[DIFF_SIDES]);
void kinds_bottlenecks_single(struct profile *profiles[DIFF_SIDES]);
