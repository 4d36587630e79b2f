/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Appends a foreign name as text of HTML or XML, or as the value of an attribute, cleaned of what is not safe to show.
 */
void escape_append(struct buffer *out, const char *text);
