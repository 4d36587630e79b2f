/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Appends `name`, cleaned (render/unicode.h), in at most `width` columns. What is too long loses its arguments first
 * (`parse(…)`), then those of its templates (`map<…>::at`), then its middle: both the outermost scope and the end tell functions
 * apart, the middle seldom does.
 */
void shorten_name(const char *name, size_t width, struct buffer *out);
