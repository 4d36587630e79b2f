/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Sorts the function table by falling |delta of total| (one-sided: total), then name, then key, and removes entries
 * that were merged into others. Entries of earlier names stay, empty, and refer to the new name. The last step of a
 * diff.
 */
void order_functions(struct diff_build *build);
