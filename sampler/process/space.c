/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds what lies at an address of a process. */
#include "sampler/process/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* All code of the executable segment that holds an address. */
static struct machine_code code_of_image(const struct elf_image *image, uint64_t address)
{
	struct machine_code code = { 0 };
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) && address - segments[i].address < segments[i].file_size) {
			code.bytes = elf_image_bytes_at(image, segments[i].address, &code.size);
			code.at = (size_t)(address - segments[i].address);
		}
	return code;
}

/* Returns whether the memory that replaces a file's code has the file's bytes at an address. */
static bool is_copy(const struct process_space *space, const struct process_mapping *mapping, uint64_t address)
{
	enum { COMPARED_BYTES = 64, LEAST_BYTES = 16 };
	const struct process_place *covered = &space->table->places[mapping->covered_place];
	const struct elf_image *elf = space->table->images[covered->image].elf;
	uint8_t memory[COMPARED_BYTES];
	size_t size;
	const uint8_t *bytes = elf ? elf_image_bytes_at(elf, address + covered->bias, &size) : NULL;
	struct iovec here = { memory, sizeof(memory) }, there = { (void *)(uintptr_t)address, sizeof(memory) };

	if (!bytes)
		return false;
	size = size < mapping->end - address ? size : mapping->end - address;
	if (size < sizeof(memory))
		here.iov_len = there.iov_len = size;
	return size >= LEAST_BYTES &&
	       space->table->host.functions->read_memory(
		       space->table->host.context, space->process->pid, &here, &there, 1) == (ssize_t)here.iov_len &&
	       memcmp(memory, bytes, here.iov_len) == 0;
}

/* Marks a place whose number a walk gets. False if the process's user has too many of these, which are for ever. */
static bool keep_place(const struct process_space *space, uint32_t place)
{
	struct process_place *kept = &space->table->places[place];

	if (!kept->is_walked)
		kept->is_walked = owner_count_place(owners_at(&space->table->owners, space->process->owner));
	return kept->is_walked;
}

bool process_space_find(void *context, uint64_t address, struct unwind_code *code)
{
	const struct process_space *space = context;
	const struct process_table *table = space->table;
	const struct process_mapping *mapping = mappings_find(&space->process->mappings, address);
	const struct process_image *image;
	uint32_t place;

	if (!mapping)
		return false;
	place = mapping->covered_place != PROFILE_NONE && is_copy(space, mapping, address) ? mapping->covered_place
											   : mapping->place;
	if (!keep_place(space, place))
		return false;
	image = &table->images[table->places[place].image];
	*code = (struct unwind_code){
		.table = image->table,
		.image = place,
		.image_address = address + table->places[place].bias,
		.entry = image->elf ? elf_image_entry(image->elf) : 0,
		.is_go = image->is_go,
		.is_return_probe =
			address - space->process->probes < space->process->probes_end - space->process->probes,
	};
	if (image->elf)
		code->code = code_of_image(image->elf, code->image_address);
	return true;
}

bool process_space_is_code(void *context, uint64_t address)
{
	struct process_space *space = context;
	const struct process_mapping *mappings = space->process->mappings.items;
	size_t count = space->process->mappings.count, below;

	/*
	 * Nearly all words of a stack are no code addresses, and those that look like addresses point to the same few
	 * places.
	 */
	if (count == 0 || address < mappings[0].start || address >= mappings[count - 1].end ||
		address - space->gap_start < space->gap_bytes)
		return false;
	below = ARRAY_COUNT_UP_TO(mappings, count, start, address);
	if (address < mappings[below - 1].end)
		return true;
	space->gap_start = mappings[below - 1].end;
	space->gap_bytes = mappings[below].start - space->gap_start;
	return false;
}

static bool is_data(const struct elf_image *elf, uint64_t address)
{
	enum { MOST_SEGMENTS = 64 }; /* linkers make a handful; a file may claim 65,535 */
	size_t count;
	const struct elf_segment *segments = elf_image_segments(elf, &count);

	for (size_t i = 0; i < count && i < MOST_SEGMENTS; i++)
		if ((segments[i].flags & PF_W) && !(segments[i].flags & PF_X) && address >= segments[i].address &&
			address - segments[i].address < segments[i].memory_size)
			return true;
	return false;
}

bool process_table_find_data(const struct process_table *table, const struct process *process, uint64_t address,
	struct process_location *location)
{
	/* Linkers put data behind code. An image has few mappings of code, and few of others lie in its gaps. */
	enum { MOST_BEFORE = 16 };
	const struct process_mappings *mappings = &process->mappings;
	size_t below = ARRAY_COUNT_UP_TO(mappings->items, mappings->count, start, address);

	for (size_t i = below; i-- > 0 && below - i <= MOST_BEFORE;) {
		const struct process_place *place = &table->places[mappings->items[i].place];
		const struct process_image *image = &table->images[place->image];

		*location = process_table_locate(table, mappings->items[i].place, address);
		if (image->elf && is_data(image->elf, location->address))
			return true;
	}
	return false;
}

/* Reads code that was made at run time, as long as its process lives. */
bool process_space_read(void *context, uint64_t address, size_t bytes, struct machine_code *code)
{
	const struct process_space *space = context;
	const struct process_mapping *mapping = mappings_find(&space->process->mappings, address);
	struct process_table *table = space->table;
	uint64_t before, start, size;
	struct iovec here, there;
	ssize_t done;

	if (!mapping)
		return false;
	if (!table->code)
		table->code = malloc(UNWIND_MOST_CODE_BYTES);
	if (!table->code)
		return false;
	bytes = bytes < UNWIND_MOST_CODE_BYTES ? bytes : UNWIND_MOST_CODE_BYTES;
	before = address - mapping->start;
	start = address - (before < bytes / 4 ? before : bytes / 4);
	size = mapping->end - start < bytes ? mapping->end - start : bytes;
	here = (struct iovec){ table->code, size };
	there = (struct iovec){ (void *)(uintptr_t)start, size };
	done = table->host.functions->read_memory(table->host.context, space->process->pid, &here, &there, 1);
	if (done <= 0 || address - start >= (uint64_t)done)
		return false;
	*code = (struct machine_code){ table->code, (size_t)done, (size_t)(address - start) };
	return true;
}
