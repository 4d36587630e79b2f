/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

#include <jansson.h>

/*
 * The amount of work that a side did, whether answers took longer, and what a verdict names, as docs/json.md describes
 * them. NULL: out of memory.
 */

/* JSON null where nothing counted requests. The side has a profile. */
json_t *json_requests(const struct render_input *input, enum diff_side side);

/* JSON null where a side does not tell of enough answers. */
json_t *json_latency(const struct diff *diff);

/* JSON null where the verdict names no function. */
json_t *json_cause(const struct diff *diff);
