/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdint.h>

/*
 * Parses a point in time: Unix seconds ("1764000000", "1764000000.5"), RFC 3339 ("2026-11-24T12:00:00Z",
 * "2026-11-24T13:00:00+01:00"), or a time before now ("now", "now-2h", "now-1h30m"; s, m, h, d, w). In nanoseconds
 * since 1970, greater than 0. ERROR_USAGE gives an example.
 */
COMMON_MUST_CHECK
bool store_parse_moment(const char *text, int64_t now_unix_ns, int64_t *unix_ns, struct error *err);
