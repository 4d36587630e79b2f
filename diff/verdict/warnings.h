/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Compares the facts and the quality of both recordings, and fills diff->warnings. */
COMMON_MUST_CHECK
bool warnings_collect(struct diff_build *build, struct error *err);
