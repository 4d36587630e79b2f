/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/rows.h"

/* Takes the rhythm of history_options.period_ns out of all rows' work; nothing where it is 0, or the series is too
 * short.
 */
void rhythm_remove(const struct history *history, struct history_rows *rows);

/* Tells where the load has a rhythm of a day and nobody asked for it to be taken into account. */
COMMON_MUST_CHECK
bool rhythm_warn(struct history_build *build, struct history_series *series, struct error *err);
