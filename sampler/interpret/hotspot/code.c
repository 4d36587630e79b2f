/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/code.h"

#include "sampler/process/reader.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOB_HEAD = 4096 };

void hotspot_codes_init(struct hotspot_codes *codes, const struct hotspot_target *target)
{
	*codes = (struct hotspot_codes){ .target = target };
}

static void forget_debug(struct hotspot_codes *codes, struct hotspot_code *code)
{
	codes->debug_bytes -= code->debug_size;
	shares_give_back(
		codes->target->memory.costs->debug_bytes, codes->target->memory.costs->account, code->debug_size);
	free(code->debug_bytes);
	code->debug_bytes = NULL;
	code->debug_size = 0;
	code->instructions = (struct machine_code){ 0 };
	code->has_debug = false;
}

void hotspot_codes_deinit(struct hotspot_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++)
		forget_debug(codes, &codes->items[i]);
	free(codes->items);
	free(codes->by_place);
}

/* ---- Heaps ---- */

static bool read_heap(const struct hotspot_target *target, uint64_t address, struct hotspot_heap *heap)
{
	const struct hotspot_layout *layout = &target->layout;
	const uint64_t memory = address + layout->heap_memory.offset, segmap = address + layout->heap_segmap.offset;
	const uint64_t addresses[] = { memory + layout->space_low.offset, memory + layout->space_high_boundary.offset,
		segmap + layout->space_low.offset, address + layout->heap_log2_segment_size.offset };
	uint64_t words[4];

	hotspot_read_words(&target->memory, addresses, 4, words);
	*heap = (struct hotspot_heap){ words[0], words[1], words[2], (uint32_t)words[3] };
	return heap->start < heap->end && heap->segments != 0 && heap->log2_segment_bytes < 32;
}

/* The addresses of the heaps; the count. JDK 8 has one. */
static size_t hotspot_code_find_heaps(const struct hotspot_target *target, uint64_t *heaps)
{
	const struct hotspot_layout *layout = &target->layout;
	uint64_t array = 0, words[2], addresses[HOTSPOT_MOST_HEAPS];
	size_t count;

	if (layout->code_cache_heap != 0) {
		hotspot_read_words(&target->memory, &layout->code_cache_heap, 1, heaps);
		return 1;
	}
	hotspot_read_words(&target->memory, &layout->code_cache_heaps, 1, &array);
	if (array == 0)
		return 0;
	addresses[0] = array + layout->growable_length.offset;
	addresses[1] = array + layout->growable_data.offset;
	hotspot_read_words(&target->memory, addresses, 2, words);
	count = (uint32_t)words[0] < HOTSPOT_MOST_HEAPS ? (uint32_t)words[0] : HOTSPOT_MOST_HEAPS;
	for (size_t i = 0; i < count; i++)
		addresses[i] = words[1] + i * sizeof(uint64_t);
	hotspot_read_words(&target->memory, addresses, count, heaps);
	return count;
}

void hotspot_codes_read_heaps(struct hotspot_codes *codes)
{
	uint64_t heaps[HOTSPOT_MOST_HEAPS];
	size_t count = hotspot_code_find_heaps(codes->target, heaps);

	if (count > 0)
		codes->heap_count = 0;
	for (size_t i = 0; i < count; i++)
		if (heaps[i] != 0 && read_heap(codes->target, heaps[i], &codes->heaps[codes->heap_count]))
			codes->heap_count++;
}

/*
 * Finds the first segment of the block with a segment: its byte tells how many segments the block begins before, as far
 * as a byte can; 0 is its first one, 255 that of no block.
 */
static bool find_first_segment(
	const struct hotspot_target *target, const struct hotspot_heap *heap, uint64_t segment, uint64_t *first)
{
	enum { UNUSED = 0xff, TOGETHER = 2048, MOST_HOPS = 1 << 16 };
	uint8_t bytes[TOGETHER];
	uint64_t start = segment + 1; /* of what was read */

	for (size_t hops = 0; hops < MOST_HOPS; hops++) {
		if (segment < start) {
			start = segment < TOGETHER ? 0 : segment + 1 - TOGETHER;
			if (!hotspot_read(&target->memory, heap->segments + start, bytes, segment + 1 - start))
				return false;
		}
		*first = segment;
		if (bytes[segment - start] == 0)
			return true;
		if (bytes[segment - start] == UNUSED || bytes[segment - start] > segment)
			return false;
		segment -= bytes[segment - start];
	}
	return false;
}

