/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulated/simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WINDOW_BYTES = 4 << 20,
	MAX_TEXT_BYTES = 1 << 15,
	MAX_MAPPINGS = 1 << 24,
	MAX_NUMBER_BYTES = 10,
	/* The largest entry is a count of a block with as many exits and instructions with costs as one may have. */
	MAX_ENTRY_BYTES =
		(4 + (SIMULATE_BLOCK_MOST + 1) + SIMULATE_BLOCK_MOST * (1 + SIMULATE_VALUES)) * MAX_NUMBER_BYTES,
};
_Static_assert(
	MAX_ENTRY_BYTES > MAX_TEXT_BYTES + sizeof(struct simulate_mapping) + sizeof(uint64_t), "a path fits an entry");
static const size_t max_blocks = (size_t)1 << 28, max_nodes = (size_t)1 << 30;

/* The facts that later entries are checked against. */
struct file_block {
	uint16_t instruction_count, exit_count;
};

/* The entry at hand. */
struct file_entry {
	uint8_t lengths[SIMULATE_BLOCK_MOST], costs[SIMULATE_BLOCK_MOST];
	uint16_t left_after[SIMULATE_BLOCK_MOST];
	uint64_t times[SIMULATE_BLOCK_MOST + 1];
	struct simulated_cost cost[SIMULATE_BLOCK_MOST];
};

struct file_reader {
	int fd;
	const struct simulated_visitor *visitor;
	struct simulated_end *end;
	uint64_t bytes, offset;    /* of the file; of the first byte of the window */
	uint8_t *window;           /* owned */
	size_t capacity;           /* of the window: the whole file, where it is small */
	size_t at, filled;         /* in the window */
	struct file_block *blocks; /* owned */
	size_t block_count, block_capacity, node_count;
	uint32_t mapping_count;
	struct file_entry *entry; /* owned */
	struct {
		uint64_t address, call_site, node, block;
	} before; /* the entry before in this record, which the next one is a step from */
	bool has_process, has_end;
};

static uint64_t file_position(const struct file_reader *reader)
{
	return reader->offset + reader->at;
}

static bool is_at_end(const struct file_reader *reader)
{
	return file_position(reader) == reader->bytes;
}

/* Moves what is left in the window to its start, and reads as much behind it as there is. */
static bool fill_window(struct file_reader *reader, struct error *err)
{
	memmove(reader->window, reader->window + reader->at, reader->filled - reader->at);
	reader->offset += reader->at;
	reader->filled -= reader->at;
	reader->at = 0;
	while (reader->filled < reader->capacity && reader->offset + reader->filled < reader->bytes) {
		uint64_t left = reader->bytes - reader->offset - reader->filled,
			 room = reader->capacity - reader->filled;
		ssize_t got = pread(reader->fd, reader->window + reader->filled, left < room ? left : room,
			(off_t)(reader->offset + reader->filled));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(err, errno, "cannot read it");
		/* The file has become shorter than it was when its size was asked for. */
		if (got == 0)
			reader->bytes = reader->offset + reader->filled;
		reader->filled += (size_t)got;
	}
	return true;
}

/* Shows the next bytes of a record, at least one whole entry of it unless the file ends before. */
static bool file_peek(struct file_reader *reader, uint64_t record_end, struct byte_reader *entry, struct error *err)
{
	uint64_t left = record_end - file_position(reader);
	size_t have;

	if (reader->filled - reader->at < MAX_ENTRY_BYTES && reader->offset + reader->filled < reader->bytes &&
		!fill_window(reader, err))
		return false;
	have = reader->filled - reader->at;
	*entry = byte_reader_over(reader->window + reader->at, left < have ? (size_t)left : have);
	return true;
}

