/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

const char *history_code_name(enum history_code code)
{
	static const char *const names[HISTORY_CODE_COUNT] = { "unknown", "same", "changed", "new", "gone" };

	return names[code];
}