/* Finds the address of the block that an address is in. */
static bool hotspot_code_find_block(const struct hotspot_codes *codes, uint64_t address, uint64_t *block)
{
	for (size_t i = 0; i < codes->heap_count; i++) {
		const struct hotspot_heap *heap = &codes->heaps[i];
		uint64_t first;

		if (address < heap->start || address >= heap->end)
			continue;
		if (!find_first_segment(
			    codes->target, heap, (address - heap->start) >> heap->log2_segment_bytes, &first))
			return false;
		*block = heap->start + (first << heap->log2_segment_bytes);
		return true;
	}
	return false;
}

/* ---- Blocks ---- */

static uint64_t blob_field(const struct hotspot_field *field, const uint8_t *blob, const struct hotspot_layout *layout)
{
	return hotspot_field(field, blob, layout->nmethod_bytes);
}

static void hotspot_code_find_code(const struct hotspot_layout *layout, const uint8_t *blob, struct hotspot_code *code)
{
	if (layout->blob_code_begin.size > 0) {
		code->start = blob_field(&layout->blob_code_begin, blob, layout);
		code->end = blob_field(&layout->blob_code_end, blob, layout);
	} else {
		code->start = code->blob + blob_field(&layout->blob_code_offset, blob, layout);
		code->end = code->blob + blob_field(&layout->blob_data_offset, blob, layout);
	}
}

/*
 * Finds the debug information. Before JDK 24 all of it is in the block, in the order of metadata, scopes, PcDescs and
 * dependencies. Then scopes come behind the PcDescs, in memory of their own; since JDK 25 the metadata is behind the
 * relocations in another one.
 */
