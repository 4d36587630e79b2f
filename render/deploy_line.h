/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Appends the line of a deploy (`kelvin watch`), whose figures are those of the JSON of its report, so that both say
 * the same. `begin`: "deploy 2026-11-26 08:10 version 41 → 42"; `end`: what stands behind it. False: that is no JSON.
 */
bool render_deploy_line(const char *json, size_t size, const char *begin, const char *end, struct buffer *out);
