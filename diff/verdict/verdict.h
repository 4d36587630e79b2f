/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Decides and words the verdict: fills verdict, gate_failed, verdict_text and needs_times_samples. Needs the states and
 * warnings.
 */
COMMON_MUST_CHECK
bool verdict_decide(struct diff_build *build, struct error *err);
