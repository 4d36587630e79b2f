/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what was counted to the process's file (simulate/format.h). */
#include "simulate/tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

enum { BUFFER_BYTES = 1 << 18, GENERATIONS_MAX = 1 << 20 };

/* The process's file. It is open only while something is written: the program could close it. */
static struct {
	char *path; /* NULL: not made yet */
	int fd;
	bool has_failed; /* nothing more is written */
	bool is_forked;
	uint64_t written; /* bytes */
	uint64_t end;     /* where the end was written */
	struct simulate_record record;
	uint64_t used; /* of the payload of the record */
	char *payload;
	uint32_t mapping_count, block_count, node_count;
} output;

static void write_all(const void *data, uint64_t bytes)
{
	const char *from = data;

	while (bytes > 0 && !output.has_failed) {
		int count = VG_(write)(output.fd, from, (int)bytes);

		if (count <= 0) {
			output.has_failed = true;
			VG_(umsg)
			("kelvin: cannot write %s: %s; what the simulation counted is lost from here on\n", output.path,
				count == -VKI_ENOSPC ? "the disk is full" : "an error of the disk");
			return;
		}
		from += count;
		bytes -= (uint64_t)count;
		output.written += (uint64_t)count;
	}
}

static void record_flush(void)
{
	if (output.record.entries > 0) {
		output.record.bytes = output.used;
		write_all(&output.record, sizeof(output.record));
		write_all(output.payload, output.used);
	}
	output.record = (struct simulate_record){ 0 };
	output.used = 0;
}

/* Room for an entry of a kind, zeroed; its size is a multiple of 8. */
static void *entry_begin(enum simulate_kind kind, uint64_t bytes)
{
	void *entry;

	tl_assert(bytes <= BUFFER_BYTES && bytes % 8 == 0);
	if (output.record.kind != (uint32_t)kind || BUFFER_BYTES - output.used < bytes)
		record_flush();
	output.record.kind = kind;
	output.record.entries++;
	entry = output.payload + output.used;
	VG_(memset)(entry, 0, bytes);
	output.used += bytes;
	return entry;
}

/* A kind of which each record has one entry, followed by text. */
static void *entry_with_text(enum simulate_kind kind, uint64_t bytes, const char *text, uint64_t text_bytes)
{
	char *entry;

	record_flush();
	entry = entry_begin(kind, (bytes + text_bytes + 7) & ~(uint64_t)7);
	VG_(memcpy)(entry + bytes, text, text_bytes);
	return entry;
}

static uint64_t text_bytes(const char *text)
{
	uint64_t bytes = text ? VG_(strlen)(text) : 0;

	return bytes < 4096 ? bytes : 4096;
}

/* --- the file --- */

static void process_write(void)
{
	struct simulate_process *process = entry_begin(SIMULATE_PROCESS, sizeof(*process));

	VG_(memcpy)(process->magic, "KELVINSM", sizeof(process->magic));
	process->version = SIMULATE_VERSION;
	process->pid = VG_(getpid)();
	process->parent_pid = VG_(getppid)();
	process->is_forked = output.is_forked;
	process->first_instructions = tool_options.first_instructions;
	process->first_data = tool_options.first_data;
	process->last = tool_options.last;
	tool_program_name(process->name);
	record_flush();
}

/* The first generation of this process id that nobody has written yet. */
static bool file_create(void)
{
	uint64_t bytes = VG_(strlen)(tool_options.directory) + 32;
	SysRes opened;

	output.path = tool_permanent(bytes);
	if (!output.payload)
		output.payload = VG_(malloc)("kelvin.output", BUFFER_BYTES);
	for (unsigned generation = 0; generation < GENERATIONS_MAX; generation++) {
		VG_(snprintf)(output.path, (Int)bytes, "%s/%d.%u", tool_options.directory, VG_(getpid)(), generation);
		opened = VG_(open)(output.path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_EXCL, 0600);
		if (!sr_isError(opened) || sr_Err(opened) != VKI_EEXIST)
			break;
	}
	if (sr_isError(opened)) {
		VG_(umsg)
		("kelvin: cannot make %s: error %lu; what the simulation counted is lost\n", output.path,
			sr_Err(opened));
		output.has_failed = true;
		return false;
	}
	output.fd = (int)sr_Res(opened);
	process_write();
	return true;
}

