/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/* The compilation directory of the image's first unit, borrowed from the result; "" if there is none. */
const char *symbolize_result_directory(const struct symbolize_result *result);

/* Whether the image's debug information is hostile: reading it costs more than its size allows. Symbols name its code.
 */
bool symbolize_result_refused(const struct symbolize_result *result);
