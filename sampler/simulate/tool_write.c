/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what was counted to the process's file (sampler/simulated/format.h). */
#include "sampler/simulate/tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

enum { BUFFER_BYTES = 1 << 18, GENERATIONS_MAX = 1 << 20 };

/* The longest number, and more than all numbers of an entry that occur once in it. */
enum { NUMBER_BYTES = 10, HEAD_BYTES = 4 * NUMBER_BYTES };

/* The process's file. It is open only while something is written: the program could close it. */
static struct {
	char *path; /* NULL: not made yet */
	int fd;
	bool has_failed; /* nothing more is written */
	bool is_forked;
	bool has_counts;  /* that are of no dump yet */
	uint64_t written; /* bytes */
	uint64_t end;     /* where the end was written */
	struct simulate_record record;
	uint64_t used; /* of the payload of the record */
	char *payload;
	uint32_t mapping_count, block_count, node_count;
	struct {
		uint64_t address, call_site;
		uint32_t block, node;
	} before; /* of the entry before in this record, for steps from it */
} output;

static void tool_write_fail(const char *why)
{
	output.has_failed = true;
	VG_(umsg)
	("kelvin: cannot write %s: %s; what the simulation counted is lost from here on\n", output.path, why);
}

/* A file that becomes larger than the program's own limit would cost the program a signal. */
static bool tool_write_is_allowed(uint64_t bytes)
{
	enum { FILE_SIZE = 1 /* RLIMIT_FSIZE, which the core has no name for */ };
	struct vki_rlimit limit;

	return VG_(getrlimit)(FILE_SIZE, &limit) != 0 || output.written + bytes <= limit.rlim_cur;
}

static void tool_write_all(const void *data, uint64_t bytes)
{
	const char *from = data;

	if (!output.has_failed && !tool_write_is_allowed(bytes))
		tool_write_fail("the program has limited the size of files");
	while (bytes > 0 && !output.has_failed) {
		int count = VG_(write)(output.fd, from, (int)bytes);

		if (count <= 0) {
			tool_write_fail(count == -VKI_ENOSPC ? "the disk is full" : "an error of the disk");
			return;
		}
		from += count;
		bytes -= (uint64_t)count;
		output.written += (uint64_t)count;
	}
}

static void record_flush(void)
{
	uint64_t padding = -output.used & 7;

	if (output.record.entries > 0) {
		VG_(memset)(output.payload + output.used, 0, padding);
		output.record.bytes = output.used + padding;
		tool_write_all(&output.record, sizeof(output.record));
		tool_write_all(output.payload, output.record.bytes);
	}
	output.record = (struct simulate_record){ 0 };
	output.used = 0;
	VG_(memset)(&output.before, 0, sizeof(output.before));
}

/* Begins an entry of a kind, of `most` bytes or fewer, which are written with number_write() and its like. */
static void entry_begin(enum simulate_kind kind, uint64_t most)
{
	tl_assert(most <= BUFFER_BYTES);
	if (output.record.kind != (uint32_t)kind || BUFFER_BYTES - output.used < most)
		record_flush();
	output.record.kind = kind;
	output.record.entries++;
}

/* An entry that is a struct, zeroed. */
static void *entry_add(enum simulate_kind kind, uint64_t bytes)
{
	void *entry;

	entry_begin(kind, bytes);
	entry = output.payload + output.used;
	VG_(memset)(entry, 0, bytes);
	output.used += bytes;
	return entry;
}

static void byte_write(uint8_t byte)
{
	output.payload[output.used++] = (char)byte;
}

static void number_write(uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		byte_write((uint8_t)(number | 0x80));
	byte_write((uint8_t)number);
}

