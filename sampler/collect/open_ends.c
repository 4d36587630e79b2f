/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/open_ends.h"

static void count_end(struct open_end *ends, uint32_t id)
{
	size_t least = 0;

	for (size_t i = 0; i < OPEN_ENDS; i++) {
		if (ends[i].count > 0 && ends[i].id == id) {
			ends[i].count++;
			return;
		}
		if (ends[i].count < ends[least].count)
			least = i;
	}
	ends[least].id = id;
	ends[least].count++;
}

/* Counts where a stack returns to that no call has left. */
static void count_placed(struct open_ends *ends, struct process_space *space, uint64_t address)
{
	struct unwind_code code = { 0 };

	if (address != 0 && process_space_find(space, address, &code))
		count_end(ends->placed, process_table_locate(space->table, code.image, address).mapping);
}

bool open_ends_count(
	struct open_ends *ends, struct process_space *space, const struct unwind_result *result, struct error *err)
{
	const struct unwind_frame *last;
	struct process_location place;
	uint32_t location;

	if (result->stop != PROFILE_STOP_OPEN || result->count == 0)
		return true;
	last = &result->frames[result->count - 1];
	place = process_table_locate(space->table, last->image, unwind_frame_address(last));
	if (!profile_add_location(space->table->profile, place.mapping, place.address, &location, err))
		return false;
	count_end(ends->places, location);
	count_placed(ends, space, result->placed);
	return true;
}

/* The most frequent one; count 0: there is none. */
static struct open_end most_of(const struct open_end *ends)
{
	struct open_end most = { 0 };

	for (size_t i = 0; i < OPEN_ENDS; i++)
		if (ends[i].count > most.count)
			most = ends[i];
	return most;
}

void open_ends_finish(const struct open_ends *ends, struct profile_quality *quality)
{
	const struct open_end place = most_of(ends->places), placed = most_of(ends->placed);

	quality->open_end = place.id;
	quality->open_end_count = place.count;
	quality->placed_in = placed.id;
	quality->placed_count = placed.count;
}
