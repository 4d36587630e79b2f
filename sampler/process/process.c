/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/process.h"

#include "sampler/process/jit_map.h"
#include "sampler/process/proc.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { MAX_PROCESSES = 1 << 22, MAX_MAPPINGS = 1 << 20, MAX_PLACES = 1 << 28 };

void process_table_init(
	struct process_table *table, struct profile *profile, struct process_host host, struct buffer *notices)
{
	*table = (struct process_table){
		.profile = profile,
		.host = host,
		.notices = notices,
		.next_generation = 1,
		.version = 1,
		.kernel_image = PROFILE_NONE,
	};
	hash_map_init(&table->by_pid, sizeof(int32_t));
	hash_map_init(&table->by_tid, sizeof(int32_t));
	image_keys_init(&table->by_file);
}

void process_table_deinit(struct process_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->processes[i].mappings);
	for (size_t i = 0; i < table->image_count; i++) {
		elf_image_unref(table->images[i].elf);
		frame_table_destroy(table->images[i].table);
		jit_place_deinit(&table->images[i].jit_map);
		jit_place_deinit(&table->images[i].inherited_map);
	}
	free(table->code);
	free(table->processes);
	free(table->threads);
	free(table->images);
	free(table->places);
	hash_map_deinit(&table->by_pid);
	hash_map_deinit(&table->by_tid);
	hash_map_deinit(&table->by_file);
	*table = (struct process_table){ 0 };
}

/* Removes [start, end) from the mappings: the kernel reports new mappings only, which replace older ones. */
static bool unmap(struct process *process, uint64_t start, uint64_t end, struct error *err)
{
	size_t kept = 0, count = process->mapping_count;

	/* Splitting a mapping in two adds one. */
	if (!ARRAY_RESERVE(&process->mappings, &process->mapping_capacity, count + 2, MAX_MAPPINGS, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct process_mapping mapping = process->mappings[i];

		if (mapping.end <= start || mapping.start >= end) {
			process->mappings[kept++] = mapping;
			continue;
		}
		if (mapping.start < start && mapping.end > end) {
			memmove(&process->mappings[i + 2], &process->mappings[i + 1],
				(count - i - 1) * sizeof(mapping));
			process->mappings[kept] = mapping;
			process->mappings[kept++].end = start;
			process->mappings[kept] = mapping;
			process->mappings[kept++].start = end;
			process->mapping_count = count + 1;
			return true;
		}
		if (mapping.start < start)
			mapping.end = start;
		else if (mapping.end > end)
			mapping.start = end;
		else
			continue;
		process->mappings[kept++] = mapping;
	}
	process->mapping_count = kept;
	return true;
}

static bool add_mapping(
	struct process_table *table, struct process *process, const struct process_mapping *mapping, struct error *err)
{
	size_t at = 0;

	if (!unmap(process, mapping->start, mapping->end, err) ||
		!ARRAY_RESERVE(
			&process->mappings, &process->mapping_capacity, process->mapping_count + 1, MAX_MAPPINGS, err))
		return false;
	while (at < process->mapping_count && process->mappings[at].start < mapping->start)
		at++;
	memmove(&process->mappings[at + 1], &process->mappings[at], (process->mapping_count - at) * sizeof(*mapping));
	process->mappings[at] = *mapping;
	process->mapping_count++;
	process->generation = table->next_generation++;
	return true;
}

/* How many mappings start at or below an address. */
static size_t count_below(const struct process *process, uint64_t address)
{
	return ARRAY_COUNT_UP_TO(process->mappings, process->mapping_count, start, address);
}

static const struct process_mapping *find_mapping(const struct process *process, uint64_t address)
{
	size_t below = count_below(process, address);

	return below > 0 && address < process->mappings[below - 1].end ? &process->mappings[below - 1] : NULL;
}

static const struct process_image *image_at(const struct process_table *table, uint32_t place)
{
	return &table->images[table->places[place].image];
}

/*
 * Records which file's code the memory replaces: it may hold a copy of it, as PHP and node move their code into huge
 * pages.
 */
static void note_covered(
	const struct process_table *table, const struct process *process, struct process_mapping *mapping)
{
	const struct process_mapping *before = find_mapping(process, mapping->start);

	if (image_at(table, mapping->place)->elf || !before || before->end < mapping->end)
		return;
	mapping->covered_place = image_at(table, before->place)->elf ? before->place : before->covered_place;
}

/* Adds a place. Memory without a file always has one place in its process, and the pieces of a file mostly have one. */
static bool add_place(struct process_table *table, const struct process_place *place, uint32_t *id, struct error *err)
{
	struct process_image *image = &table->images[place->image];

	if (image->latest_place == PROFILE_NONE || table->places[image->latest_place].bias != place->bias) {
		if (!ARRAY_RESERVE(&table->places, &table->place_capacity, table->place_count + 1, MAX_PLACES, err))
			return false;
		table->places[table->place_count] =
			(struct process_place){ place->bias, place->image, image->mapping_id };
		image->latest_place = (uint32_t)table->place_count++;
	}
	*id = image->latest_place;
	return true;
}

bool process_table_map(
	struct process_table *table, struct process *process, const struct elf_mapping *mapped, struct error *err)
{
	struct process_mapping mapping = { .start = mapped->start, .end = mapped->end, .covered_place = PROFILE_NONE };
	struct process_place place;

	if (!image_of_mapping(table, mapped, &place.image, &place.bias, err) ||
		!add_place(table, &place, &mapping.place, err))
		return false;
	note_covered(table, process, &mapping);
	return add_mapping(table, process, &mapping, err);
}

static bool add_process(struct process_table *table, int32_t pid, struct process **process, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&table->processes, &table->capacity, table->count + 1, MAX_PROCESSES, err) ||
		!hash_map_add(&table->by_pid, &pid, (uint32_t)table->count, &value, &added, err))
		return false;
	if (added) {
		table->processes[table->count++] =
			(struct process){ .pid = pid, .is_alive = true, .generation = table->next_generation++ };
	}
	*process = &table->processes[*value];
	return true;
}

