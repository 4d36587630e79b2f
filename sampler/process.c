/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process.h"

#include "sampler/proc.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { MAX_PROCESSES = 1 << 22, MAX_MAPPINGS = 1 << 20 };

void process_table_init(struct process_table *table, struct profile *profile, struct buffer *notices)
{
	*table = (struct process_table){
		.profile = profile, .notices = notices, .next_generation = 1, .version = 1, .kernel_image = PROFILE_NONE
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
		cfi_table_destroy(table->images[i].table);
		free(table->images[i].jit_map);
	}
	free(table->processes);
	free(table->threads);
	free(table->images);
	hash_map_deinit(&table->by_pid);
	hash_map_deinit(&table->by_tid);
	hash_map_deinit(&table->by_file);
	*table = (struct process_table){ 0 };
}

/* Cuts [start, end) out of what was mapped: the kernel tells of new mappings only, which replace the old. */
static bool unmap(struct process *process, uint64_t start, uint64_t end, struct error *err)
{
	size_t kept = 0, count = process->mapping_count;

	/* One that is split in two makes one more. */
	if (!ARRAY_RESERVE(&process->mappings, &process->mapping_capacity, count + 2, MAX_MAPPINGS, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct process_mapping mapping = process->mappings[i];

		if (mapping.end <= start || mapping.start >= end) {
			process->mappings[kept++] = mapping;
			continue;
		}
		if (mapping.start < start && mapping.end > end) {
			memmove(&process->mappings[i + 2], &process->mappings[i + 1], (count - i - 1) * sizeof(mapping));
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
		!ARRAY_RESERVE(&process->mappings, &process->mapping_capacity, process->mapping_count + 1, MAX_MAPPINGS, err))
		return false;
	while (at < process->mapping_count && process->mappings[at].start < mapping->start)
		at++;
	memmove(&process->mappings[at + 1], &process->mappings[at], (process->mapping_count - at) * sizeof(*mapping));
	process->mappings[at] = *mapping;
	process->mapping_count++;
	process->generation = table->next_generation++;
	return true;
}

static bool add_elf_mapping(
	struct process_table *table, struct process *process, const struct elf_mapping *mapped, struct error *err)
{
	struct process_mapping mapping = { .start = mapped->start, .end = mapped->end };

	return image_of_mapping(table, mapped, &mapping.image, &mapping.bias, err) && add_mapping(table, process, &mapping, err);
}

struct maps_reader {
	struct process_table *table;
	struct process *process;
};

static bool take_maps_entry(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	struct maps_reader *reader = context;

	return !entry->executable || add_elf_mapping(reader->table, reader->process, &entry->mapping, err);
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
	struct maps_reader reader = { .table = table };
	char name[PROC_COMM_BYTES];

	if (!add_process(table, pid, process, err))
		return false;
	if ((*process)->maps_are_read || table->files)
		return true;
	(*process)->maps_are_read = true;
	reader.process = *process;
	proc_read_comm(pid, pid, name);
	/* A process that is gone has no maps any more: its samples then lie in no mapping, which is counted. */
	if (!profile_intern(table->profile, name, &(*process)->name, err) || !proc_read_maps(pid, take_maps_entry, &reader, err))
		return false;
	table->met_denied = table->met_denied || ((*process)->mapping_count == 0 && proc_maps_are_denied(pid));
	return true;
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
	if (added && !table->files) {
		proc_read_comm(pid, tid, text);
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

/* A new program: nothing of the old one is mapped any more; what the new one maps is told by records of its own. */
static bool take_comm(struct process_table *table, const struct record *record, struct error *err)
{
	struct process *process;
	uint32_t name;

	if (!process_table_get(table, record->pid, &process, err) ||
		!profile_intern(table->profile, record->comm.name, &name, err) || !set_thread_name(table, record->tid, name, err))
		return false;
	if (record->pid == record->tid)
		process->name = name;
	if (record->comm.is_exec) {
		process->mapping_count = 0;
		process->generation = table->next_generation++;
	}
	return true;
}

/* A child has what its parent has. */
static bool copy_parent(struct process_table *table, const struct record *record, struct error *err)
{
	struct process *child, *found, parent;

	if (!process_table_get(table, record->fork.parent_pid, &found, err))
		return false;
	parent = *found;
	if (!add_process(table, record->pid, &child, err) ||
		!ARRAY_RESERVE(&child->mappings, &child->mapping_capacity, parent.mapping_count + 1, MAX_MAPPINGS, err))
		return false;
	/* A pid may be used again: what it was before is over. */
	child->is_alive = child->maps_are_read = true;
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
	uint32_t name;

	table->births += record->pid == record->fork.parent_pid;
	if (!process_table_thread_name(table, record->fork.parent_pid, record->fork.parent_tid, &name, err) ||
		!set_thread_name(table, record->tid, name, err))
		return false;
	return record->pid == record->fork.parent_pid || copy_parent(table, record, err);
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
	return process_table_get(table, record->pid, &process, err) && add_elf_mapping(table, process, &mapping, err);
}

static bool take_exit(struct process_table *table, const struct record *record)
{
	uint32_t id = hash_map_get(&table->by_pid, &record->pid);

	if (record->pid == record->tid && id != HASH_MAP_NONE)
		table->processes[id].is_alive = false;
	return true;
}

bool process_table_update(struct process_table *table, const struct record *record, struct error *err)
{
	table->version++;
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

/* How many mappings start at or below an address. */
static size_t count_below(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct process_mapping *find_mapping(const struct process *process, uint64_t address)
{
	size_t below = count_below(process, address);

	return below > 0 && address < process->mappings[below - 1].end ? &process->mappings[below - 1] : NULL;
}

/* All code that is mapped with it. */
static struct code code_of_image(const struct elf_image *image, uint64_t address)
{
	struct code code = { 0 };
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) && address - segments[i].address < segments[i].file_size) {
			code.bytes = elf_image_bytes_at(image, segments[i].address, &code.size);
			code.at = (size_t)(address - segments[i].address);
		}
	return code;
}

bool process_space_find(void *context, uint64_t address, struct unwind_code *code)
{
	struct process_space *space = context;
	const struct process_mapping *mapping = find_mapping(space->process, address);
	const struct process_image *image;
	struct unwind_code found;
	struct error ignored;

	if (!mapping)
		return false;
	image = &space->table->images[mapping->image];
	found = (struct unwind_code){
		.table = image->table,
		.image_address = address + mapping->bias,
		.entry = image->elf ? elf_image_entry(image->elf) : 0,
		.is_go = image->is_go,
	};
	if (image->elf)
		found.code = code_of_image(image->elf, found.image_address);
	if (!profile_add_location(space->table->profile, image->mapping_id, found.image_address, &found.location, &ignored)) {
		space->failed = true;
		return false;
	}
	*code = found;
	return true;
}

bool process_space_is_code(void *context, uint64_t address)
{
	struct process_space *space = context;
	const struct process *process = space->process;
	const struct process_mapping *mappings = process->mappings;
	size_t count = process->mapping_count, below;

	/* Nearly all words of a stack are none, and what is no number points to the same few places. */
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

/* Of code that was made at run time, while its process lives. */
bool process_space_read(void *context, uint64_t address, struct code *code)
{
	const struct process_space *space = context;
	const struct process_mapping *mapping = find_mapping(space->process, address);
	uint8_t *room = space->table->code;
	uint64_t before, start, size;
	struct iovec here, there;
	ssize_t done;

	if (!mapping || space->table->files)
		return false;
	before = address - mapping->start;
	start = address - (before < PROCESS_CODE_BYTES / 4 ? before : PROCESS_CODE_BYTES / 4);
	size = mapping->end - start < PROCESS_CODE_BYTES ? mapping->end - start : PROCESS_CODE_BYTES;
	here = (struct iovec){ room, size };
	there = (struct iovec){ (void *)(uintptr_t)start, size };
	done = process_vm_readv(space->process->pid, &here, 1, &there, 1, 0);
	if (done <= 0 || address - start >= (uint64_t)done)
		return false;
	*code = (struct code){ room, (size_t)done, (size_t)(address - start) };
	return true;
}
