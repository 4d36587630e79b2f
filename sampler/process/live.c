/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/account.h"
#include "sampler/process/image.h"
#include "sampler/process/reader.h"

#include <limits.h>
#include <string.h>

/* ---- Processes ---- */

struct maps_reader {
	struct process_table *table;
	struct process *process;
	struct elf_mapping file; /* the last one of a file, whatever it is for; end 0: none yet */
	char path[PATH_MAX];     /* of it */
};

/*
 * Handles memory directly after a piece of a file, where the file would continue: the memory covers that part of the
 * file.
 */
static bool add_what_is_covered(struct maps_reader *reader, const struct elf_mapping *memory, struct error *err)
{
	struct buffer *notices = reader->table->notices;
	struct elf_mapping mapped = *memory;
	uint64_t size = memory->end - memory->start;
	bool ok;

	if (memory->inode != 0 || memory->start != reader->file.end)
		return true;
	mapped.path = reader->path;
	mapped.inode = reader->file.inode;
	mapped.device_major = reader->file.device_major;
	mapped.device_minor = reader->file.device_minor;
	mapped.file_offset = reader->file.file_offset + (reader->file.end - reader->file.start);
	reader->file.end += size;
	/* Without a notice: if there is no such file, nothing is lost. */
	reader->table->notices = NULL;
	ok = process_table_map(reader->table, reader->process, &mapped, err);
	reader->table->notices = notices;
	return ok;
}

static bool take_maps_entry(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	struct maps_reader *reader = context;
	const struct elf_mapping *mapping = &entry->mapping;

	if (mapping->inode != 0 && mapping->path[0] == '/' && strlen(mapping->path) < sizeof(reader->path)) {
		reader->file = *mapping;
		strcpy(reader->path, mapping->path);
	}
	return !entry->executable || (add_what_is_covered(reader, mapping, err) &&
					     process_table_map(reader->table, reader->process, mapping, err));
}

/*
 * Text of maps is cut at a size, or where it did not arrive. Its last whole line is the end then; what has not arrived
 * is lost as records of the sideband are, and read again where code is missed.
 */
static bool live_read_maps(struct process_table *table, struct process *process, struct error *err)
{
	enum { MAX_MAPS_BYTES = 1 << 26 };
	struct maps_reader reader = { .table = table, .process = process };
	struct buffer text;
	bool is_denied, ok = true;

	buffer_init(&text, MAX_MAPS_BYTES);
	table->losses += !process_reader_maps(table->host.context, process->pid, &text, &is_denied);
	process->maps_bytes = text.size;
	while (text.size > 0 && text.data[text.size - 1] != '\n')
		text.size--;
	/* A process that has ended has no maps: its samples then lie in no mapping, and are counted so. */
	if (text.size > 0) {
		text.data[text.size - 1] = '\0';
		ok = elf_maps_parse(text.data, process->pid, take_maps_entry, &reader, err);
	}
	table->met_denied = table->met_denied || (process->mappings.count == 0 && is_denied);
	buffer_deinit(&text);
	return ok;
}

static bool live_read_process(struct process_table *table, struct process *process, struct error *err)
{
	table->met_outside = table->met_outside || process->pid <= 0;
	process->has_threads = true;
	proc_read_comm(process->pid, process->pid, process->name);
	return live_read_maps(table, process, err);
}

/*
 * Returns whether a process is outside our pid namespace. It has pid 0 here, as all such processes, whose mappings
 * would be mixed.
 */
static bool live_is_outside(const struct record *record)
{
	return record->pid <= 0 || (record->kind == RECORD_FORK && record->fork.parent_pid <= 0);
}

static ssize_t live_read_memory(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	return process_reader_memory(context, pid, into, from, from_count);
}

/* ---- Binaries ---- */

static bool is_binary(struct process_reader *reader, const struct elf_mapping *mapped, enum error_code *why)
{
	struct elf_image *image;
	struct error err;

	if (!process_reader_open(reader, mapped, &image, &err)) {
		*why = err.code;
		return false;
	}
	elf_image_unref(image);
	return true;
}

static bool live_is_memory(void *context, const struct elf_mapping *mapped)
{
	enum error_code why = ERROR_NOT_FOUND;

	if (image_is_nameless(mapped))
		return !is_binary(context, mapped, &why);
	/*
	 * Huge pages, and a deleted file that maps one memory both for writing and for executing, may be memory without
	 * a binary. A file that may not be read still counts as a file.
	 */
	return elf_mapped_is_deleted(mapped->path) && !is_binary(context, mapped, &why) && why == ERROR_FORMAT;
}

static bool live_open(void *context, const struct elf_mapping *mapped, enum profile_mapping_kind kind,
	struct elf_image **image, struct error *err)
{
	return kind == PROFILE_MAPPING_VDSO ? image_open_vdso(image, err)
					    : process_reader_open(context, mapped, image, err);
}

static bool live_expect_jit_map(
	void *context, const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	return process_reader_expect_jit_map(context, mapped, image, err);
}

static int live_watch_jit_map(void *context, const struct jit_place *place)
{
	return process_reader_watch_jit_map(context, place);
}

static bool live_open_jit_map(void *context, const struct jit_place *place, struct file_opened *file,
	struct buffer *notices, struct error *err)
{
	return process_reader_open_jit_map(context, place, file, notices, err);
}

static const char *live_path(const struct elf_image *image, const struct elf_mapping *mapped)
{
	(void)mapped;
	return elf_image_path(image);
}

static void live_kernel_build_id(const void *context, struct elf_build_id *id)
{
	(void)context;
	image_kernel_build_id(id);
}

struct process_host process_host_live(struct process_reader *reader)
{
	static const struct process_host_functions functions = {
		.read_process = live_read_process,
		.read_comm = proc_read_comm,
		.account_of = account_of,
		.identify = account_identify,
		.is_alive = proc_is_alive,
		.is_outside = live_is_outside,
		.read_memory = live_read_memory,
		.is_memory = live_is_memory,
		.open = live_open,
		.path = live_path,
		.is_deleted = elf_image_is_deleted,
		.is_intact = elf_image_is_intact,
		.expect_jit_map = live_expect_jit_map,
		.watch_jit_map = live_watch_jit_map,
		.open_jit_map = live_open_jit_map,
		.kernel_build_id = live_kernel_build_id,
	};

	return (struct process_host){ &functions, reader };
}
