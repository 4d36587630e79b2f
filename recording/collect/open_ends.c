/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/collect/open_ends.h"

bool open_ends_count(struct open_ends *ends, const struct process_table *table, const struct unwind_result *result,
	struct error *err)
{
	const struct unwind_frame *last;
	struct process_location place;
	uint32_t location;
	size_t least = 0;

	if (result->stop != PROFILE_STOP_OPEN || result->count == 0)
		return true;
	last = &result->frames[result->count - 1];
	place = process_table_locate(table, last->image, unwind_frame_address(last));
	if (!profile_add_location(table->profile, place.mapping, place.address, &location, err))
		return false;
	for (size_t i = 0; i < OPEN_ENDS; i++) {
		if (ends->places[i].count > 0 && ends->places[i].location == location) {
			ends->places[i].count++;
			return true;
		}
		if (ends->places[i].count < ends->places[least].count)
			least = i;
	}
	ends->places[least].location = location;
	ends->places[least].count++;
	return true;
}

void open_ends_finish(const struct open_ends *ends, struct profile_quality *quality)
{
	for (size_t i = 0; i < OPEN_ENDS; i++)
		if (ends->places[i].count > quality->open_end_count) {
			quality->open_end = ends->places[i].location;
			quality->open_end_count = ends->places[i].count;
		}
}
