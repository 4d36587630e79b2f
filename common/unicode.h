/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

/*
 * Names come from foreign files and may hold any bytes. Text for people is cleaned here: ill-formed UTF-8, control
 * characters (terminal escapes) and invisible or direction-changing characters become U+FFFD, so that a name can
 * neither move the cursor nor look like another name.
 */

/* Reads the next code point and moves `text` past it; U+FFFD for a byte that starts no sequence; 0 at the end. */
uint32_t unicode_next(const char **text);

/* The character to show: `code` itself or U+FFFD. */
uint32_t unicode_clean(uint32_t code);

void unicode_append(struct buffer *out, uint32_t code);

/* Appends the whole text, cleaned. */
void unicode_append_clean(struct buffer *out, const char *text);

/*
 * Appends the text, cleaned: all of it if it has at most `width` columns; else a mark takes the place of its middle,
 * since texts with one beginning differ in their end. `width` is at least 1.
 */
void unicode_append_middle(struct buffer *out, const char *text, size_t width);

/* The number of terminal columns: 0 for combining marks, 2 for East Asian wide and fullwidth (UAX #11), else 1. */
unsigned int unicode_width(uint32_t code);
size_t unicode_text_width(const char *text);
