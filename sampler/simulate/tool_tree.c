/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calling-context tree, and tables of records in memory that is never freed. */
#include "sampler/simulate/tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>

struct tool_options tool_options = {
	.first_instructions = { 32768, 8, 64, 0 },
	.first_data = { 32768, 8, 64, 0 },
	.last = { 8388608, 16, 64, 0 },
	.max_nodes = 32 << 20,
	.max_counts = 16 << 20,
	.instruments_at_start = true,
};

uint32_t tool_collects = 1;

enum { CHUNK_BYTES = 8 << TOOL_CHUNK_BITS, NODE_CHUNK = 1 << 14, MANY_NODE_CHUNKS = TOOL_NODES_MAX / NODE_CHUNK };
enum { BLOCK_BUCKETS = 1 << 16, CELL_CHUNK = 1 << 14, CELL_CHUNKS_MAX = 1 << 16 };

/* A table of records: the place of a key is the first free one from its hash on. At most four fifths are used: it is
 * searched rarely. */
static struct {
	uint32_t *slots; /* 0: free */
	uint64_t mask, count;
	uint32_t chunk_count;
	uint32_t used[TOOL_CHUNKS_MAX]; /* bytes of each chunk */
	char **taken;                   /* chunks that are to be freed */
	uint32_t taken_count;
	uint64_t kept; /* bytes of the records that were found anew when all were forgotten */
} records;

static struct {
	struct tool_node *chunks[MANY_NODE_CHUNKS];
	uint32_t *buckets;
	uint32_t mask;
} nodes;

static struct {
	struct tool_cell *chunks[CELL_CHUNKS_MAX];
	uint32_t count, first_free;
} cells;

static struct tool_block *blocks[BLOCK_BUCKETS];
static char *permanent, *permanent_end;

char *tool_chunks[TOOL_CHUNKS_MAX];
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

/*
 * The innermost of a node and its callers that was called from a place; SIMULATE_NONE: none was. No path of a folded
 * tree has a place twice, so that its length has a bound that does not depend on the depth of the stack.
 */
