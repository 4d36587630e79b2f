/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/commits/commits.h"

/* Sets the sentence that says what was found. */
COMMON_MUST_CHECK
bool commits_add_words(struct commits *commits, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct error *err);