bool process_table_get(struct process_table *table, int32_t pid, struct process **process, struct error *err)
{
	if (!add_process(table, pid, process, err))
		return false;
	if ((*process)->maps_are_read)
		return true;
	(*process)->maps_are_read = true;
	return table->host.functions->read_process(table, *process, err);
}

static bool add_thread(struct process_table *table, int32_t tid, bool *added, uint32_t **name, struct error *err)
{
	uint32_t *value;

	if (!ARRAY_RESERVE(&table->threads, &table->thread_capacity, table->thread_count + 1, MAX_PROCESSES, err) ||
		!hash_map_add(&table->by_tid, &tid, (uint32_t)table->thread_count, &value, added, err))
		return false;
	if (*added)
		table->threads[table->thread_count++] = (struct process_thread){ .tid = tid };
	*name = &table->threads[*value].name;
	return true;
}

bool process_table_thread_name(struct process_table *table, int32_t pid, int32_t tid, uint32_t *name, struct error *err)
{
	char text[PROC_COMM_BYTES];
	uint32_t *known;
	bool added;

	if (!add_thread(table, tid, &added, &known, err))
		return false;
	if (added) {
		table->host.functions->read_comm(pid, tid, text);
		if (!profile_intern(table->profile, text, known, err))
			return false;
	}
	*name = *known;
	return true;
}

static bool set_thread_name(struct process_table *table, int32_t tid, uint32_t name, struct error *err)
{
	uint32_t *known;
	bool added;

	if (!add_thread(table, tid, &added, &known, err))
		return false;
	*known = name;
	return true;
}

/* Handles a new program: the old one's mappings are gone, and the new one's arrive in records of their own. */
static bool take_comm(struct process_table *table, const struct record *record, struct error *err)
{
	struct process *process;
	uint32_t name;

	if (!process_table_get(table, record->pid, &process, err) ||
		!profile_intern(table->profile, record->comm.name, &name, err) ||
		!set_thread_name(table, record->tid, name, err))
		return false;
	if (record->pid == record->tid)
		process->name = name;
	if (record->comm.is_exec) {
		process->mapping_count = 0;
		process->generation = table->next_generation++;
	}
	return true;
}

/* Copies the mappings and the name of the parent to the child. */
static bool copy_parent(struct process_table *table, const struct record *record, struct error *err)
{
	struct process *child, *found, parent;

	if (!process_table_get(table, record->fork.parent_pid, &found, err))
		return false;
	parent = *found;
	if (!add_process(table, record->pid, &child, err) ||
		!ARRAY_RESERVE(&child->mappings, &child->mapping_capacity, parent.mapping_count + 1, MAX_MAPPINGS, err))
		return false;
	/* A pid may be reused: all fields of an earlier process with it are replaced. */
	child->is_alive = child->maps_are_read = true;
	child->has_threads = false;
	child->name = parent.name;
	child->generation = table->next_generation++;
	if (parent.mapping_count)
		memcpy(child->mappings, parent.mappings, parent.mapping_count * sizeof(*child->mappings));
	child->mapping_count = parent.mapping_count;
	return true;
}

