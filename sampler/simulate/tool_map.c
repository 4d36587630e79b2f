/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings of executable memory, by address. */
#include "sampler/simulate/tool.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>

static struct tool_mapping *mappings;
static uint32_t mapping_capacity;
uint32_t tool_mapping_count;

const struct tool_mapping *tool_mapping(uint32_t id)
{
	return &mappings[id];
}

static bool paths_equal(const char *a, const char *b)
{
	return a == b || (a && b && VG_(strcmp)(a, b) == 0);
}

/*
 * Memory of no file grows, and changes its rights in parts, while programs make code in it: a mapping that held the
 * address before is taken again, so that code that did not change is the same block.
 */
static bool map_fits(const struct tool_mapping *known, const struct tool_mapping *now, uint64_t address)
{
	if (!now->path && !known->path)
		return address >= known->start && address < known->end;
	return known->start == now->start && known->end == now->end && known->file_offset == now->file_offset &&
	       known->device == now->device && known->inode == now->inode && paths_equal(known->path, now->path);
}

uint32_t tool_mapping_at(uint64_t address)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);
	struct tool_mapping now = { .start = address, .end = address + 1 };
	const HChar *path = NULL;

	if (segment) {
		path = VG_(am_get_filename)(segment);
		now = (struct tool_mapping){ segment->start, segment->end + 1, segment->offset, segment->dev,
			segment->ino, path };
	}
	/* The latest first: code is translated soon after it was mapped. */
	for (uint32_t i = tool_mapping_count; i-- > 0;) {
		if (map_fits(&mappings[i], &now, address))
			return i;
	}
	if (tool_mapping_count == mapping_capacity) {
		mapping_capacity = mapping_capacity ? mapping_capacity * 2 : 64;
		mappings = VG_(realloc)("kelvin.mappings", mappings, mapping_capacity * sizeof(*mappings));
	}
	if (path) {
		uint64_t bytes = VG_(strlen)(path) + 1;

		now.path = VG_(memcpy)(tool_permanent(bytes), path, bytes);
	}
	mappings[tool_mapping_count] = now;
	return tool_mapping_count++;
}