static uint32_t node_called_from(uint32_t node, uint64_t call_site, uint32_t mapping)
{
	while (node != SIMULATE_NONE) {
		const struct tool_node *at = tool_node(node);

		if (at->call_site == call_site && at->mapping == mapping && at->kind == SIMULATE_NODE_CALL)
			break;
		node = at->parent;
	}
	return node;
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
	if (tool_options.folds_recursion && kind == SIMULATE_NODE_CALL) {
		uint32_t folded = node_called_from(parent, call_site, mapping);

		if (folded != SIMULATE_NONE)
			return folded;
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
	uint32_t bytes = sizeof(struct tool_record) + (block->exit_count + 1u) * sizeof(struct tool_left), at;
	struct tool_record *record;

	if (records.chunk_count == 0 || CHUNK_BYTES - records.used[records.chunk_count - 1] < bytes) {
		if (records.chunk_count == TOOL_CHUNKS_MAX)
			VG_(tool_panic)("kelvin: more than 32 GB of counts");
		tool_chunks[records.chunk_count++] = VG_(calloc)("kelvin.records", 1, CHUNK_BYTES);
	}
	at = records.used[records.chunk_count - 1];
	records.used[records.chunk_count - 1] += bytes;
	record = (struct tool_record *)(void *)(tool_chunks[records.chunk_count - 1] + at);
	record->number = (records.chunk_count - 1) << TOOL_CHUNK_BITS | at / 8;
	record->block = block;
	record->node = node;
	return record;
}

void tool_tree_init(void)
{
	static struct tool_block nowhere;

	record_new(SIMULATE_NONE, &nowhere);
	cells.count = 1;
}

static void records_grow(void)
{
	uint64_t count = records.mask ? (records.mask + 1) * 2 : 1 << 14;
	struct tool_record *record = NULL;

	VG_(free)(records.slots);
	records.slots = VG_(calloc)("kelvin.records", count, sizeof(*records.slots));
	records.mask = count - 1;
	while ((record = tool_next_record(record)) != NULL) {
		uint64_t slot = hash_of(record->block->hash, record->node) & records.mask;

		while (records.slots[slot])
			slot = (slot + 1) & records.mask;
		records.slots[slot] = record->number;
	}
}

struct tool_record *tool_find(uint32_t node, struct tool_block *block)
{
	struct tool_record *record = block->last_record;
	uint64_t slot;

	if (record && record->node == node)
		return record;
	if (records.count * 5 >= records.mask * 4)
		records_grow();
	slot = hash_of(block->hash, node) & records.mask;
	for (; records.slots[slot]; slot = (slot + 1) & records.mask) {
		record = tool_record(records.slots[slot]);
		if (record->block == block && record->node == node)
			return block->last_record = record;
	}
	record = record_new(node, block);
	records.slots[slot] = record->number;
	records.count++;
	block->last_record = record;
	return record;
}

struct tool_record *tool_resting(uint32_t node)
{
	struct tool_record *record = tool_permanent(sizeof(*record) + sizeof(record->left[0]));

	record->block = &resting_block;
	record->node = node;
	return record;
}

struct tool_record *tool_next_record(struct tool_record *record)
{
	uint32_t chunk, at;

	/* The first record of all stands for none. */
	if (!record)
		record = tool_record(0);
	chunk = record->number >> TOOL_CHUNK_BITS;
	at = (record->number & ((1u << TOOL_CHUNK_BITS) - 1)) * 8 + (uint32_t)record_bytes(record);
	if (at == records.used[chunk]) {
		chunk++;
		at = 0;
	}
	return chunk < records.chunk_count ? (struct tool_record *)(void *)(tool_chunks[chunk] + at) : NULL;
}

/* --- what happened in a record --- */

static struct tool_cell *cell_at(uint32_t number)
{
	return &cells.chunks[number / CELL_CHUNK][number % CELL_CHUNK];
}

const struct tool_cell *tool_cell(uint32_t number)
{
	return cell_at(number);
}

static uint32_t cell_new(void)
{
	uint32_t number = cells.first_free;

	if (number) {
		cells.first_free = cell_at(number)->next;
		return number;
	}
	number = cells.count++;
	if (number / CELL_CHUNK == CELL_CHUNKS_MAX)
		VG_(tool_panic)("kelvin: more than 16 GB of costs");
	if (!cells.chunks[number / CELL_CHUNK])
		cells.chunks[number / CELL_CHUNK] = VG_(malloc)("kelvin.cells", CELL_CHUNK * sizeof(struct tool_cell));
	return number;
}

void tool_add(struct tool_record *record, unsigned kind, unsigned instruction, uint64_t count)
{
	uint32_t number;

	if (!tool_collects)
		return;
	for (number = record->cells; number; number = cell_at(number)->next) {
		if (cell_at(number)->instruction == instruction && cell_at(number)->kind == kind)
			break;
	}
	if (!number) {
		number = cell_new();
		*cell_at(number) = (struct tool_cell){ 0, instruction, kind, record->cells, 0 };
		record->cells = number;
	}
	cell_at(number)->count += count;
}

uint64_t tool_times(const struct tool_record *record, unsigned exit)
{
	uint64_t times = record->left[exit].times;

	for (uint32_t number = record->cells; number; number = cell_at(number)->next) {
		if (cell_at(number)->kind == TOOL_CELL_WRAPS && cell_at(number)->instruction == exit)
			times += (uint64_t)cell_at(number)->count << 32;
	}
	return times;
}

void tool_zero(void)
{
	struct tool_record *record = NULL;

	while ((record = tool_next_record(record)) != NULL) {
		for (unsigned i = 0; i <= record->block->exit_count; i++)
			record->left[i].times = 0;
		while (record->cells) {
			uint32_t number = record->cells;

			record->cells = cell_at(number)->next;
			cell_at(number)->next = cells.first_free;
			cells.first_free = number;
		}
	}
}

/* --- forgetting --- */

static uint64_t records_memory(void)
{
	return (uint64_t)records.chunk_count * CHUNK_BYTES + (uint64_t)cells.count * sizeof(struct tool_cell);
}

/*
 * Returns whether records must be written before more is kept: of deep stacks much is kept, and there must be as much
 * room beyond it as for any other.
 */
bool tool_is_full(void)
{
	return records_memory() >= records.kept + tool_options.max_counts;
}

void tool_records_take(void)
{
	records.taken_count = records.chunk_count;
	records.taken = VG_(malloc)("kelvin.records", records.taken_count * sizeof(*records.taken));
	VG_(memcpy)(records.taken, tool_chunks, records.taken_count * sizeof(*records.taken));
	for (uint32_t i = 0; i < records.chunk_count; i++)
		records.used[i] = 0;
	for (unsigned i = 0; i < BLOCK_BUCKETS; i++) {
		for (struct tool_block *block = blocks[i]; block; block = block->next)
			block->last_record = NULL;
	}
	if (records.slots)
		VG_(memset)(records.slots, 0, (records.mask + 1) * sizeof(*records.slots));
	records.chunk_count = 0;
	records.count = 0;
	cells.first_free = 0;
	tool_tree_init();
}

void tool_records_free(void)
{
	for (uint32_t i = 0; i < records.taken_count; i++)
		VG_(free)(records.taken[i]);
	VG_(free)(records.taken);
	records.taken = NULL;
	records.taken_count = 0;
	records.kept = records_memory();
}

/* --- numbers in the file --- */

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

static const void *tool_tree_copy_of(const void *from, uint64_t bytes)
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
	block->lengths = tool_tree_copy_of(made->lengths, made->instruction_count);
	block->costs = tool_tree_copy_of(made->costs, made->instruction_count);
	block->exits = tool_tree_copy_of(made->exits, (made->exit_count + 1u) * sizeof(*made->exits));
	block->accesses = tool_tree_copy_of(made->accesses, end->accesses * sizeof(*made->accesses));
	block->fetches = tool_tree_copy_of(made->fetches, end->fetches * sizeof(*made->fetches));
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
