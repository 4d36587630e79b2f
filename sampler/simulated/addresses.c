/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulated/simulation.h"

#include "sampler/collect/result.h"
#include "sampler/process/jit_map.h"
#include "sampler/process/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_MAPPINGS = 1 << 24, MAX_THREADS = 1 << 24, MAX_DUMPS = 1 << 24 };

/*
 * The machine of a simulation: this one, a moment ago. Its processes have ended, so that code is found as for a
 * recording of another time; but the files must still be those that were mapped, and perf maps must be younger than
 * the simulation.
 */
struct address_host {
	struct recorded_files files; /* first: the functions of its host get this */
	const char *directory;       /* borrowed: of the files of counts, beside which the tool keeps perf maps */
	int64_t since_s;
	int32_t pid, parent_pid;
	bool is_forked;
};

struct address_reader {
	struct process_table table;
	struct process_host_functions functions;
	struct address_host host;
	struct simulation_file *file; /* that is read */
	struct process *process;
	struct profile *profile;
};

/* ---- The host ---- */

static bool address_open(void *context, const struct elf_mapping *mapped, enum profile_mapping_kind kind,
	struct elf_image **image, struct error *err)
{
	struct address_host *host = context;
	CLEANUP(elf_image_cleanup) struct elf_image *found = NULL;

	if (!recorded_files_open(&host->files, mapped->path, NULL, &found, err))
		return false;
	if (kind == PROFILE_MAPPING_FILE && mapped->inode && elf_image_identity(found)->inode != mapped->inode)
		return error_set(err, ERROR_NOT_FOUND, "%.300s was replaced while the simulation ran", mapped->path);
	*image = TAKE(found);
	return true;
}

static bool expect_map_of(const struct address_host *host, int32_t pid, struct jit_place *place, struct error *err)
{
	char *path;

	if (asprintf(&path, "%s/perf-%d.map", host->directory, pid) < 0)
		return error_set_memory(err);
	jit_place_deinit(place);
	*place = (struct jit_place){ .path = path, .since_s = host->since_s, .user = geteuid() };
	return true;
}

static bool address_expect_jit_map(
	void *context, const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	const struct address_host *host = context;

	if (jit_map_is_dump(mapped))
		return jit_map_expect_recorded(mapped, image, err);
	return expect_map_of(host, mapped->pid, &image->jit_map, err) &&
	       (!host->is_forked || expect_map_of(host, host->parent_pid, &image->inherited_map, err));
}

/* The command ran just now, here: its maps lie where it was told to write them. */
static bool address_open_jit_map(void *context, const struct jit_place *place, struct file_opened *file,
	struct buffer *notices, struct error *err)
{
	(void)context;
	return jit_map_open(place, file, notices, err);
}

/* ---- What a file tells ---- */

static bool address_process(void *context, const struct simulate_process *process, struct error *err)
{
	struct address_reader *reader = context;

	reader->host.parent_pid = process->parent_pid;
	reader->host.is_forked = process->is_forked != 0;
	return process_table_get(&reader->table, process->pid, &reader->process, err);
}

static bool address_mapping(void *context, const struct simulate_mapping *mapping, const char *path, struct error *err)
{
	struct address_reader *reader = context;
	struct simulation_file *file = reader->file;
	const struct elf_mapping mapped = {
		.pid = reader->process->pid,
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.device_major = major(mapping->device),
		.device_minor = minor(mapping->device),
		.inode = mapping->inode,
		.path = path,
	};
	struct simulation_mapping made = { .id = PROFILE_NONE };
	const struct process_mapping *found;

	if (!ARRAY_RESERVE(&file->mappings, &file->mapping_capacity, file->mapping_count + 1, MAX_MAPPINGS, err) ||
		!process_table_map(&reader->table, reader->process, &mapped, err))
		return false;
	found = mappings_find(&reader->process->mappings, mapping->start);
	if (found) {
		struct process_location start = process_table_locate(&reader->table, found->place, 0);

		made = (struct simulation_mapping){ .bias = start.address, .id = start.mapping };
	}
	file->mappings[file->mapping_count++] = made;
	return true;
}

