/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Appends which tools made the recordings, or how they took the stacks, where the two sides say different things of it,
 * as a sentence without a full stop. What a file does not tell is not guessed. Returns false if there is nothing to
 * say.
 */
bool tools_describe(const struct profile *const profiles[DIFF_SIDES], struct buffer *out);
