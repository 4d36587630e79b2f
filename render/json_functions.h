/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

/* Appends a function's object in one line, as docs/json.md describes it. False: out of memory. */
COMMON_MUST_CHECK
bool json_function(const struct render_input *input, const struct diff_function *function, struct buffer *out);