static uint64_t step_of(uint64_t now, uint64_t before)
{
	uint64_t difference = now - before;

	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

/* A kind of which each record has one entry, followed by text. */
static void *entry_with_text(enum simulate_kind kind, uint64_t bytes, const char *text, uint64_t text_bytes)
{
	char *entry;

	record_flush();
	entry = entry_add(kind, bytes + text_bytes);
	VG_(memcpy)(entry + bytes, text, text_bytes);
	return entry;
}

static uint64_t tool_write_text_bytes(const char *text)
{
	uint64_t bytes = text ? VG_(strlen)(text) : 0;

	return bytes < 4096 ? bytes : 4096;
}

/* --- the file --- */

static void process_write(void)
{
	struct simulate_process *process = entry_add(SIMULATE_PROCESS, sizeof(*process));

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

/* Creates the first generation of this process id that nobody has written yet. */
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
		uint64_t bytes = tool_write_text_bytes(mapping->path);

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
	unsigned before = 0;

	if (block->number != SIMULATE_NONE)
		return;
	block->number = output.block_count++;
	entry_begin(SIMULATE_BLOCKS, HEAD_BYTES + block->instruction_count * 3u + block->exit_count * 2u);
	number_write(step_of(block->address, output.before.address));
	number_write((uint32_t)(block->mapping + 1));
	number_write(block->instruction_count);
	number_write(block->exit_count);
	for (unsigned i = 0; i < block->instruction_count; i++) {
		bool is_dear = block->costs[i] != SIMULATE_QUARTERS;

		number_write(block->lengths[i] * 2u + is_dear);
		if (is_dear)
			byte_write(block->costs[i]);
	}
	for (unsigned i = 0; i < block->exit_count; i++) {
		number_write(block->exits[i].instructions - before);
		before = block->exits[i].instructions;
	}
	output.before.address = block->address + block->bytes;
}

static void node_write_one(struct tool_node *node)
{
	node->number = output.node_count++;
	entry_begin(SIMULATE_NODES, HEAD_BYTES);
	number_write(node->parent == SIMULATE_NONE ? 0 : node->number - tool_node(node->parent)->number);
	number_write((uint64_t)(uint32_t)(node->mapping + 1) * 4 + node->kind);
	number_write(step_of(node->call_site, output.before.call_site));
	output.before.call_site = node->call_site;
}

/* Writes the node, and before it those of its callers that are not written yet. */
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
	while (depth > 0)
		node_write_one(tool_node((*path)[--depth]));
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
}

/* Writes the names of threads; not before a dump, since they get them while they run. */
static void threads_write(void)
{
	for (struct tool_thread *thread = tool_threads; thread; thread = thread->next) {
		struct simulate_thread *entry;

		if (thread->is_written || tool_node(thread->root)->number == TOOL_UNNUMBERED)
			continue;
		tool_thread_name(thread);
		entry = entry_add(SIMULATE_THREAD, sizeof(*entry));
		entry->root = tool_node(thread->root)->number;
		entry->tid = thread->tid;
		VG_(memcpy)(entry->name, thread->name, sizeof(entry->name));
		thread->is_written = true;
		record_flush();
	}
}

/* --- counts --- */

/* Finds the first instruction from `from` on that something happened at. False: there is none. */
static bool cost_find(const struct tool_record *record, unsigned from, unsigned *instruction)
{
	bool is_found = false;

	for (uint32_t number = record->cells; number; number = tool_cell(number)->next) {
		const struct tool_cell *cell = tool_cell(number);

		if (cell->kind == TOOL_CELL_WRAPS || cell->count == 0 || cell->instruction < from ||
			(is_found && cell->instruction >= *instruction))
			continue;
		*instruction = cell->instruction;
		is_found = true;
	}
	return is_found;
}

/* All that happened at an instruction. */
static void cost_write(const struct tool_record *record, unsigned instruction, unsigned before, bool is_last)
{
	uint64_t values[SIMULATE_VALUES] = { 0 };
	unsigned set = 0;

	for (uint32_t number = record->cells; number; number = tool_cell(number)->next) {
		const struct tool_cell *cell = tool_cell(number);

		if (cell->kind != TOOL_CELL_WRAPS && cell->instruction == instruction)
			values[cell->kind] = cell->count;
	}
	for (unsigned i = 0; i < SIMULATE_VALUES; i++)
		set |= (unsigned)(values[i] > 0) << i;
	number_write((instruction - before) * SIMULATE_COST_STEP + set * SIMULATE_COST_SET +
		     (is_last ? 0 : SIMULATE_COST_MORE));
	for (unsigned i = 0; i < SIMULATE_VALUES; i++) {
		if (values[i] > 0)
			number_write(values[i]);
	}
}