static bool file_open(void)
{
	SysRes opened;

	if (output.has_failed)
		return false;
	if (!output.path)
		return file_create();
	opened = VG_(open)(output.path, VKI_O_WRONLY, 0);
	if (sr_isError(opened) || VG_(lseek)((int)sr_Res(opened), (Off64T)output.written, VKI_SEEK_SET) < 0) {
		VG_(umsg)
		("kelvin: cannot open %s again: what the simulation counted since then is lost\n", output.path);
		output.has_failed = true;
		return false;
	}
	output.fd = (int)sr_Res(opened);
	return true;
}

/* --- what counts refer to --- */

static void mappings_write(void)
{
	for (; output.mapping_count < tool_mapping_count; output.mapping_count++) {
		const struct tool_mapping *mapping = tool_mapping(output.mapping_count);
		struct simulate_mapping *entry;
		uint64_t bytes = text_bytes(mapping->path);

		entry = entry_with_text(SIMULATE_MAPPING, sizeof(*entry), mapping->path, bytes);
		entry->start = mapping->start;
		entry->end = mapping->end;
		entry->file_offset = mapping->file_offset;
		entry->device = mapping->device;
		entry->inode = mapping->inode;
		entry->path_bytes = (uint32_t)bytes;
	}
	record_flush();
}

static bool record_is_empty(const struct tool_record *record)
{
	if (record->cells)
		return false;
	for (unsigned i = 0; i <= record->block->exit_count; i++) {
		if (record->left[i].times > 0)
			return false;
	}
	return true;
}

static void block_write(struct tool_block *block)
{
	struct simulate_block *entry;
	uint64_t bytes = sizeof(*entry) + (uint64_t)block->instruction_count * 2 + block->exit_count * sizeof(uint16_t);
	uint8_t *rest;

	if (block->number != SIMULATE_NONE)
		return;
	block->number = output.block_count++;
	entry = entry_begin(SIMULATE_BLOCKS, (bytes + 7) & ~(uint64_t)7);
	entry->address = block->address;
	entry->mapping = block->mapping;
	entry->instruction_count = block->instruction_count;
	entry->exit_count = block->exit_count;
	rest = (uint8_t *)(entry + 1);
	VG_(memcpy)(rest, block->lengths, block->instruction_count);
	VG_(memcpy)(rest + block->instruction_count, block->costs, block->instruction_count);
	rest += (uint64_t)block->instruction_count * 2;
	for (unsigned i = 0; i < block->exit_count; i++, rest += sizeof(uint16_t))
		VG_(memcpy)(rest, &block->exits[i].instructions, sizeof(uint16_t));
}

/* The node, and before it those of its callers that are not written yet. */
static void node_write(uint32_t node, uint32_t **path, uint32_t *capacity)
{
	uint32_t depth = 0;

	for (; node != SIMULATE_NONE && tool_node(node)->number == TOOL_UNNUMBERED; node = tool_node(node)->parent) {
		if (depth == *capacity) {
			*capacity = *capacity ? *capacity * 2 : 1024;
			*path = VG_(realloc)("kelvin.output", *path, *capacity * sizeof(**path));
		}
		(*path)[depth++] = node;
	}
	while (depth > 0) {
		struct tool_node *from = tool_node((*path)[--depth]);
		struct simulate_node *entry = entry_begin(SIMULATE_NODES, sizeof(*entry));

		from->number = output.node_count++;
		entry->parent = from->parent == SIMULATE_NONE ? SIMULATE_NONE : tool_node(from->parent)->number;
		entry->mapping = from->mapping;
		entry->call_site = from->call_site;
		entry->kind = from->kind;
	}
}

/* Blocks and nodes are numbered as they are written: only what has counts is. */
static void definitions_write(void)
{
	struct tool_record *record = NULL;
	uint32_t *path = NULL, capacity = 0;

	mappings_write();
	while ((record = tool_next_record(record)) != NULL) {
		if (!record_is_empty(record))
			block_write(record->block);
	}
	record_flush();
	while ((record = tool_next_record(record)) != NULL) {
		if (!record_is_empty(record))
			node_write(record->node, &path, &capacity);
	}
	record_flush();
	VG_(free)(path);
	for (struct tool_thread *thread = tool_threads; thread; thread = thread->next) {
		struct simulate_thread *entry;

		if (thread->is_written || tool_node(thread->root)->number == TOOL_UNNUMBERED)
			continue;
		tool_thread_name(thread);
		entry = entry_begin(SIMULATE_THREAD, sizeof(*entry));
		entry->root = tool_node(thread->root)->number;
		entry->tid = thread->tid;
		VG_(memcpy)(entry->name, thread->name, sizeof(entry->name));
		thread->is_written = true;
		record_flush();
	}
}

