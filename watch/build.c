/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watch/watch.h"

#include <string.h>

static bool differs(const char *before, const char *now)
{
	return before[0] && now[0] && strcmp(before, now) != 0;
}

bool watch_is_deploy(const struct watch_build *before, const struct watch_build *now)
{
	return differs(before->build_id, now->build_id) || differs(before->version, now->version) ||
	       differs(before->image, now->image);
}