static void find_debug(
	const struct hotspot_layout *layout, const uint8_t *blob, uint64_t address, struct hotspot_debug_places *places)
{
	uint64_t size = blob_field(&layout->blob_size, blob, layout), base = address, end = address + size;

	if (layout->nmethod_immutable_data.size > 0) {
		base = blob_field(&layout->nmethod_immutable_data, blob, layout);
		end = base + blob_field(&layout->nmethod_immutable_data_size, blob, layout);
	}
	places->pcs = base + blob_field(&layout->nmethod_scopes_pcs_offset, blob, layout);
	places->scopes = layout->nmethod_scopes_data_begin.size > 0
				 ? blob_field(&layout->nmethod_scopes_data_begin, blob, layout)
				 : base + blob_field(&layout->nmethod_scopes_data_offset, blob, layout);
	places->scopes_end = places->scopes < places->pcs ? places->pcs : end;
	places->pcs_end = places->pcs < places->scopes ? places->scopes : end;
	if (layout->nmethod_dependencies_offset.size > 0 && places->pcs > places->scopes)
		places->pcs_end = base + blob_field(&layout->nmethod_dependencies_offset, blob, layout);
	if (layout->nmethod_metadata_offset.size > 0) {
		places->metadata = address + blob_field(&layout->nmethod_metadata_offset, blob, layout);
		places->metadata_end = places->metadata < places->scopes && places->scopes < address + size
					       ? places->scopes
					       : address + size;
	} else {
		uint64_t data = blob_field(&layout->blob_mutable_data, blob, layout);
		uint64_t relocation = blob_field(&layout->blob_relocation_size, blob, layout);

		places->metadata = data + (relocation + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
		places->metadata_end = data + blob_field(&layout->blob_mutable_data_size, blob, layout);
	}
}

/* The name of a blob, one of few constants of libjvm: each is read once. */
static const char *hotspot_code_find_name(struct hotspot_codes *codes, uint64_t address)
{
	struct hotspot_blob_name *name;

	for (size_t i = 0; i < codes->name_count; i++)
		if (codes->names[i].address == address)
			return codes->names[i].text;
	name = &codes->names[codes->name_count < HOTSPOT_MOST_NAMES ? codes->name_count : 0];
	*name = (struct hotspot_blob_name){ .address = address };
	hotspot_read_some(&codes->target->memory, address, name->text, sizeof(name->text) - 1);
	codes->name_count += name->text[0] != '\0' && codes->name_count < HOTSPOT_MOST_NAMES;
	return name->text;
}

/* A name of a blob that tells what it is. */
static enum hotspot_blob kind_of_name(const char *name, int32_t frame_words)
{
	static const struct {
		const char *name;
		enum hotspot_blob kind;
	} kinds[] = { { "nmethod", HOTSPOT_BLOB_METHOD }, { "native nmethod", HOTSPOT_BLOB_METHOD },
		{ "vtable chunks", HOTSPOT_BLOB_DISPATCH }, { "I2C/C2I adapters", HOTSPOT_BLOB_ADAPTER },
		{ "MethodHandles adapters", HOTSPOT_BLOB_ADAPTER }, { "upcall_stub", HOTSPOT_BLOB_UPCALL },
		{ "StubRoutines (continuation stubs)", HOTSPOT_BLOB_THAWING },
		{ "StubRoutines (continuationstubs)", HOTSPOT_BLOB_THAWING } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(name, kinds[i].name) == 0)
			return kinds[i].kind;
	if (frame_words == 0)
		return HOTSPOT_BLOB_OTHER;
	return frame_words > 0 ? HOTSPOT_BLOB_FRAMED : HOTSPOT_BLOB_FRAMELESS;
}

/*
 * Reads what is known of the frames of a block. Sizes are in words, and negative where there is none; offsets of 2
 * bytes likewise (CodeBlob::frame_size(), CodeOffsets::frame_never_safe). Deopt handlers are in the method's own code.
 */
static void hotspot_code_find_frames(
	const struct hotspot_layout *layout, const uint8_t *blob, struct hotspot_code *code)
{
	enum { MOST_FRAME_WORDS = 1 << 17 };
	uint64_t words = blob_field(&layout->blob_frame_size, blob, layout),
		 complete = blob_field(&layout->blob_frame_complete_offset, blob, layout);
	const uint64_t begins[] = { blob_field(&layout->nmethod_deopt_handler_begin, blob, layout),
		blob_field(&layout->nmethod_deopt_mh_handler_begin, blob, layout) };
	const uint64_t offsets[] = { blob_field(&layout->nmethod_deopt_handler_offset, blob, layout),
		blob_field(&layout->nmethod_deopt_mh_handler_offset, blob, layout) };

	code->frame_bytes = words <= MOST_FRAME_WORDS ? (uint32_t)words * sizeof(uint64_t) : 0;
	code->complete_at = complete < code->end - code->start ? (uint32_t)complete : UINT32_MAX;
	for (size_t i = 0; i < 2; i++)
		code->deopt_handlers[i] = offsets[i] != 0 ? code->blob + offsets[i] : begins[i];
	code->original_pc_offset = (uint32_t)blob_field(&layout->nmethod_orig_pc_offset, blob, layout);
}

/* A blob that is no method is called what it is; a compiled method is called one of two names for all of them. */
static bool take_blob_name(
	struct hotspot_codes *codes, const uint8_t *blob, struct hotspot_code *code, struct error *err)
{
	const struct hotspot_layout *layout = &codes->target->layout;
	const char *name = hotspot_code_find_name(codes, blob_field(&layout->blob_name, blob, layout));

	code->kind = kind_of_name(name, (int32_t)blob_field(&layout->blob_frame_size, blob, layout));
	if (code->kind == HOTSPOT_BLOB_METHOD) {
		code->method = blob_field(&layout->nmethod_method, blob, layout);
		return true;
	}
	return name[0] == '\0' || interpreter_names_give(codes->target->names, &codes->target->memory.costs->giver,
					  &(const struct interpreter_function){ name, "", 0 }, &code->function, err);
}

/* Notes what was read, so that another block at its place is known. Of blobs that are no method, the name alone. */
static void watch_code(
	const struct hotspot_target *target, const uint8_t *block, size_t size, struct hotspot_code *code)
{
	const struct hotspot_layout *layout = &target->layout;
	const uint64_t head = layout->heap_block_bytes;
	const uint64_t offsets[HOTSPOT_WATCHED] = { layout->block_used.offset, head + layout->blob_name.offset,
		code->method ? head + layout->nmethod_method.offset : 0,
		code->method ? head + layout->nmethod_compile_id.offset : 0 };

	for (size_t i = 0; i < HOTSPOT_WATCHED; i++) {
		uint64_t offset = offsets[i] - offsets[i] % sizeof(uint64_t);

		code->watch.addresses[i] = code->blob - head + offset;
		code->watch.words[i] = hotspot_word(block, size, offset);
	}
	code->watch.checked = target->round;
}

static bool hotspot_code_read_code(struct hotspot_codes *codes, struct hotspot_code *code, struct error *err)
{
	const struct hotspot_layout *layout = &codes->target->layout;
	const size_t head = layout->heap_block_bytes;
	uint8_t block[2 * MOST_BLOB_HEAD] = { 0 };
	uint32_t late = codes->target->memory.costs->late;
	size_t size = hotspot_read_some(&codes->target->memory, code->blob - head, block, head + layout->nmethod_bytes);
	bool ok = true;

	forget_debug(codes, code);
	code->method = code->start = code->end = 0;
	code->kind = HOTSPOT_BLOB_OTHER;
	code->function = PROFILE_NONE;
	if (size >= head + layout->blob_bytes && hotspot_field(&layout->block_used, block, size) == 1) {
		hotspot_code_find_code(layout, block + head, code);
		hotspot_code_find_frames(layout, block + head, code);
		ok = take_blob_name(codes, block + head, code, err);
		code->places = (struct hotspot_debug_places){ 0 };
		if (code->kind == HOTSPOT_BLOB_METHOD)
			find_debug(layout, block + head, code->blob, &code->places);
	}
	watch_code(codes->target, block, size, code);
	/* What could not be read is read again. */
	code->read_version = code->watch.version - (codes->target->memory.costs->late != late);
	return ok;
}

/* Returns how many known blocks are at an address or before. */
static size_t hotspot_code_count_up_to(const struct hotspot_codes *codes, uint64_t address)
{
	return BISECT(codes->count, i, codes->items[codes->by_place[i]].blob <= address);
}

/* Finds a block, or adds it in its place. */
static bool hotspot_code_add_code(struct hotspot_codes *codes, uint64_t blob, uint32_t *id, struct error *err)
{
	size_t place = hotspot_code_count_up_to(codes, blob);

	if (place > 0 && codes->items[codes->by_place[place - 1]].blob == blob) {
		*id = codes->by_place[place - 1];
		return true;
	}
	if (!ARRAY_RESERVE(&codes->items, &codes->capacity, codes->count + 1, ARRAY_MAX_IDS, err) ||
		!ARRAY_RESERVE(&codes->by_place, &codes->place_capacity, codes->count + 1, ARRAY_MAX_IDS, err))
		return false;
	memmove(codes->by_place + place + 1, codes->by_place + place,
		(codes->count - place) * sizeof(*codes->by_place));
	*id = codes->by_place[place] = (uint32_t)codes->count;
	codes->items[codes->count++] = (struct hotspot_code){ .blob = blob, .function = PROFILE_NONE };
	return true;
}

static bool has_code_at(const struct hotspot_code *code, uint64_t address)
{
	return address >= code->start && address < code->end;
}

/* The known block with an address, if it is still what it was. */
static uint32_t find_known_block(struct hotspot_codes *codes, uint64_t address)
{
	size_t place = hotspot_code_count_up_to(codes, address);
	uint32_t id = place > 0 ? codes->by_place[place - 1] : PROFILE_NONE;
	struct hotspot_watch *watch;

	if (id == PROFILE_NONE || !has_code_at(&codes->items[id], address))
		return PROFILE_NONE;
	watch = &codes->items[id].watch;
	hotspot_watch_check(&codes->target->memory, &watch, 1, codes->target->round);
	return codes->items[id].read_version == watch->version ? id : PROFILE_NONE;
}

bool hotspot_codes_find(struct hotspot_codes *codes, uint64_t address, uint32_t *id, struct error *err)
{
	struct hotspot_code *code;
	uint64_t block;

	*id = find_known_block(codes, address);
	if (*id != PROFILE_NONE) {
		codes->items[*id].watch.used = codes->target->round;
		return true;
	}
	if (!hotspot_code_find_block(codes, address, &block))
		return true;
	if (!hotspot_code_add_code(codes, block + codes->target->layout.heap_block_bytes, id, err))
		return false;
	code = &codes->items[*id];
	code->watch.used = codes->target->round;
	if (!hotspot_code_read_code(codes, code, err))
		return false;
	if (!has_code_at(code, address))
		*id = PROFILE_NONE;
	return true;
}

/* ---- Debug information ---- */

enum { PARTS = 4 };

/*
 * The bytes of the parts; false: they are none, or more than any method has. What is no method, or calls a native one,
 * has instructions alone.
 */
static bool size_parts(const struct hotspot_code *code, const uint64_t *starts, size_t *sizes, size_t *total)
{
	enum { MOST_PART_BYTES = READER_MOST_BYTES };
	const struct hotspot_debug_places *places = &code->places;
	const uint64_t ends[PARTS] = { places->metadata_end, places->pcs_end, places->scopes_end, code->end };

	*total = 0;
	for (size_t i = 0; i < PARTS; i++) {
		if (ends[i] < starts[i] || ends[i] - starts[i] > MOST_PART_BYTES)
			return false;
		sizes[i] = (size_t)(ends[i] - starts[i]) & ~(i == 0 ? sizeof(uint64_t) - 1 : 0);
	}
	if (sizes[1] == 0 || sizes[2] == 0)
		sizes[0] = sizes[1] = sizes[2] = 0;
	for (size_t i = 0; i < PARTS; i++)
		*total += sizes[i];
	return *total > 0 && *total <= MOST_PART_BYTES;
}

static void take_parts(const struct hotspot_target *target, const size_t *sizes, struct hotspot_code *code)
{
	const struct hotspot_layout *layout = &target->layout;

	code->debug = (struct hotspot_debug){
		.metadata = (const uint64_t *)(const void *)code->debug_bytes,
		.metadata_count = sizes[0] / sizeof(uint64_t),
		.pcs = code->debug_bytes + sizes[0],
		.pcs_bytes = sizes[1],
		.pc_desc_bytes = layout->pc_desc_bytes,
		.pc_offset_at = layout->pc_desc_pc_offset.offset,
		.decode_offset_at = layout->pc_desc_scope_decode_offset.offset,
		.scopes = hotspot_stream_over(
			code->debug_bytes + sizes[0] + sizes[1], sizes[2], target->vm_major_version),
	};
	code->instructions = (struct machine_code){ code->debug_bytes + sizes[0] + sizes[1] + sizes[2], sizes[3], 0 };
}

/* Forgets the next debug information that there is. */
static void forget_next(struct hotspot_codes *codes)
{
	struct hotspot_code *code;

	do
		code = &codes->items[codes->next_forgotten++ % codes->count];
	while (code->debug_size == 0);
	forget_debug(codes, code);
}

/*
 * Takes so much of what the methods of a process, and those of its account, may keep: beyond that those of the process
 * that were read first are read again. False: others of its account have all, and the code has no scopes.
 */
static bool take_room(struct hotspot_codes *codes, size_t size)
{
	enum { MOST_OF_PROCESS = 1 << 26 };
	const struct hotspot_costs *costs = codes->target->memory.costs;

	while (codes->debug_bytes + size > MOST_OF_PROCESS || !shares_take(costs->debug_bytes, costs->account, size)) {
		if (codes->debug_bytes == 0)
			return false;
		forget_next(codes);
	}
	return true;
}

static bool read_debug(struct hotspot_codes *codes, struct hotspot_code *code, struct error *err)
{
	const uint64_t starts[PARTS] = { code->places.metadata, code->places.pcs, code->places.scopes, code->start };
	struct iovec pieces[PARTS];
	size_t sizes[PARTS], size, count = 0;
	uint32_t late = codes->target->memory.costs->late;

	code->has_debug = true;
	if (!size_parts(code, starts, sizes, &size))
		return true;
	if (!take_room(codes, size))
		return true;
	code->has_debug = true;
	code->debug_bytes = malloc(size);
	code->debug_size = size;
	codes->debug_bytes += size;
	if (!code->debug_bytes) {
		forget_debug(codes, code);
		return error_set_memory(err);
	}
	for (size_t i = 0; i < PARTS; i++)
		if (sizes[i] > 0)
			pieces[count++] = interpreter_piece(starts[i], sizes[i]);
	if (hotspot_read_together(&codes->target->memory, pieces, count, code->debug_bytes) == size) {
		take_parts(codes->target, sizes, code);
		return true;
	}
	forget_debug(codes, code);
	code->has_debug = codes->target->memory.costs->late == late;
	return true;
}

bool hotspot_code_instructions(
	struct hotspot_codes *codes, uint32_t id, struct machine_code *instructions, struct error *err)
{
	struct hotspot_code *code = &codes->items[id];

	if (!code->has_debug && !read_debug(codes, code, err))
		return false;
	*instructions = code->instructions;
	return true;
}

bool hotspot_code_scopes(
	struct hotspot_codes *codes, uint32_t id, uint64_t pc, struct hotspot_scopes *scopes, struct error *err)
{
	struct hotspot_code *code = &codes->items[id];

	scopes->count = 0;
	if (!code->has_debug && !read_debug(codes, code, err))
		return false;
	if (code->debug_bytes)
		hotspot_find_scopes(&code->debug, pc - code->start, scopes);
	return true;
}
