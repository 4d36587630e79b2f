/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

#include <jansson.h>

/* What whole runs of commands took, as docs/json.md has it; null where the recordings do not say it. NULL: out of
 * memory. */
json_t *json_runs(const struct render_input *input);
