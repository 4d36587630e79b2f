/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/process/mappings.h"

#include <stdlib.h>
#include <string.h>

void mappings_deinit(struct process_mappings *mappings)
{
	free(mappings->items);
	*mappings = (struct process_mappings){ 0 };
}

bool mappings_copy(struct process_mappings *mappings, const struct process_mappings *from, struct error *err)
{
	if (from->count == 0)
		return true;
	if (!ARRAY_RESERVE(&mappings->items, &mappings->capacity, from->count, MAPPINGS_MOST, err))
		return false;
	memcpy(mappings->items, from->items, from->count * sizeof(*from->items));
	mappings->count = from->count;
	return true;
}

/* How many mappings start at or below an address. */
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
	return (mappings->count - mappings_count_up_to(mappings, address)) * sizeof(*mappings->items);
}

/* Widens a mapping over the same memory at its ends. */
static struct process_mapping widen(const struct process_mappings *mappings, struct process_mapping mapping)
{
	const struct process_mapping *before = mapping.start > 0 ? mappings_find(mappings, mapping.start - 1) : NULL;
	const struct process_mapping *behind = mappings_find(mappings, mapping.end);

	if (before && continues(before, &mapping))
		mapping.start = before->start;
	if (behind && continues(behind, &mapping))
		mapping.end = behind->end;
	return mapping;
}

/* The mappings [*first, *last) that overlap [start, end). */
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

/* What stands in place of the overlapped mappings: the rest before the range, the new mapping, the rest behind. */
static size_t cut_pieces(const struct process_mappings *mappings, size_t first, size_t last, uint64_t start,
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
	count = cut_pieces(mappings, first, last, start, end, mapping, pieces);
	if (first == last && count == 0)
		return true;
	if (!ARRAY_RESERVE(&mappings->items, &mappings->capacity, mappings->count - (last - first) + count,
		    MAPPINGS_MOST, err))
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
	struct process_mapping widened = widen(mappings, *mapping);

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
	/* There is no room for the second half of one that is cut in two: all of it goes. */
	find_overlap(mappings, start, end, &first, &last);
	memmove(&mappings->items[first], &mappings->items[last], (mappings->count - last) * sizeof(*mappings->items));
	mappings->count -= last - first;
}