static void costs_write(const struct tool_record *record, unsigned instruction)
{
	unsigned before = 0, next;
	bool has_next = true;

	while (has_next) {
		has_next = cost_find(record, instruction + 1, &next);
		cost_write(record, instruction, before, !has_next);
		before = instruction;
		instruction = next;
	}
}

static enum simulate_count_form count_form(const struct tool_record *record)
{
	unsigned exits = record->block->exit_count, left = 0;

	for (unsigned i = 0; i <= exits; i++)
		left += tool_times(record, i) > 0;
	if (left == 1 && tool_times(record, exits) > 0)
		return SIMULATE_COUNT_END;
	return left == 1 && tool_times(record, 0) > 0 ? SIMULATE_COUNT_FIRST : SIMULATE_COUNT_ALL;
}

static void count_write(const struct tool_record *record)
{
	unsigned exits = record->block->exit_count, instruction;
	bool has_costs = cost_find(record, 0, &instruction);
	uint32_t node = tool_node(record->node)->number;
	enum simulate_count_form form = count_form(record);

	entry_begin(SIMULATE_COUNTS,
		HEAD_BYTES + ((exits + 1) + record->block->instruction_count * (1u + SIMULATE_VALUES)) * NUMBER_BYTES);
	number_write(step_of(record->block->number, output.before.block) * SIMULATE_COUNT_STEP +
		     (has_costs ? SIMULATE_COUNT_COSTS : 0) + (node != output.before.node ? SIMULATE_COUNT_NODE : 0) +
		     form);
	if (node != output.before.node)
		number_write(step_of(node, output.before.node));
	if (form == SIMULATE_COUNT_ALL) {
		for (unsigned i = 0; i <= exits; i++)
			number_write(tool_times(record, i));
	} else {
		number_write(tool_times(record, form == SIMULATE_COUNT_END ? exits : 0));
	}
	if (has_costs)
		costs_write(record, instruction);
	output.before.block = record->block->number;
	output.before.node = node;
	output.has_counts = true;
}

static void counts_write(void)
{
	struct tool_record *record = NULL;

	definitions_write();
	while ((record = tool_next_record(record)) != NULL) {
		if (!record_is_empty(record))
			count_write(record);
	}
	record_flush();
}

static void dump_write(enum simulate_trigger trigger, const char *name)
{
	struct simulate_dump *dump;
	uint64_t bytes = tool_write_text_bytes(name);

	threads_write();
	dump = entry_with_text(SIMULATE_DUMP, sizeof(*dump), name, bytes);
	dump->trigger = trigger;
	dump->name_bytes = (uint32_t)bytes;
	record_flush();
	output.has_counts = false;
}

void tool_write_counts(void)
{
	if (file_open()) {
		counts_write();
		VG_(close)(output.fd);
	}
	tool_forget();
}

void tool_write_dump(enum simulate_trigger trigger, const char *name)
{
	if (!file_open())
		return;
	counts_write();
	dump_write(trigger, name);
	VG_(close)(output.fd);
	tool_zero();
}

void tool_write_zero(void)
{
	/* Counts that nobody has written are of no dump. */
	if (output.has_counts && file_open()) {
		dump_write(SIMULATE_TRIGGER_ZERO, NULL);
		VG_(close)(output.fd);
	}
	tool_zero();
}

void tool_write_end(void)
{
	struct simulate_end *end;

	if (!file_open())
		return;
	counts_write();
	dump_write(SIMULATE_TRIGGER_END, NULL);
	output.end = output.written;
	end = entry_add(SIMULATE_END, sizeof(*end));
	end->was_cut = tool_was_cut;
	record_flush();
	VG_(close)(output.fd);
	tool_zero();
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
	output.has_counts = false;
	output.written = 0;
	output.mapping_count = output.block_count = output.node_count = 0;
	for (struct tool_thread *thread = tool_threads; thread; thread = thread->next)
		thread->is_written = false;
	tool_unnumber();
	tool_forget();
}