static bool file_skip_to(struct file_reader *reader, uint64_t position, struct error *err)
{
	uint64_t by;

	if (position > reader->bytes)
		position = reader->bytes;
	by = position - file_position(reader);
	if (by <= reader->filled - reader->at) {
		reader->at += (size_t)by;
		return true;
	}
	reader->offset = position;
	reader->at = reader->filled = 0;
	return fill_window(reader, err);
}

/* ---- Entries ---- */

/* Returns whether an entry could be read. One at whose place the file ends is left to the caller. */
static bool simulated_file_is_whole(const struct byte_reader *entry)
{
	return byte_reader_ok(entry);
}

static bool take_process(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulate_process process = { 0 };

	byte_reader_copy(entry, &process, sizeof(process));
	if (!simulated_file_is_whole(entry))
		return true;
	if (reader->has_process)
		return error_set(err, ERROR_FORMAT, "a second process");
	if (memcmp(process.magic, "KELVINSM", sizeof(process.magic)) != 0)
		return error_set(err, ERROR_FORMAT, "not a file of a simulation");
	if (process.version != SIMULATE_VERSION)
		return error_set(err, ERROR_UNSUPPORTED,
			"it is of version %u, and this kelvin knows %d: the valgrind tool and kelvin are of different builds",
			process.version, SIMULATE_VERSION);
	if (process.pid <= 0)
		return error_set(err, ERROR_FORMAT, "process %d", process.pid);
	process.name[sizeof(process.name) - 1] = '\0';
	reader->has_process = true;
	return !reader->visitor->process || reader->visitor->process(reader->visitor->context, &process, err);
}

/* Copies text that follows an entry. NULL: it is cut. */
static const char *simulated_file_take_text(
	struct byte_reader *entry, uint32_t size, char text[MAX_TEXT_BYTES + 1], struct error *err)
{
	const uint8_t *bytes;

	if (size > MAX_TEXT_BYTES) {
		error_set(err, ERROR_FORMAT, "a text of %u bytes", size);
		return NULL;
	}
	bytes = byte_reader_bytes(entry, size);
	memcpy(text, bytes ? bytes : (const uint8_t *)"", bytes ? size : 0);
	text[bytes ? size : 0] = '\0';
	return text;
}

static bool simulated_file_take_mapping(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulate_mapping mapping = { 0 };
	char path[MAX_TEXT_BYTES + 1];

	byte_reader_copy(entry, &mapping, sizeof(mapping));
	if (!simulated_file_take_text(entry, mapping.path_bytes, path, err))
		return false;
	byte_reader_align(entry, sizeof(uint64_t));
	if (!simulated_file_is_whole(entry))
		return true;
	if (mapping.end <= mapping.start || reader->mapping_count == MAX_MAPPINGS)
		return error_set(err, ERROR_FORMAT, "mapping %u is empty", reader->mapping_count);
	reader->mapping_count++;
	return !reader->visitor->mapping || reader->visitor->mapping(reader->visitor->context, &mapping, path, err);
}

/* A number that is a mapping + 1, or 0 for none. */
static bool take_mapping_id(const struct file_reader *reader, uint64_t number, uint32_t *mapping)
{
	*mapping = number ? (uint32_t)(number - 1) : SIMULATE_NONE;
	return number <= reader->mapping_count;
}

/* Takes the instructions and the exits of a block, which are as many as it says. */
static bool take_instructions(struct file_reader *reader, struct byte_reader *entry, struct simulated_block *block)
{
	struct file_entry *into = reader->entry;
	uint64_t after = 0;

	for (size_t i = 0; i < block->instruction_count; i++) {
		uint64_t number = byte_reader_uleb128(entry);

		if (number >> 1 > UINT8_MAX)
			return false;
		into->lengths[i] = (uint8_t)(number >> 1);
		into->costs[i] = number & 1 ? byte_reader_u8(entry) : SIMULATE_QUARTERS;
		reader->before.address += into->lengths[i];
	}
	for (size_t i = 0; i < block->exit_count; i++) {
		uint64_t number = byte_reader_uleb128(entry);

		if (number > block->instruction_count - after)
			return false;
		after += number;
		into->left_after[i] = (uint16_t)after;
	}
	return true;
}

