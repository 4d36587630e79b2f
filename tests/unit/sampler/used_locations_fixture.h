/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

#include <stdlib.h>

/* How many locations stand in no stack: none may, for what the unwinder asks about adds nothing to the profile. */
static inline size_t count_unused_locations(const struct profile *profile)
{
	bool *is_used = calloc(profile->location_count + 1, sizeof(*is_used));
	size_t unused = 0;

	for (size_t stack = 1; is_used && stack < profile->stack_count; stack++)
		is_used[profile->stacks[stack].location] = true;
	for (size_t i = 0; i < profile->location_count; i++)
		unused += !is_used || !is_used[i];
	free(is_used);
	return unused;
}
