/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * V8 has no table of its code that could be read from outside, but each piece is an object, whose header stands before
 * its instructions: its map, and in the second word the Code object that describes it and leads back to it. Thus the
 * code around an address is the nearest object before it, and both objects confirm each other.
 */
#include "sampler/interpret/v8/v8.h"

enum {
	CODE_BYTES = 72,
	PAGE_BYTES = 4096,
	PAGES_AT_FIRST = 2,
	PAGES_AT_ONCE = 16,
	MOST_PAGES = 128,
	ALIGNMENT = 64, /* of instructions */
	MOST_CANDIDATES = 32,
};

/* V8's src/objects/code-kind.h; code.h: from version 12 on the first field is the data, and there is a wrapper. */
enum { KIND_REGEXP = 3, CODE_WRAPPER = 24 };

static enum v8_tier tier_of(const struct v8_layout *layout, uint32_t flags)
{
	uint32_t kind = flags & (uint32_t)layout->at[V8_KIND_MASK], baseline = (uint32_t)layout->at[V8_KIND_BASELINE];

	if (kind == KIND_REGEXP)
		return V8_REGEXP;
	if (kind == baseline)
		return V8_BASELINE;
	if (kind == baseline + 1)
		return V8_MAGLEV;
	return kind == baseline + 2 ? V8_TURBOFAN : V8_NO_FUNCTION;
}

/* The function that an optimized one's deoptimization data names; 0: none. */
static uint64_t read_deoptimized(struct v8_heap *heap, uint64_t data)
{
	const struct v8_layout *layout = heap->layout;
	uint64_t shared, wrapper[2];

	if (!v8_is_pointer(data) || !v8_read(heap,
					    data - 1 + (uint64_t)layout->at[V8_ARRAY_DATA] +
						    (uint64_t)layout->at[V8_DEOPT_SHARED] * sizeof(uint64_t),
					    &shared, sizeof(shared)))
		return 0;
	if (!layout->has_wrapper)
		return shared;
	return v8_is_pointer(shared) && v8_read(heap, shared - 1, wrapper, sizeof(wrapper)) ? wrapper[1] : 0;
}

/* Fills in what a Code object tells; false: it does not describe the object at `stream`. */
static bool v8_code_take_code(
	struct v8_heap *heap, uint64_t stream, uint64_t described, const uint8_t *object, struct v8_code *code)
{
	const struct v8_layout *layout = heap->layout;
	uint64_t data = v8_word(object, layout->at[V8_CODE_DATA]);
	uint32_t flags, size;

	memcpy(&flags, object + layout->at[V8_CODE_FLAGS], sizeof(flags));
	memcpy(&size, object + layout->at[V8_CODE_SIZE], sizeof(size));
	*code = (struct v8_code){ .start = stream + (uint64_t)layout->at[V8_STREAM_HEADER],
		.stream = stream,
		.described = described,
		.data = data,
		.positions = v8_word(object, layout->at[V8_CODE_POSITIONS]),
		.tier = tier_of(layout, flags) };
	code->end = code->start + size;
	if (layout->at[V8_CODE_DATA] < CODE_WRAPPER - 8)
		code->wrapper = v8_word(object, CODE_WRAPPER);
	if (layout->has_streams && (v8_word(object, layout->at[V8_CODE_STREAM]) != stream + 1 ||
					   v8_word(object, layout->at[V8_CODE_START]) != code->start))
		return false;
	if (code->tier == V8_BASELINE)
		code->bytecode = v8_bytecode_in(heap, data);
	else if (code->tier == V8_MAGLEV || code->tier == V8_TURBOFAN)
		code->shared = read_deoptimized(heap, data);
	return true;
}

bool v8_read_code(struct v8_heap *heap, uint64_t stream, struct v8_code *code)
{
	uint8_t object[CODE_BYTES];
	uint64_t header[2], described = stream + 1;

	if (heap->layout->has_streams) {
		if (!v8_read_object(heap, stream + 1, V8_TYPE_STREAM, header, sizeof(header)))
			return false;
		described = header[1];
	}
	return v8_read_object(heap, described, V8_TYPE_CODE, object, sizeof(object)) &&
	       v8_code_take_code(heap, stream, described, object, code);
}

/* A search from an address downwards. */
struct v8_code_search {
	struct v8_heap *heap;
	uint64_t address;
	size_t candidates;
	struct v8_code *code;
	bool is_over, is_found;
};

/* Looks at the places of a page where an object may begin, the last first. */
static void search_page(struct v8_code_search *search, const uint8_t *bytes, uint64_t page)
{
	const struct v8_layout *layout = search->heap->layout;
	uint64_t header = (uint64_t)layout->at[V8_STREAM_HEADER];
	uint64_t first = (ALIGNMENT - header % ALIGNMENT) % ALIGNMENT;

	for (size_t at = PAGE_BYTES - ALIGNMENT + first; !search->is_over && at < PAGE_BYTES; at -= ALIGNMENT) {
		uint64_t map = v8_word(bytes, (int32_t)at);

		if (page + at + header > search->address || !v8_is_pointer(map))
			continue;
		if (search->candidates++ == MOST_CANDIDATES)
			search->is_over = true;
		else if (v8_is_map_of(search->heap, map, layout->has_streams ? V8_TYPE_STREAM : V8_TYPE_CODE) &&
			 v8_read_code(search->heap, page + at, search->code)) {
			search->is_over = true;
			search->is_found = search->address < search->code->end;
		}
	}
}

/* Reads pages from one downwards, as far as there are any. */
static size_t read_pages(struct v8_heap *heap, uint64_t page, uint8_t *bytes, size_t count)
{
	struct iovec pieces[PAGES_AT_ONCE];

	for (size_t i = 0; i < count; i++)
		pieces[i] = interpreter_piece(page - i * PAGE_BYTES, PAGE_BYTES);
	return v8_read_pieces(heap, pieces, count, bytes) / PAGE_BYTES;
}

bool v8_find_code(struct v8_heap *heap, uint64_t address, struct v8_code *code)
{
	struct v8_code_search search = { .heap = heap, .address = address, .code = code };
	uint64_t page = address - address % PAGE_BYTES;
	CLEANUP(cleanup_free) uint8_t *bytes = malloc((size_t)PAGE_BYTES * PAGES_AT_ONCE);

	if (!bytes || page < (uint64_t)PAGE_BYTES * (MOST_PAGES + PAGES_AT_ONCE))
		return false;
	for (size_t done = 0; !search.is_over && done < MOST_PAGES;) {
		size_t wanted = done == 0 ? PAGES_AT_FIRST : PAGES_AT_ONCE;
		size_t count = read_pages(heap, page, bytes, wanted);

		for (size_t i = 0; i < count && !search.is_over; i++)
			search_page(&search, bytes + i * PAGE_BYTES, page - i * PAGE_BYTES);
		if (count < wanted)
			break;
		done += count;
		page -= PAGE_BYTES * count;
	}
	return search.is_found;
}