static bool simulated_file_take_block(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulated_block block = { .lengths = reader->entry->lengths,
		.costs = reader->entry->costs,
		.left_after = reader->entry->left_after };
	uint64_t instructions, exits;
	bool is_good;

	reader->before.address += (uint64_t)byte_reader_zigzag(entry);
	block.address = reader->before.address;
	is_good = take_mapping_id(reader, byte_reader_uleb128(entry), &block.mapping);
	instructions = byte_reader_uleb128(entry);
	exits = byte_reader_uleb128(entry);
	is_good = is_good && instructions <= SIMULATE_BLOCK_MOST && exits <= SIMULATE_BLOCK_MOST;
	if (is_good) {
		block.instruction_count = (uint16_t)instructions;
		block.exit_count = (uint16_t)exits;
		is_good = take_instructions(reader, entry, &block);
	}
	if (!is_good)
		return error_set(err, ERROR_FORMAT, "block %zu is malformed", reader->block_count);
	if (!simulated_file_is_whole(entry))
		return true;
	if (!ARRAY_RESERVE(&reader->blocks, &reader->block_capacity, reader->block_count + 1, max_blocks, err))
		return false;
	reader->blocks[reader->block_count++] = (struct file_block){ block.instruction_count, block.exit_count };
	return !reader->visitor->block || reader->visitor->block(reader->visitor->context, &block, err);
}

static bool take_node(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulated_node node = { .parent = SIMULATE_NONE };
	uint64_t distance = byte_reader_uleb128(entry), place = byte_reader_uleb128(entry);

	reader->before.call_site += (uint64_t)byte_reader_zigzag(entry);
	if (!simulated_file_is_whole(entry))
		return true;
	if (distance > reader->node_count || place % 4 >= SIMULATE_NODE_KINDS ||
		!take_mapping_id(reader, place / 4, &node.mapping) || reader->node_count == max_nodes)
		return error_set(err, ERROR_FORMAT, "node %zu is malformed", reader->node_count);
	if (distance > 0)
		node.parent = (uint32_t)(reader->node_count - distance);
	node.kind = (enum simulate_node_kind)(place % 4);
	node.call_site = reader->before.call_site;
	reader->node_count++;
	return !reader->visitor->node || reader->visitor->node(reader->visitor->context, &node, err);
}

static bool take_thread(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulate_thread thread = { 0 };

	byte_reader_copy(entry, &thread, sizeof(thread));
	if (!simulated_file_is_whole(entry))
		return true;
	if (thread.root >= reader->node_count)
		return error_set(err, ERROR_FORMAT, "a thread has node %u, which is not there", thread.root);
	thread.name[sizeof(thread.name) - 1] = '\0';
	return !reader->visitor->thread || reader->visitor->thread(reader->visitor->context, &thread, err);
}

static bool take_dump(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulate_dump dump = { 0 };
	char name[MAX_TEXT_BYTES + 1];

	byte_reader_copy(entry, &dump, sizeof(dump));
	if (!simulated_file_take_text(entry, dump.name_bytes, name, err))
		return false;
	byte_reader_align(entry, sizeof(uint64_t));
	if (!simulated_file_is_whole(entry))
		return true;
	return !reader->visitor->dump || reader->visitor->dump(reader->visitor->context, &dump, name, err);
}

/* False: their sum is too large. */
static bool take_times(struct file_reader *reader, struct byte_reader *entry, unsigned form, size_t exits)
{
	uint64_t *times = reader->entry->times;
	size_t first = form == SIMULATE_COUNT_END ? exits : 0, end = form == SIMULATE_COUNT_FIRST ? 1 : exits + 1;
	uint64_t sum = 0;

	memset(times, 0, (exits + 1) * sizeof(*times));
	for (size_t i = first; i < end; i++) {
		times[i] = byte_reader_uleb128(entry);
		if (times[i] > INT64_MAX - sum)
			return false;
		sum += times[i];
	}
	return true;
}

