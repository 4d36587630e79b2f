/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"
#include "diff/evidence_single.h"

/* The floor for the kind of program it is, told by where most of both sides' time goes. */
struct process_floor floor_of(const struct diff_build *build);
