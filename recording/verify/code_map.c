/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/verify/code_map.h"

#include <stdlib.h>

bool code_map_create(
	const struct process_table *table, const struct process *process, struct code_map **map, struct error *err)
{
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
		const struct process_mapping *mapping = &process->mappings.items[i];
		const struct process_place *place = &table->places[mapping->place];
		const struct process_image *image = &table->images[place->image];

		made->regions[i] = (struct code_region){ mapping->start, mapping->end, place->bias, place->mapping,
			image->elf, image->table };
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
