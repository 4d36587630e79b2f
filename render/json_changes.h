/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* Appends the member `changes`: which functions' proven differences are one, a change a line. False: out of memory. */
COMMON_MUST_CHECK
bool json_changes(const struct diff *diff, struct buffer *out);
