/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/placement.h"

#include "symbolize/addresses.h"

#include <stdlib.h>

/* Former code is as much as an answer of the naming child has room for: naming_most_bytes(). */
enum { LEAST_PENDING = 1 << 10, LEAST_FORMER = 1 << 11, FORMER_OF_ADDRESS = 16, MOST_FORMER = 1 << 17 };

/* Code that stood at an address before other code did. */
struct placement_former {
	struct placement_code code;
	uint32_t next; /* as struct code_placement.formers; the one before until placement_finish(), the one after from
			  then on */
};

/* Code over the addresses with indexes in [first, end). */
struct placement_range {
	struct placement_code code;
	uint32_t first, end;
};

bool placement_init(struct code_placement *placement, const uint64_t *addresses, size_t count, struct error *err)
{
	*placement = (struct code_placement){ .count = count, .pending_room = count + LEAST_PENDING };
	if (count > ARRAY_MAX_IDS)
		return error_set(err, ERROR_LIMIT, "more than %zu addresses", ARRAY_MAX_IDS);
	placement->addresses = addresses_sorted(addresses, count);
	placement->codes = calloc(count + 1, sizeof(*placement->codes));
	placement->next = malloc((count + 1) * sizeof(*placement->next));
	placement->pending = malloc(placement->pending_room * sizeof(*placement->pending));
	placement->formers = calloc(count + 1, sizeof(*placement->formers));
	return (placement->addresses && placement->codes && placement->next && placement->pending &&
		       placement->formers) ||
	       error_set_memory(err);
}

void placement_deinit(struct code_placement *placement)
{
	free(placement->addresses);
	free(placement->codes);
	free(placement->next);
	free(placement->pending);
	free(placement->formers);
	free(placement->former);
}

/* Finds the indexes of the addresses in a range. */
static void symbolize_placement_find_range(
	const struct code_placement *p, uint64_t start, uint64_t size, struct placement_range *range)
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

bool placement_covers(const struct code_placement *placement, uint64_t start, uint64_t size)
{
	struct placement_range range;

	symbolize_placement_find_range(placement, start, size, &range);
	return range.first < range.end;
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

/* Writes what is pending. */
static void placement_settle(struct code_placement *placement)
{
	uint32_t *next = placement->next;

	for (uint32_t i = 0; i <= placement->count; i++)
		next[i] = i;
	for (size_t k = placement->pending_count; k-- > 0;) {
		const struct placement_range *range = &placement->pending[k];

		for (uint32_t i = next_unwritten(next, range->first); i < range->end; i = next_unwritten(next, i)) {
			placement->codes[i] = range->code;
			if (placement->is_full)
				placement->codes[i].time = placement_any_time;
			next[i] = i + 1;
		}
	}
	placement->pending_count = 0;
}

/* Makes room for former code. Without it, the last code at an address stands for all. */
static void begin_times(struct code_placement *p)
{
	placement_settle(p);
	p->is_timed = true;
	p->former_room =
		p->count < MOST_FORMER / FORMER_OF_ADDRESS ? p->count * FORMER_OF_ADDRESS + LEAST_FORMER : MOST_FORMER;
	p->former = malloc(p->former_room * sizeof(*p->former));
	p->is_full = !p->former;
}

/* Code that has no name in the log was not placed. Logs of several threads may have their times out of order. */
static void succeed(struct code_placement *p, uint32_t at, const struct placement_code *code)
{
	struct placement_code *last = &p->codes[at];
	int64_t least_ns = last->name_at != 0 ? last->time.from_ns : INT64_MIN;

	if (last->name_at != 0) {
		p->former[p->former_count++] = (struct placement_former){ *last, p->formers[at] };
		p->formers[at] = (uint32_t)p->former_count;
	}
	*last = *code;
	if (last->time.from_ns < least_ns)
		last->time.from_ns = least_ns;
	if (last->time.to_ns < least_ns)
		last->time.to_ns = least_ns;
}

void placement_add(struct code_placement *placement, uint64_t start, uint64_t size, const struct placement_code *code)
{
	struct placement_range range = { .code = *code };

	symbolize_placement_find_range(placement, start, size, &range);
	if (range.first == range.end)
		return;
	if (!placement->is_timed && code->time.to_ns > 0)
		begin_times(placement);
	placement->is_full |=
		placement->is_timed && range.end - range.first > placement->former_room - placement->former_count;
	if (placement->is_timed && !placement->is_full) {
		for (uint32_t i = range.first; i < range.end; i++)
			succeed(placement, i, code);
		return;
	}
	if (placement->pending_count == placement->pending_room)
		placement_settle(placement);
	placement->pending[placement->pending_count++] = range;
}

/* Code is added before the code that it replaced, and read after it. */
static void reverse_former(struct code_placement *p, size_t address)
{
	uint32_t at = p->formers[address], after = 0;

	while (at != 0) {
		uint32_t before = p->former[at - 1].next;

		p->former[at - 1].next = after;
		after = at;
		at = before;
	}
	p->formers[address] = after;
}

void placement_finish(struct code_placement *placement)
{
	placement_settle(placement);
	for (size_t i = 0; i < placement->count; i++)
		reverse_former(placement, i);
}

struct placement_walk placement_walk_at(const struct code_placement *placement, size_t address)
{
	return (struct placement_walk){
		.placement = placement, .address = address, .former = placement->formers[address]
	};
}

const struct placement_code *placement_walk_next(struct placement_walk *walk)
{
	const struct code_placement *placement = walk->placement;
	const struct placement_former *former;

	if (walk->former != 0) {
		former = &placement->former[walk->former - 1];
		walk->former = former->next;
		return &former->code;
	}
	if (walk->is_over || placement->codes[walk->address].name_at == 0)
		return NULL;
	walk->is_over = true;
	return &placement->codes[walk->address];
}
