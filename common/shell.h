/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

/* Appends a word as a shell takes it: in single quotes, where it has other characters than those of names and paths. */
void shell_append_word(struct buffer *out, const char *word);
