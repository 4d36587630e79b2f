/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Brings the function table into its final order, by falling |delta of total| (one-sided: total), then name, then key,
 * and drops entries that became another one. Entries that were renamed stay, empty, and point to their new name. The
 * last step of a diff.
 */
COMMON_MUST_CHECK
bool order_functions(struct diff_build *build, struct error *err);
