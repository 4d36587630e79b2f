/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

#include <jansson.h>

/* Layouts of code, as docs/json.md describes them; JSON null where nothing is known of them. NULL: out of memory. */
json_t *json_layouts(const struct diff_layouts *layouts);

/* Returns what runs of base against base said; JSON null without such runs. NULL: out of memory. */
json_t *json_control(const struct diff_control *control);

/* Why more or less time passes on the clock; JSON null of other metrics. NULL: out of memory. */
json_t *json_elapsed(const struct diff_elapsed *elapsed);