/* --- counts --- */

static void counts_write(void)
{
	struct tool_record *record = NULL;

	while ((record = tool_next_record(record)) != NULL) {
		unsigned exits = record->block->exit_count;
		struct simulate_count *entry;
		uint64_t *times;

		if (record_is_empty(record))
			continue;
		entry = entry_begin(SIMULATE_COUNTS, sizeof(*entry) + (exits + 1) * sizeof(*times));
		entry->node = tool_node(record->node)->number;
		entry->block = record->block->number;
		times = (uint64_t *)(void *)(entry + 1);
		for (unsigned i = 0; i <= exits; i++)
			times[i] = tool_times(record, i);
	}
	record_flush();
}

static void cell_write(struct simulate_cost *entry, const struct tool_cell *cell)
{
	switch ((enum tool_cell_kind)cell->kind) {
	case TOOL_CELL_FIRST_MISSES:
		entry->first_misses = cell->count;
		break;
	case TOOL_CELL_LAST_MISSES:
		entry->last_misses = cell->count;
		break;
	case TOOL_CELL_BRANCH_MISSES:
		entry->branch_misses = cell->count;
		break;
	case TOOL_CELL_SYSTEM_CALLS:
		entry->system_calls = cell->count;
		break;
	case TOOL_CELL_SYSTEM_NS:
		entry->system_ns = cell->count;
		break;
	case TOOL_CELL_WRAPS:
		break;
	}
}

/* All that happened at the instruction of a cell, unless a cell between `from` and it is of the same one. */
static void instruction_write(const struct tool_record *record, uint32_t from, uint32_t first)
{
	unsigned instruction = tool_cell(first)->instruction;
	struct simulate_cost *entry;

	for (; from != first; from = tool_cell(from)->next) {
		if (tool_cell(from)->instruction == instruction && tool_cell(from)->kind != TOOL_CELL_WRAPS)
			return;
	}
	entry = entry_begin(SIMULATE_COSTS, sizeof(*entry));
	entry->address = record->block->address;
	for (unsigned i = 0; i < instruction; i++)
		entry->address += record->block->lengths[i];
	entry->node = tool_node(record->node)->number;
	entry->mapping = record->block->mapping;
	for (uint32_t number = first; number; number = tool_cell(number)->next) {
		if (tool_cell(number)->instruction == instruction)
			cell_write(entry, tool_cell(number));
	}
}

static void costs_write(void)
{
	struct tool_record *record = NULL;

	while ((record = tool_next_record(record)) != NULL) {
		for (uint32_t number = record->cells; number; number = tool_cell(number)->next) {
			if (tool_cell(number)->kind != TOOL_CELL_WRAPS)
				instruction_write(record, record->cells, number);
		}
	}
	record_flush();
}

static void dump_write(enum simulate_trigger trigger, const char *name)
{
	struct simulate_dump *dump;
	uint64_t bytes = text_bytes(name);

	definitions_write();
	dump = entry_with_text(SIMULATE_DUMP, sizeof(*dump), name, bytes);
	dump->trigger = trigger;
	dump->name_bytes = (uint32_t)bytes;
	record_flush();
	counts_write();
	costs_write();
	tool_zero();
}

void tool_write_dump(enum simulate_trigger trigger, const char *name)
{
	if (!file_open())
		return;
	dump_write(trigger, name);
	VG_(close)(output.fd);
}

void tool_write_end(void)
{
	struct simulate_end *end;

	if (!file_open())
		return;
	dump_write(SIMULATE_TRIGGER_END, NULL);
	output.end = output.written;
	end = entry_begin(SIMULATE_END, sizeof(*end));
	end->was_cut = tool_was_cut;
	record_flush();
	VG_(close)(output.fd);
}

void tool_write_continue(void)
{
	output.written = output.end;
}

void tool_write_forked(void)
{
	output.path = NULL;
	output.has_failed = false;
	output.is_forked = true;
	output.written = 0;
	output.mapping_count = output.block_count = output.node_count = 0;
	for (struct tool_thread *thread = tool_threads; thread; thread = thread->next)
		thread->is_written = false;
	tool_unnumber();
	tool_zero();
}