/* A new thread has its creator's name. */
static bool take_fork(struct process_table *table, const struct record *record, struct error *err)
{
	uint32_t name, id;

	*(record->pid == record->fork.parent_pid ? &table->births : &table->forks) += 1;
	if (!process_table_thread_name(table, record->fork.parent_pid, record->fork.parent_tid, &name, err) ||
		!set_thread_name(table, record->tid, name, err))
		return false;
	if (record->pid != record->fork.parent_pid)
		return copy_parent(table, record, err);
	id = hash_map_get(&table->by_pid, &record->pid);
	if (id != HASH_MAP_NONE)
		table->processes[id].has_threads = true;
	return true;
}

static bool take_mmap(struct process_table *table, const struct record *record, struct error *err)
{
	const struct record_mmap *in = &record->mmap;
	struct process *process;
	struct elf_mapping mapping = {
		.pid = record->pid,
		.start = in->address,
		.end = in->address + in->size,
		.file_offset = in->file_offset,
		.device_major = in->major,
		.device_minor = in->minor,
		.inode = in->inode,
		.path = in->path,
	};

	if (!in->executable || mapping.end <= mapping.start)
		return true;
	return process_table_get(table, record->pid, &process, err) && process_table_map(table, process, &mapping, err);
}

static bool take_exit(struct process_table *table, const struct record *record)
{
	uint32_t id = hash_map_get(&table->by_pid, &record->pid);

	if (record->pid == record->tid && id != HASH_MAP_NONE)
		table->processes[id].is_alive =
			table->processes[id].has_threads && table->host.functions->is_alive(record->pid);
	return true;
}

bool process_table_update(struct process_table *table, const struct record *record, struct error *err)
{
	table->version++;
	if (table->host.functions->is_outside(record))
		return true;
	switch (record->kind) {
	case RECORD_MMAP:
		return take_mmap(table, record, err);
	case RECORD_COMM:
		return take_comm(table, record, err);
	case RECORD_FORK:
		return take_fork(table, record, err);
	case RECORD_EXIT:
		return take_exit(table, record);
	case RECORD_SAMPLE:
	case RECORD_LOST:
	case RECORD_THROTTLE:
	case RECORD_OTHER:
		break;
	}
	return true;
}

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

/* Whether the memory that replaces a file's code has the file's bytes at an address. */
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
	       space->table->host.functions->read_memory(space->process->pid, &here, &there, 1) ==
		       (ssize_t)here.iov_len &&
	       memcmp(memory, bytes, here.iov_len) == 0;
}

bool process_space_find(void *context, uint64_t address, struct unwind_code *code)
{
	const struct process_space *space = context;
	const struct process_table *table = space->table;
	const struct process_mapping *mapping = find_mapping(space->process, address);
	const struct process_image *image;
	uint32_t place;

	if (!mapping)
		return false;
	place = mapping->covered_place != PROFILE_NONE && is_copy(space, mapping, address) ? mapping->covered_place
											   : mapping->place;
	image = image_at(table, place);
	*code = (struct unwind_code){
		.table = image->table,
		.image = place,
		.image_address = address + table->places[place].bias,
		.entry = image->elf ? elf_image_entry(image->elf) : 0,
		.is_go = image->is_go,
	};
	if (image->elf)
		code->code = code_of_image(image->elf, code->image_address);
	return true;
}

bool process_space_is_code(void *context, uint64_t address)
{
	struct process_space *space = context;
	const struct process *process = space->process;
	const struct process_mapping *mappings = process->mappings;
	size_t count = process->mapping_count, below;

	/*
	 * Nearly all words of a stack are no code addresses, and those that look like addresses point to the same few
	 * places.
	 */
	if (count == 0 || address < mappings[0].start || address >= mappings[count - 1].end ||
		address - space->gap_start < space->gap_bytes)
		return false;
	below = count_below(process, address);
	if (address < mappings[below - 1].end)
		return true;
	space->gap_start = mappings[below - 1].end;
	space->gap_bytes = mappings[below].start - space->gap_start;
	return false;
}

/* Reads code that was made at run time, as long as its process lives. */
bool process_space_read(void *context, uint64_t address, size_t bytes, struct machine_code *code)
{
	const struct process_space *space = context;
	const struct process_mapping *mapping = find_mapping(space->process, address);
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
	done = table->host.functions->read_memory(space->process->pid, &here, &there, 1);
	if (done <= 0 || address - start >= (uint64_t)done)
		return false;
	*code = (struct machine_code){ table->code, (size_t)done, (size_t)(address - start) };
	return true;
}
