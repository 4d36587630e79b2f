/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/verify/code_map.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns whether a program of Go is of a version whose run time sets the frame pointer wherever it changes stacks,
 * from 1.21 on. The version stands behind a header of 32 bytes, with its length (debug/buildinfo).
 */
static bool keeps_frame_pointers(struct elf_image *image)
{
	enum { HEADER_BYTES = 32, FIRST_MINOR = 21 };
	struct elf_section section;
	struct byte_reader r;
	const uint8_t *text;
	struct text_cursor version;
	uint64_t minor = 0;
	size_t size;

	if (!elf_image_section(image, ".go.buildinfo", &section))
		return false;
	r = byte_reader_over(section.bytes, section.size);
	byte_reader_skip(&r, HEADER_BYTES);
	size = byte_reader_uleb128(&r);
	text = byte_reader_bytes(&r, size);
	if (!text)
		return false;
	version = text_over((const char *)text, size);
	return text_take_literal(&version, "go1.") && text_take_number(&version, UINT64_MAX, &minor) &&
	       minor >= FIRST_MINOR;
}

static void describe_region(
	const struct process_table *table, const struct process_mapping *mapping, struct code_region *region)
{
	const struct process_place *place = &table->places[mapping->place];
	const struct process_image *image = &table->images[place->image];

	*region = (struct code_region){ mapping->start, mapping->end, place->bias, place->mapping, image->elf,
		image->table, .is_go = image->is_go && keeps_frame_pointers(image->elf) };
	region->is_made = !image->elf && !image->is_file && !image->is_vdso;
}

bool code_map_create(const struct process_table *table, const struct process *process,
	const struct code_frame_pointers *frame_pointers, struct code_map **map, struct error *err)
{
	bool knows = frame_pointers->are_kept != NULL,
	     made_code_keeps = knows && frame_pointers->are_kept(frame_pointers->context, process->pid, NULL);
	struct code_map *made = calloc(1, sizeof(*made));

	if (made)
		made->regions = calloc(process->mappings.count + 1, sizeof(*made->regions));
	if (!made || !made->regions) {
		free(made);
		return error_set_memory(err);
	}
	made->pid = process->pid;
	made->generation = process->generation;
	made->count = process->mappings.count;
	for (size_t i = 0; i < made->count; i++) {
		struct code_region *region = &made->regions[i];

		describe_region(table, &process->mappings.items[i], region);
		if (region->is_made)
			region->keeps_frame_pointers = made_code_keeps;
		else if (knows && region->image)
			region->keeps_frame_pointers =
				frame_pointers->are_kept(frame_pointers->context, process->pid, region->image);
	}
	*map = made;
	return true;
}

void code_map_destroy(struct code_map *map)
{
	if (!map)
		return;
	free(map->regions);
	free(map);
}

const struct code_region *code_map_find(const struct code_map *map, uint64_t address)
{
	size_t low = ARRAY_COUNT_UP_TO(map->regions, map->count, start, address);

	return low > 0 && address < map->regions[low - 1].end ? &map->regions[low - 1] : NULL;
}
