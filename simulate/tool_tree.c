/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>

enum { CHUNK_BYTES = 1 << 20, NODE_CHUNK = 1 << 14, MANY_NODE_CHUNKS = TOOL_NODES_MAX / NODE_CHUNK };
enum { BLOCK_BUCKETS = 1 << 16 };

/* Records lie one after the other in chunks, so that all can be visited. */
struct chunk {
	struct chunk *next;
	uint64_t used;
	char bytes[CHUNK_BYTES - 2 * sizeof(uint64_t)];
};

/* A table of records: the place of a key is the first free one from its hash on. At most two thirds are used. */
static struct {
	struct tool_record **slots;
	uint64_t mask, count;
} records;

static struct {
	struct tool_node *chunks[MANY_NODE_CHUNKS];
	uint32_t *buckets;
	uint32_t mask;
} nodes;

static struct tool_block *blocks[BLOCK_BUCKETS];
static struct chunk *first_chunk, *last_chunk;
static char *permanent, *permanent_end;
static struct tool_cell *cell_chunks, *free_cells;

static struct tool_block nowhere_block;
struct tool_record tool_nowhere = { &nowhere_block, &tool_nowhere, NULL, SIMULATE_NONE, 0 };
uint32_t tool_node_count;
bool tool_was_cut;

static const struct tool_exit resting_exit = { 0, 0, 0, TOOL_INDIRECT, 0 };
static struct tool_block resting_block = { .exits = &resting_exit };

void *tool_permanent(uint64_t bytes)
{
	void *memory;

	bytes = (bytes + 7) & ~(uint64_t)7;
	if (bytes > CHUNK_BYTES / 4)
		return VG_(calloc)("kelvin.permanent", 1, bytes);
	if ((uint64_t)(permanent_end - permanent) < bytes) {
		permanent = VG_(calloc)("kelvin.permanent", 1, CHUNK_BYTES);
		permanent_end = permanent + CHUNK_BYTES;
	}
	memory = permanent;
	permanent += bytes;
	return memory;
}

static uint32_t hash_of(uint64_t a, uint64_t b)
{
	uint64_t hash = (a * 0x9e3779b97f4a7c15 ^ b) * 0xd6e8feb86659fd93;

	return (uint32_t)(hash >> 32) ^ (uint32_t)(hash >> 15);
}

/* --- nodes --- */

struct tool_node *tool_node(uint32_t node)
{
	return &nodes.chunks[node / NODE_CHUNK][node % NODE_CHUNK];
}

static uint32_t node_hash(const struct tool_node *node)
{
	return hash_of(node->call_site, (uint64_t)node->parent << 2 | node->kind);
}

static void nodes_grow(void)
{
	uint32_t buckets = nodes.mask ? (nodes.mask + 1) * 2 : 1 << 12;

	VG_(free)(nodes.buckets);
	nodes.buckets = VG_(malloc)("kelvin.nodes", buckets * sizeof(*nodes.buckets));
	VG_(memset)(nodes.buckets, 0xff, buckets * sizeof(*nodes.buckets));
	nodes.mask = buckets - 1;
	for (uint32_t i = 0; i < tool_node_count; i++) {
		struct tool_node *node = tool_node(i);
		uint32_t *bucket = &nodes.buckets[node_hash(node) & nodes.mask];

		node->next = *bucket;
		*bucket = i;
	}
}

static uint32_t node_new(const struct tool_node *made)
{
	uint32_t id = tool_node_count, *bucket;

	if (id > nodes.mask || nodes.mask == 0)
		nodes_grow();
	if (id % NODE_CHUNK == 0)
		nodes.chunks[id / NODE_CHUNK] = VG_(malloc)("kelvin.nodes", NODE_CHUNK * sizeof(*made));
	bucket = &nodes.buckets[node_hash(made) & nodes.mask];
	*tool_node(id) = *made;
	tool_node(id)->next = *bucket;
	*bucket = id;
	tool_node_count++;
	return id;
}

uint32_t tool_root(void)
{
	struct tool_node made = { 0, SIMULATE_NONE, SIMULATE_NONE, 0, SIMULATE_NODE_THREAD, TOOL_UNNUMBERED };

	/* A root more than the limit allows is of no harm, but there is no place for more than the table has. */
	if (tool_node_count >= TOOL_NODES_MAX) {
		tool_was_cut = true;
		return 0;
	}
	return node_new(&made);
}

