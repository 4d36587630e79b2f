/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

#include <jansson.h>

/*
 * Figures of whole runs of commands, as docs/json.md describes them; JSON null if the recordings lack them. NULL: out
 * of memory.
 */
json_t *json_runs(const struct render_input *input);

/* Runs as instances: outliers and CPU models; JSON null where there is nothing to say. NULL: out of memory. */
json_t *json_instances(const struct render_input *input);
