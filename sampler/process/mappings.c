/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/mappings.h"

#include <stdlib.h>
#include <string.h>

static bool are_shared(const struct process_mappings *mappings)
{
	return mappings->users && *mappings->users > 1;
}

static void count_kept(struct process_mappings *mappings, size_t before, size_t after)
{
	if (mappings->kept)
		*mappings->kept += after - before;
}

void mappings_deinit(struct process_mappings *mappings)
{
	if (are_shared(mappings)) {
		--*mappings->users;
	} else {
		count_kept(mappings, mappings->capacity, 0);
		free(mappings->items);
		free(mappings->users);
	}
	*mappings = (struct process_mappings){ .kept = mappings->kept };
}

bool mappings_copy(struct process_mappings *mappings, struct process_mappings *from, struct error *err)
{
	size_t *kept = mappings->kept;

	if (from->count == 0)
		return true;
	if (!from->users) {
		from->users = malloc(sizeof(*from->users));
		if (!from->users)
			return error_set_memory(err);
		*from->users = 1;
	}
	mappings_deinit(mappings);
	*mappings = *from;
	mappings->kept = kept;
	++*mappings->users;
	return true;
}

/* Gives the list memory of its own, for so many mappings at least. */
static bool reserve_own(struct process_mappings *mappings, size_t need, struct error *err)
{
	struct process_mappings own = { .kept = mappings->kept };

	if (!are_shared(mappings)) {
		size_t before = mappings->capacity;
		bool ok = ARRAY_RESERVE(&mappings->items, &mappings->capacity, need, MAPPINGS_MOST, err);

		count_kept(mappings, before, mappings->capacity);
		return ok;
	}
	if (!ARRAY_RESERVE(
		    &own.items, &own.capacity, need > mappings->count ? need : mappings->count, MAPPINGS_MOST, err))
		return false;
	memcpy(own.items, mappings->items, mappings->count * sizeof(*own.items));
	own.count = mappings->count;
	count_kept(&own, 0, own.capacity);
	mappings_deinit(mappings);
	*mappings = own;
	return true;
}

/* Counts the mappings that start at or below an address. */
static size_t mappings_count_up_to(const struct process_mappings *mappings, uint64_t address)
{
	return ARRAY_COUNT_UP_TO(mappings->items, mappings->count, start, address);
}

const struct process_mapping *mappings_find(const struct process_mappings *mappings, uint64_t address)
{
	size_t below = mappings_count_up_to(mappings, address);

	return below > 0 && address < mappings->items[below - 1].end ? &mappings->items[below - 1] : NULL;
}

static bool continues(const struct process_mapping *a, const struct process_mapping *b)
{
	return a->place == b->place && a->covered_place == b->covered_place;
}

bool mappings_have(const struct process_mappings *mappings, const struct process_mapping *mapping)
{
	const struct process_mapping *found = mappings_find(mappings, mapping->start);

	return found && mapping->end <= found->end && continues(found, mapping);
}

size_t mappings_moved_bytes(const struct process_mappings *mappings, uint64_t address)
{
	size_t moved = mappings->count - mappings_count_up_to(mappings, address);

	return (moved + (are_shared(mappings) ? mappings->count : 0)) * sizeof(*mappings->items);
}

/* Widens a mapping over the same memory at its ends. */
static struct process_mapping mappings_widen(const struct process_mappings *mappings, struct process_mapping mapping)
{
	const struct process_mapping *before = mapping.start > 0 ? mappings_find(mappings, mapping.start - 1) : NULL;
	const struct process_mapping *behind = mappings_find(mappings, mapping.end);

	if (before && continues(before, &mapping))
		mapping.start = before->start;
	if (behind && continues(behind, &mapping))
		mapping.end = behind->end;
	return mapping;
}

/* Finds the mappings [*first, *last) that overlap [start, end). */
static void find_overlap(
	const struct process_mappings *mappings, uint64_t start, uint64_t end, size_t *first, size_t *last)
{
	*first = mappings_count_up_to(mappings, start);
	if (*first > 0 && mappings->items[*first - 1].end > start)
		--*first;
	*last = end > 0 ? mappings_count_up_to(mappings, end - 1) : 0;
	if (*last < *first)
		*last = *first;
}

enum { MOST_PIECES = 3 };

/* Cuts what stands in place of the overlapped mappings: the rest before the range, the new mapping, the rest behind. */
static size_t mappings_cut_pieces(const struct process_mappings *mappings, size_t first, size_t last, uint64_t start,
	uint64_t end, const struct process_mapping *mapping, struct process_mapping pieces[MOST_PIECES])
{
	size_t count = 0;

	if (first < last && mappings->items[first].start < start) {
		pieces[count] = mappings->items[first];
		pieces[count++].end = start;
	}
	if (mapping)
		pieces[count++] = *mapping;
	if (first < last && mappings->items[last - 1].end > end) {
		pieces[count] = mappings->items[last - 1];
		pieces[count++].start = end;
	}
	return count;
}

/* Puts a mapping, or nothing (NULL), in place of [start, end). */
static bool replace(struct process_mappings *mappings, uint64_t start, uint64_t end,
	const struct process_mapping *mapping, struct error *err)
{
	struct process_mapping pieces[MOST_PIECES];
	size_t first, last, count;

	find_overlap(mappings, start, end, &first, &last);
	count = mappings_cut_pieces(mappings, first, last, start, end, mapping, pieces);
	if (first == last && count == 0)
		return true;
	if (count == 0 && last - first == mappings->count) {
		mappings_deinit(mappings);
		return true;
	}
	if (!reserve_own(mappings, mappings->count - (last - first) + count, err))
		return false;
	memmove(&mappings->items[first + count], &mappings->items[last],
		(mappings->count - last) * sizeof(*mappings->items));
	if (count)
		memcpy(&mappings->items[first], pieces, count * sizeof(*pieces));
	mappings->count = mappings->count - (last - first) + count;
	return true;
}

bool mappings_add(struct process_mappings *mappings, const struct process_mapping *mapping, struct error *err)
{
	struct process_mapping widened = mappings_widen(mappings, *mapping);

	if (replace(mappings, widened.start, widened.end, &widened, err))
		return true;
	mappings_remove(mappings, mapping->start, mapping->end);
	return false;
}

void mappings_remove(struct process_mappings *mappings, uint64_t start, uint64_t end)
{
	size_t first, last;
	struct error ignored;

	if (replace(mappings, start, end, NULL, &ignored))
		return;
	/* There is no memory for what is left of a list that others have. */
	if (are_shared(mappings)) {
		mappings_deinit(mappings);
		return;
	}
	/* There is no room for the second half of one that is cut in two: all of it goes. */
	find_overlap(mappings, start, end, &first, &last);
	memmove(&mappings->items[first], &mappings->items[last], (mappings->count - last) * sizeof(*mappings->items));
	mappings->count -= last - first;
}