/* Takes the next cost of a count. False: it is of no instruction, or of nothing, or too large. */
static bool take_cost(struct byte_reader *entry, const struct file_block *block, uint64_t *instruction,
	struct simulated_cost *cost, bool *has_next)
{
	uint64_t head = byte_reader_uleb128(entry), step = head / SIMULATE_COST_STEP;
	unsigned set = (unsigned)(head % SIMULATE_COST_STEP) / SIMULATE_COST_SET;

	*has_next = (head & SIMULATE_COST_MORE) != 0;
	if (!simulated_file_is_whole(entry))
		return true;
	if (set == 0 || step >= block->instruction_count - *instruction)
		return false;
	*instruction += step;
	*cost = (struct simulated_cost){ .instruction = (uint16_t)*instruction };
	for (size_t i = 0; i < SIMULATE_VALUES; i++) {
		cost->values[i] = set >> i & 1 ? byte_reader_uleb128(entry) : 0;
		if (cost->values[i] > INT64_MAX)
			return false;
	}
	return true;
}

static bool take_costs(struct file_reader *reader, struct byte_reader *entry, struct simulated_count *count)
{
	uint64_t instruction = 0;
	bool has_next = true;

	while (has_next && simulated_file_is_whole(entry)) {
		if (count->cost_count == SIMULATE_BLOCK_MOST ||
			!take_cost(entry, &reader->blocks[count->block], &instruction,
				&reader->entry->cost[count->cost_count], &has_next))
			return false;
		count->cost_count++;
	}
	return true;
}

static bool take_count(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulated_count count = { .times = reader->entry->times, .costs = reader->entry->cost };
	uint64_t head = byte_reader_uleb128(entry), step = head / SIMULATE_COUNT_STEP;
	unsigned form = (unsigned)(head & SIMULATE_COUNT_FORM);

	reader->before.block += (step >> 1) ^ -(step & 1);
	if (head & SIMULATE_COUNT_NODE)
		reader->before.node += (uint64_t)byte_reader_zigzag(entry);
	if (!simulated_file_is_whole(entry))
		return true;
	if (reader->before.node >= reader->node_count || reader->before.block >= reader->block_count)
		return error_set(err, ERROR_FORMAT,
			"a count of block %" PRIu64 " in node %" PRIu64 ", which are not there", reader->before.block,
			reader->before.node);
	count.node = (uint32_t)reader->before.node;
	count.block = (uint32_t)reader->before.block;
	if (form > SIMULATE_COUNT_ALL || !take_times(reader, entry, form, reader->blocks[count.block].exit_count) ||
		((head & SIMULATE_COUNT_COSTS) && !take_costs(reader, entry, &count)))
		return error_set(
			err, ERROR_FORMAT, "the count of block %u in node %u is malformed", count.block, count.node);
	return !simulated_file_is_whole(entry) || reader->visitor->count(reader->visitor->context, &count, err);
}

static bool simulated_file_take_end(struct file_reader *reader, struct byte_reader *entry, struct error *err)
{
	struct simulate_end end = { 0 };

	(void)err;
	byte_reader_copy(entry, &end, sizeof(end));
	if (!simulated_file_is_whole(entry))
		return true;
	reader->has_end = true;
	reader->end->end = end;
	return true;
}

/* ---- Records ---- */

typedef bool take_entry(struct file_reader *reader, struct byte_reader *entry, struct error *err);

