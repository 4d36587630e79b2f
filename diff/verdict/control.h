/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Returns whether a control is proven to differ: then the machine or chance makes changes, and none is proven. */
static inline bool control_differs(const struct diff_control *control)
{
	return control->is_known && (control->verdict == DIFF_REGRESSED || control->verdict == DIFF_IMPROVED ||
					    control->verdict == DIFF_MIXED);
}

/* Appends "the control is proven to differ: base against itself takes 3.1 % more (95 % interval 2.2 to 4.0 %), ...". */
void control_append(const struct diff_control *control, struct buffer *out);
