/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/tools.h"

#include <string.h>

/* Characters of a name from a file that a sentence has room for. */
enum { MOST_SHOWN = 120 };

static bool tools_differ(const char *const texts[DIFF_SIDES])
{
	return texts[DIFF_BASE][0] && texts[DIFF_HEAD][0] && strcmp(texts[DIFF_BASE], texts[DIFF_HEAD]) != 0;
}

bool tools_describe(const struct profile *const profiles[DIFF_SIDES], struct buffer *out)
{
	const char *tools[DIFF_SIDES], *graphs[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		tools[side] = profile_string(profiles[side], profiles[side]->facts.tool);
		graphs[side] = profile_string(profiles[side], profiles[side]->facts.call_graph);
	}
	if (!tools_differ(tools) && !tools_differ(graphs))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		buffer_printf(out, side == DIFF_BASE ? "%s was recorded" : " and %s", diff_side_name(side));
		if (tools_differ(tools))
			buffer_printf(out, " by %.*s", MOST_SHOWN, tools[side]);
		if (tools_differ(graphs))
			buffer_printf(out, " with call graph %.*s", MOST_SHOWN, graphs[side]);
	}
	buffer_append_string(out, ": a difference that only this makes is not the program's");
	return true;
}
