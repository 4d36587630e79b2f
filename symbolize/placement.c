/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/placement.h"

#include "symbolize/addresses.h"

#include <stdlib.h>

enum { LEAST_PENDING = 1 << 10 };

/* Code over the addresses with indexes in [first, end). */
struct placement_range {
	struct placement_code code;
	uint32_t first, end;
};

bool placement_init(struct placement *placement, const uint64_t *addresses, size_t count, struct error *err)
{
	*placement = (struct placement){ .count = count, .pending_room = count + LEAST_PENDING };
	if (count > ARRAY_MAX_IDS)
		return error_set(err, ERROR_LIMIT, "more than %zu addresses", ARRAY_MAX_IDS);
	placement->addresses = addresses_sorted(addresses, count);
	placement->codes = calloc(count + 1, sizeof(*placement->codes));
	placement->next = malloc((count + 1) * sizeof(*placement->next));
	placement->pending = malloc(placement->pending_room * sizeof(*placement->pending));
	return (placement->addresses && placement->codes && placement->next && placement->pending) ||
	       error_set_memory(err);
}

void placement_deinit(struct placement *placement)
{
	free(placement->addresses);
	free(placement->codes);
	free(placement->next);
	free(placement->pending);
}

/* The indexes of the addresses in a range. */
static void find_range(const struct placement *p, uint64_t start, uint64_t size, struct placement_range *range)
{
	uint64_t last;

	range->first = range->end = (uint32_t)addresses_lower_bound(p->addresses, p->count, start);
	if (size == 0)
		return;
	if (!checked_add(start, size - 1, &last))
		last = UINT64_MAX;
	range->end = last == UINT64_MAX ? (uint32_t)p->count
					: (uint32_t)addresses_lower_bound(p->addresses, p->count, last + 1);
}

bool placement_covers(const struct placement *placement, uint64_t start, uint64_t size)
{
	struct placement_range range;

	find_range(placement, start, size, &range);
	return range.first < range.end;
}

void placement_add(struct placement *placement, uint64_t start, uint64_t size, const struct placement_code *code)
{
	struct placement_range range = { .code = *code };

	find_range(placement, start, size, &range);
	if (range.first == range.end)
		return;
	if (placement->pending_count == placement->pending_room)
		placement_settle(placement);
	placement->pending[placement->pending_count++] = range;
}

/* The first place at or after `at` that the group has not written. */
static uint32_t next_unwritten(uint32_t *next, uint32_t at)
{
	while (next[at] != at) {
		next[at] = next[next[at]];
		at = next[at];
	}
	return at;
}

void placement_settle(struct placement *placement)
{
	uint32_t *next = placement->next;

	for (uint32_t i = 0; i <= placement->count; i++)
		next[i] = i;
	for (size_t k = placement->pending_count; k-- > 0;) {
		const struct placement_range *range = &placement->pending[k];

		for (uint32_t i = next_unwritten(next, range->first); i < range->end; i = next_unwritten(next, i)) {
			placement->codes[i] = range->code;
			next[i] = i + 1;
		}
	}
	placement->pending_count = 0;
}