/* NULL: a kind that this version does not know. */
static take_entry *taker_of(const struct file_reader *reader, uint32_t kind)
{
	static take_entry *const takers[] = {
		[SIMULATE_PROCESS] = take_process,
		[SIMULATE_MAPPING] = simulated_file_take_mapping,
		[SIMULATE_BLOCKS] = simulated_file_take_block,
		[SIMULATE_NODES] = take_node,
		[SIMULATE_THREAD] = take_thread,
		[SIMULATE_COUNTS] = take_count,
		[SIMULATE_DUMP] = take_dump,
		[SIMULATE_END] = simulated_file_take_end,
	};

	if (kind == SIMULATE_COUNTS && !reader->visitor->count)
		return NULL;
	return kind < sizeof(takers) / sizeof(takers[0]) ? takers[kind] : NULL;
}

/* Reads the entries of a record. `*is_cut`: the file ends within one of them. */
static bool simulated_file_read_entries(
	struct file_reader *reader, const struct simulate_record *record, uint64_t end, bool *is_cut, struct error *err)
{
	take_entry *take = taker_of(reader, record->kind);

	memset(&reader->before, 0, sizeof(reader->before));
	for (uint32_t i = 0; take && i < record->entries; i++) {
		struct byte_reader entry;

		if (!file_peek(reader, end, &entry, err) || !take(reader, &entry, err))
			return false;
		if (byte_reader_ok(&entry)) {
			reader->at += byte_reader_offset(&entry);
			continue;
		}
		*is_cut = end > reader->bytes;
		return *is_cut ||
		       error_set(err, ERROR_FORMAT,
			       "entry %u of a record of kind %u does not fit it, or has a number beyond 64 bits", i,
			       record->kind);
	}
	return file_skip_to(reader, end, err);
}

static bool read_record(struct file_reader *reader, bool *is_cut, struct error *err)
{
	struct simulate_record record = { 0 };
	struct byte_reader head;
	uint64_t end;

	if (!file_peek(reader, UINT64_MAX, &head, err))
		return false;
	byte_reader_copy(&head, &record, sizeof(record));
	*is_cut = !byte_reader_ok(&head);
	if (*is_cut)
		return true;
	if (record.kind == 0 || (record.kind == SIMULATE_PROCESS) == reader->has_process)
		return error_set(err, ERROR_FORMAT, "a record of kind %u stands where none may be", record.kind);
	reader->at += sizeof(record);
	if (!checked_add(file_position(reader), record.bytes, &end) || record.bytes % sizeof(uint64_t) != 0)
		return error_set(err, ERROR_FORMAT, "a record of %" PRIu64 " bytes", record.bytes);
	if (!simulated_file_read_entries(reader, &record, end, is_cut, err))
		return false;
	*is_cut = *is_cut || end > reader->bytes;
	return true;
}

static bool read_records(struct file_reader *reader, struct error *err)
{
	bool is_cut = false;

	while (!is_cut && !reader->has_end && !is_at_end(reader)) {
		uint64_t offset = file_position(reader);

		if (!read_record(reader, &is_cut, err))
			return error_prefix(err, "at offset %" PRIu64, offset);
	}
	reader->end->is_cut = !reader->has_end;
	return true;
}

bool simulated_file_read(
	int fd, uint64_t bytes, const struct simulated_visitor *visitor, struct simulated_end *end, struct error *err)
{
	struct file_reader reader = { .fd = fd, .visitor = visitor, .end = end, .bytes = bytes };
	bool ok;

	*end = (struct simulated_end){ 0 };
	reader.capacity = bytes < WINDOW_BYTES ? (size_t)bytes : WINDOW_BYTES;
	reader.window = malloc(reader.capacity + 1);
	reader.entry = malloc(sizeof(*reader.entry));
	ok = reader.window && reader.entry ? read_records(&reader, err) : error_set_memory(err);
	free(reader.window);
	free(reader.entry);
	free(reader.blocks);
	return ok;
}

int simulation_open(const struct sampler_simulation *simulation, const struct simulation_file *file, struct error *err)
{
	int fd = openat(simulation->directory, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		error_set_errno(err, errno, "cannot read the simulation of process %d", file->pid);
	return fd;
}
