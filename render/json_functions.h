/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

/*
 * Appends the object of a function of the diff, by its number, in one line, as docs/json.md describes it. `waits` NULL:
 * there are none. False: out of memory.
 */
COMMON_MUST_CHECK
bool json_function(const struct render_input *input, const struct waits *waits, size_t number, struct buffer *out);
