/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/control.h"

#include <math.h>

void control_append(const struct diff_control *control, struct buffer *out)
{
	bool falls = control->change < 0;

	buffer_append_string(out, "the control is proven to differ: base against itself ");
	if (control->verdict == DIFF_MIXED || !isfinite(control->change))
		buffer_append_string(out, "has changes");
	else
		buffer_printf(out, "takes %.1f %% %s", fabs(control->change) * 100, falls ? "less" : "more");
	if (isfinite(control->change_low) && isfinite(control->change_high))
		buffer_printf(out, " (95 %% interval %.1f to %.1f %%)",
			(falls ? -control->change_high : control->change_low) * 100,
			(falls ? -control->change_low : control->change_high) * 100);
	buffer_append_string(out,
		", so that the machine makes changes where there are none, and nothing is proven here; make it quieter, or the runs more");
}
