/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/suite.h"

/*
 * Writes the document of a diff or of one profile (docs/json.md). With a suite, `input` is that of all benchmarks
 * together: the verdict and the warnings are the suite's, and `members` are added, text with a comma before each member
 * and none behind the last. Both are NULL, or none is.
 */
COMMON_MUST_CHECK
bool json_document(const struct render_input *input, const struct diff_suite *suite, const struct buffer *members,
	struct buffer *out, struct error *err);
