/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/first_events.h"

#include <stdlib.h>

static int64_t earlier(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

int64_t *first_events_of_locations(const struct profile *profile)
{
	CLEANUP(cleanup_free) int64_t *stacks = malloc((profile->stack_count + 1) * sizeof(*stacks));
	int64_t *locations = malloc((profile->location_count + 1) * sizeof(*locations));

	if (!stacks || !locations) {
		free(locations);
		return NULL;
	}
	for (size_t i = 0; i < profile->stack_count; i++)
		stacks[i] = INT64_MAX;
	for (size_t i = 0; i < profile->location_count; i++)
		locations[i] = INT64_MAX;
	for (size_t i = 0; i < profile->event_count; i++) {
		int64_t *first = &stacks[profile->samples[profile->events[i].sample].stack];

		*first = earlier(*first, profile->events[i].time_ns);
	}
	/* A stack's parent has a smaller id. */
	for (size_t i = profile->stack_count; i-- > 1;) {
		const struct profile_stack *stack = &profile->stacks[i];

		stacks[stack->parent] = earlier(stacks[stack->parent], stacks[i]);
		locations[stack->location] = earlier(locations[stack->location], stacks[i]);
	}
	return locations;
}