uint32_t tool_child(uint32_t parent, uint64_t call_site, uint32_t mapping, enum simulate_node_kind kind)
{
	struct tool_node made = { call_site, parent, mapping, 0, kind, TOOL_UNNUMBERED };

	for (uint32_t id = nodes.buckets[node_hash(&made) & nodes.mask]; id != SIMULATE_NONE;
		id = tool_node(id)->next) {
		const struct tool_node *node = tool_node(id);

		if (node->call_site == call_site && node->parent == parent && node->kind == (unsigned)kind &&
			node->mapping == mapping)
			return id;
	}
	if (tool_node_count >= tool_options.max_nodes) {
		tool_was_cut = true;
		return parent;
	}
	return node_new(&made);
}

/* --- records --- */

static uint64_t record_bytes(const struct tool_record *record)
{
	return sizeof(*record) + (record->block->exit_count + 1u) * sizeof(record->left[0]);
}

static struct tool_record *record_new(uint32_t node, struct tool_block *block)
{
	uint64_t bytes = sizeof(struct tool_record) + (block->exit_count + 1u) * sizeof(struct tool_left);
	struct tool_record *record;

	if (!last_chunk || sizeof(last_chunk->bytes) - last_chunk->used < bytes) {
		struct chunk *chunk = VG_(calloc)("kelvin.records", 1, sizeof(*chunk));

		if (last_chunk)
			last_chunk->next = chunk;
		else
			first_chunk = chunk;
		last_chunk = chunk;
	}
	record = (struct tool_record *)(void *)(last_chunk->bytes + last_chunk->used);
	last_chunk->used += bytes;
	record->block = block;
	record->node = node;
	record->after = &tool_nowhere;
	for (unsigned i = 0; i <= block->exit_count; i++)
		record->left[i].next = &tool_nowhere;
	return record;
}

static void records_grow(void)
{
	uint64_t slots = records.mask ? (records.mask + 1) * 2 : 1 << 14;
	struct tool_record *record = NULL;

	VG_(free)(records.slots);
	records.slots = VG_(calloc)("kelvin.records", slots, sizeof(struct tool_record *));
	records.mask = slots - 1;
	while ((record = tool_next_record(record)) != NULL) {
		uint64_t slot = hash_of(record->block->hash, record->node) & records.mask;

		while (records.slots[slot])
			slot = (slot + 1) & records.mask;
		records.slots[slot] = record;
	}
}

struct tool_record *tool_find(uint32_t node, struct tool_block *block)
{
	struct tool_record *record = block->last_record;
	uint64_t slot;

	if (record && record->node == node)
		return record;
	if (records.count * 3 >= records.mask * 2)
		records_grow();
	slot = hash_of(block->hash, node) & records.mask;
	while ((record = records.slots[slot]) != NULL) {
		if (record->block == block && record->node == node)
			break;
		slot = (slot + 1) & records.mask;
	}
	if (!record) {
		record = records.slots[slot] = record_new(node, block);
		records.count++;
	}
	block->last_record = record;
	return record;
}

struct tool_record *tool_resting(uint32_t node)
{
	struct tool_record *record = tool_permanent(sizeof(*record) + sizeof(record->left[0]));

	record->block = &resting_block;
	record->node = node;
	record->after = record->left[0].next = &tool_nowhere;
	return record;
}

struct tool_record *tool_next_record(struct tool_record *record)
{
	static struct chunk *chunk;
	char *at;

	if (!record) {
		chunk = first_chunk;
		return chunk ? (struct tool_record *)(void *)chunk->bytes : NULL;
	}
	at = (char *)record + record_bytes(record);
	if (at == chunk->bytes + chunk->used) {
		chunk = chunk->next;
		at = chunk ? chunk->bytes : NULL;
	}
	return (struct tool_record *)(void *)at;
}

/* --- what happened in a record --- */

static struct tool_cell *cell_new(void)
{
	enum { CELLS = 1 << 14 };
	struct tool_cell *cell;

