/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Appends a foreign name as text of HTML or XML, or as an attribute's value. Characters that are not safe to show are
 * replaced.
 */
void escape_append(struct buffer *out, const char *text);
