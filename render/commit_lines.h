/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/*
 * Hands over what is said of commits, line by line: the sentence, a line for each of the first suspects, and how many
 * commits are none. They are words of a document; `take` may change the buffer, which is emptied behind it, and has to
 * look whether it failed.
 */
void commit_lines(const struct commits *commits, void (*take)(void *context, struct buffer *words, bool is_suspect),
	void *context);