static bool simulated_addresses_add_address(
	struct address_reader *reader, uint32_t mapping, uint64_t address, struct error *err)
{
	struct profile_location location = simulation_locate(reader->file, mapping, address);
	uint32_t id;

	return profile_add_location(reader->profile, location.mapping, location.address, &id, err);
}

static bool address_block(void *context, const struct simulated_block *block, struct error *err)
{
	struct address_reader *reader = context;
	uint64_t address = block->address;

	for (size_t i = 0; i < block->instruction_count; i++) {
		if (!simulated_addresses_add_address(reader, block->mapping, address, err))
			return false;
		address += block->lengths[i];
	}
	return true;
}

static bool address_node(void *context, const struct simulated_node *node, struct error *err)
{
	return node->parent == SIMULATE_NONE ||
	       simulated_addresses_add_address(context, node->mapping, node->call_site, err);
}

static bool address_thread(void *context, const struct simulate_thread *thread, struct error *err)
{
	struct address_reader *reader = context;
	struct simulation_file *file = reader->file;

	if (!ARRAY_RESERVE(&file->threads, &file->thread_capacity, file->thread_count + 1, MAX_THREADS, err))
		return false;
	file->threads[file->thread_count++] = *thread;
	return true;
}

static bool address_dump(void *context, const struct simulate_dump *dump, const char *name, struct error *err)
{
	struct address_reader *reader = context;
	struct simulation_file *file = reader->file;
	struct simulation_dump made = { .trigger = dump->trigger };

	if (!ARRAY_RESERVE(&file->dumps, &file->dump_capacity, file->dump_count + 1, MAX_DUMPS, err))
		return false;
	made.name = strdup(name);
	if (!made.name)
		return error_set_memory(err);
	file->dumps[file->dump_count++] = made;
	return true;
}

static int simulated_addresses_compare_threads(const void *left, const void *right)
{
	const struct simulate_thread *a = left, *b = right;

	return ORDER(a->root, b->root);
}

static void describe_cut(const struct simulation_file *file, struct buffer *notices)
{
	if (notices)
		buffer_printf(notices,
			"process %d was killed, or still ran, before it had written all its counts: what it had written is shown\n",
			file->pid);
}

static bool simulated_addresses_add_file(struct address_reader *reader, const struct sampler_simulation *simulation,
	struct buffer *notices, struct error *err)
{
	const struct simulated_visitor visitor = {
		.process = address_process,
		.mapping = address_mapping,
		.block = address_block,
		.node = address_node,
		.thread = address_thread,
		.dump = address_dump,
		.context = reader,
	};
	CLEANUP(cleanup_close) int fd = simulation_open(simulation, reader->file, err);
	struct simulated_end end;

	if (fd < 0)
		return false;
	if (!simulated_file_read(fd, reader->file->bytes, &visitor, &end, err))
		return error_prefix(err, "simulation of process %d", reader->file->pid);
	if (reader->file->thread_count > 0)
		qsort(reader->file->threads, reader->file->thread_count, sizeof(struct simulate_thread),
			simulated_addresses_compare_threads);
	if (end.is_cut)
		describe_cut(reader->file, notices);
	return true;
}

bool simulation_add_addresses(struct sampler_simulation *simulation, struct profile *profile, struct recording *result,
	struct buffer *notices, struct error *err)
{
	struct address_reader reader = { .profile = profile };
	bool ok = true;

	recorded_files_init(&reader.host.files, NULL);
	reader.host.directory = simulation->path;
	reader.host.since_s = simulation->run.start_unix_ns / 1000000000;
	reader.functions = *recorded_files_host(&reader.host.files).functions;
	reader.functions.open = address_open;
	reader.functions.expect_jit_map = address_expect_jit_map;
	reader.functions.open_jit_map = address_open_jit_map;
	process_table_init(&reader.table, profile,
		(struct process_host){ .functions = &reader.functions, .context = &reader.host }, notices);
	for (size_t i = 0; ok && i < simulation->file_count; i++) {
		reader.file = &simulation->files[i];
		ok = simulated_addresses_add_file(&reader, simulation, notices, err);
	}
	ok = ok && result_take_images(result, &reader.table, err);
	process_table_deinit(&reader.table);
	recorded_files_deinit(&reader.host.files);
	return ok;
}