	if (!free_cells) {
		struct tool_cell *cells = VG_(malloc)("kelvin.cells", (CELLS + 1) * sizeof(*cells));

		/* The first cell of a chunk links the chunks. */
		cells[0].next = cell_chunks;
		cell_chunks = cells;
		for (unsigned i = CELLS; i > 0; i--) {
			cells[i].next = free_cells;
			free_cells = &cells[i];
		}
	}
	cell = free_cells;
	free_cells = cell->next;
	return cell;
}

void tool_add(
	struct tool_record *record, enum tool_cell_kind kind, unsigned instruction, uint64_t first, uint64_t second)
{
	struct tool_cell *cell;

	if (!tool_collects)
		return;
	for (cell = record->cells; cell; cell = cell->next) {
		if (cell->instruction == instruction && cell->kind == (unsigned)kind)
			break;
	}
	if (!cell) {
		cell = cell_new();
		*cell = (struct tool_cell){ .next = record->cells, .instruction = instruction, .kind = kind };
		record->cells = cell;
	}
	cell->first += first;
	cell->second += second;
}

void tool_zero(void)
{
	struct tool_record *record = NULL;

	while ((record = tool_next_record(record)) != NULL) {
		for (unsigned i = 0; i <= record->block->exit_count; i++)
			record->left[i].times = 0;
		while (record->cells) {
			struct tool_cell *cell = record->cells;

			record->cells = cell->next;
			cell->next = free_cells;
			free_cells = cell;
		}
	}
}

void tool_unnumber(void)
{
	for (uint32_t i = 0; i < tool_node_count; i++)
		tool_node(i)->number = TOOL_UNNUMBERED;
	for (unsigned i = 0; i < BLOCK_BUCKETS; i++) {
		for (struct tool_block *block = blocks[i]; block; block = block->next)
			block->number = SIMULATE_NONE;
	}
}

/* --- blocks --- */

static bool block_equals(const struct tool_block *a, const struct tool_block *b)
{
	return a->address == b->address && a->mapping == b->mapping && a->instruction_count == b->instruction_count &&
	       a->exit_count == b->exit_count && VG_(memcmp)(a->lengths, b->lengths, a->instruction_count) == 0 &&
	       VG_(memcmp)(a->costs, b->costs, a->instruction_count) == 0 &&
	       VG_(memcmp)(a->exits, b->exits, (a->exit_count + 1u) * sizeof(*a->exits)) == 0 &&
	       VG_(memcmp)(a->accesses, b->accesses, a->exits[a->exit_count].accesses * sizeof(*a->accesses)) == 0;
}

static const void *copy_of(const void *from, uint64_t bytes)
{
	return VG_(memcpy)(tool_permanent(bytes), from, bytes);
}

struct tool_block *tool_intern(const struct tool_block *made)
{
	struct tool_block **bucket = &blocks[hash_of(made->address, 0) % BLOCK_BUCKETS], *block;
	const struct tool_exit *end = &made->exits[made->exit_count];
	static uint32_t count;

	for (block = *bucket; block; block = block->next) {
		if (block_equals(block, made))
			return block;
	}
	block = tool_permanent(sizeof(*block));
	*block = *made;
	block->lengths = copy_of(made->lengths, made->instruction_count);
	block->costs = copy_of(made->costs, made->instruction_count);
	block->exits = copy_of(made->exits, (made->exit_count + 1u) * sizeof(*made->exits));
	block->accesses = copy_of(made->accesses, end->accesses * sizeof(*made->accesses));
	block->fetches = copy_of(made->fetches, end->fetches * sizeof(*made->fetches));
	block->number = SIMULATE_NONE;
	block->hash = count++;
	block->last_record = NULL;
	block->next = *bucket;
	*bucket = block;
	return block;
}

struct tool_block *tool_prefix(const struct tool_block *block, unsigned instructions)
{
	struct tool_block made = *block;
	struct tool_exit end = { .instructions = instructions, .leave = TOOL_INDIRECT };

	while (end.accesses < block->exits[block->exit_count].accesses &&
		block->accesses[end.accesses].instruction < instructions)
		end.accesses++;
	while (end.fetches < block->exits[block->exit_count].fetches &&
		block->fetches[end.fetches].instruction < instructions)
		end.fetches++;
	made.instruction_count = instructions;
	made.exit_count = 0;
	made.exits = &end;
	return tool_intern(&made);
}
