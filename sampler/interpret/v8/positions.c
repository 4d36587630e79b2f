/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads where code is in its script. V8 has tables of this for bytecode and for optimized code
 * (src/codegen/source-position-table.cc), and for baseline code one of its bytecodes
 * (src/baseline/bytecode-offset-iterator.h).
 */
#include "sampler/interpret/v8/positions.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 20, MOST_INLINED = 1 << 12 };

void v8_positions_deinit(struct v8_positions *positions)
{
	free(positions->items);
	free(positions->inlined);
	*positions = (struct v8_positions){ 0 };
}

/* ---- Numbers ---- */

/* Seven bits a byte, the lowest first; the highest bit of each says that more follow. */
static uint64_t positions_take_number(struct byte_reader *r)
{
	return byte_reader_uleb128(r);
}

/* 0, -1, 1, -2, 2, … */
static int64_t take_signed(struct byte_reader *r)
{
	uint64_t number = positions_take_number(r);

	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/* ---- Objects ---- */

/* Most tables are short: their head and their bytes are read at once, where so much memory is there. */
enum { HEAD_BYTES = 16, SHORT_BYTES = 496 };

static size_t positions_read_head(struct v8_heap *heap, uint64_t tagged, uint8_t head[HEAD_BYTES + SHORT_BYTES])
{
	if (!v8_is_pointer(tagged))
		return 0;
	if (v8_read(heap, tagged - 1, head, HEAD_BYTES + SHORT_BYTES))
		return HEAD_BYTES + SHORT_BYTES;
	return v8_read(heap, tagged - 1, head, HEAD_BYTES) ? HEAD_BYTES : 0;
}

/* Reads an array of bytes; NULL: it is none, it is empty, or it could not be read. The bytes belong to the caller. */
static uint8_t *positions_read_bytes(struct v8_heap *heap, uint64_t tagged, size_t *size)
{
	uint8_t head[HEAD_BYTES + SHORT_BYTES], *bytes;
	size_t read = positions_read_head(heap, tagged, head);
	uint64_t length;

	if (read == 0 || (!v8_is_map_of(heap, v8_word(head, 0), V8_TYPE_BYTES) &&
				 !v8_is_map_of(heap, v8_word(head, 0), V8_TYPE_TRUSTED_BYTES)))
		return NULL;
	length = v8_word(head, 8);
	if (!v8_is_small(length) || v8_small(length) <= 0 || v8_small(length) > MOST_BYTES)
		return NULL;
	*size = (size_t)v8_small(length);
	bytes = malloc(*size);
	if (bytes && *size <= read - HEAD_BYTES)
		memcpy(bytes, head + HEAD_BYTES, *size);
	else if (bytes && !v8_read(heap, tagged - 1 + HEAD_BYTES, bytes, *size))
		free(TAKE(bytes));
	return bytes;
}

/* ---- Tables of positions ---- */

/* A position (src/codegen/source-position.h): a bit, 30 bits of the place and 16 of the inlined call, each plus 1. */
static struct v8_position positions_unpack(int64_t code, uint64_t packed)
{
	struct v8_position position = { .code = (int32_t)code,
		.script = (int32_t)(packed >> 1 & 0x3fffffff) - 1,
		.inlined = (int32_t)(packed >> 31 & 0xffff) - 1 };

	if (packed & 1)
		position.script = -1;
	return position;
}

static bool add_position(
	struct v8_positions *positions, size_t *capacity, struct v8_position position, struct error *err)
{
	if (!ARRAY_RESERVE(&positions->items, capacity, positions->count + 1, MOST_BYTES, err))
		return false;
	positions->items[positions->count++] = position;
	return true;
}

static bool positions_decode(const uint8_t *bytes, size_t size, struct v8_positions *positions, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	int64_t code = -1, packed = 0;
	size_t capacity = 0;

	while (byte_reader_left(&r) > 0) {
		int64_t step = take_signed(&r), by = take_signed(&r);

		/* The sign says whether a statement begins there. */
		code += step >= 0 ? step : -(step + 1);
		packed = (int64_t)((uint64_t)packed + (uint64_t)by);
		if (!byte_reader_ok(&r) || code > INT32_MAX || step < -INT32_MAX)
			break;
		if (!add_position(positions, &capacity, positions_unpack(code, (uint64_t)packed), err))
			return false;
	}
	return true;
}

bool v8_read_positions(struct v8_heap *heap, uint64_t table, struct v8_positions *positions, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *bytes = NULL;
	size_t size;

	*positions = (struct v8_positions){ 0 };
	bytes = positions_read_bytes(heap, table, &size);
	return !bytes || positions_decode(bytes, size, positions, err);
}

const struct v8_position *v8_position_at(const struct v8_positions *positions, int64_t code)
{
	size_t low = BISECT(positions->count, i, positions->items[i].code <= code);

	return low > 0 ? &positions->items[low - 1] : NULL;
}

/* ---- Baseline code ---- */

/* Bytecodes one after the other. */
struct bytecodes {
	const struct v8_layout *layout;
	const uint8_t *bytes;
	size_t size, at;
};

/* Moves to the next bytecode; false: there is none. A prefix says that operands have two or four times the size. */
static bool next_bytecode(struct bytecodes *codes)
{
	enum { WIDE, EXTRA_WIDE };
	const struct v8_layout *layout = codes->layout;
	size_t scale = 0, length = 0;

	if (codes->at < codes->size && codes->bytes[codes->at] <= EXTRA_WIDE) {
		scale = codes->bytes[codes->at] == WIDE ? 1 : 2;
		codes->at++;
	}
	if (codes->at < codes->size && codes->bytes[codes->at] < layout->bytecode_count)
		length = layout->bytecode_sizes[scale * layout->bytecode_count + codes->bytes[codes->at]];
	codes->at += length;
	return length > 0 && codes->at <= codes->size;
}

static bool decode_baseline(struct byte_reader *r, struct bytecodes *codes, const struct v8_positions *of_bytecode,
	struct v8_positions *positions, struct error *err)
{
	uint64_t end = positions_take_number(r);
	size_t capacity = 0;

	/* The first number is the length of what comes before the first bytecode's code. */
	while (byte_reader_left(r) > 0 && byte_reader_ok(r) && end <= INT32_MAX) {
		const struct v8_position *at = v8_position_at(of_bytecode, (int64_t)codes->at);
		struct v8_position position = { .code = (int32_t)end, .script = at ? at->script : -1, .inlined = -1 };

		if (!add_position(positions, &capacity, position, err))
			return false;
		end += positions_take_number(r);
		if (!next_bytecode(codes))
			break;
	}
	return true;
}

bool v8_read_baseline_positions(struct v8_heap *heap, uint64_t table, uint64_t bytecode,
	const struct v8_positions *of_bytecode, struct v8_positions *positions, struct error *err)
{
	struct bytecodes codes = { .layout = heap->layout };
	CLEANUP(cleanup_free) uint8_t *bytes = NULL, *instructions = NULL;
	struct byte_reader r;
	uint64_t length;
	size_t size;

	*positions = (struct v8_positions){ 0 };
	if (of_bytecode->count == 0 || codes.layout->bytecode_count == 0 ||
		!v8_read(heap, bytecode - 1 + sizeof(length), &length, sizeof(length)) || !v8_is_small(length) ||
		v8_small(length) <= 0 || v8_small(length) > MOST_BYTES)
		return true;
	bytes = positions_read_bytes(heap, table, &size);
	codes.size = (size_t)v8_small(length);
	codes.bytes = instructions = malloc(codes.size);
	if (!bytes || !instructions ||
		!v8_read(heap, bytecode - 1 + (uint64_t)heap->layout->at[V8_BYTECODE_DATA], instructions, codes.size))
		return true;
	r = byte_reader_over(bytes, size);
	return decode_baseline(&r, &codes, of_bytecode, positions, err);
}

/* ---- Inlined calls ---- */

/* A call: its position, and the number of the function in the array of literals. */
enum { CALL_BYTES = 16, MOST_INDEX = 8 };

/* A weak reference has a second low bit. */
static uint64_t strong(uint64_t word)
{
	return v8_is_pointer(word & ~(uint64_t)2) ? word & ~(uint64_t)2 : 0;
}

/* The functions that were inlined are the first of the literals: as many as the calls name. */
static void positions_read_functions(
	struct v8_heap *heap, uint64_t literals, const uint8_t *calls, struct v8_positions *positions)
{
	uint64_t words[64];
	size_t count = 0;

	for (size_t i = 0; i < positions->inlined_count; i++) {
		uint32_t number = (uint32_t)v8_word(calls, (int32_t)(i * CALL_BYTES + 8));

		if (number < sizeof(words) / sizeof(words[0]) && number >= count)
			count = number + 1;
	}
	if (count == 0 || !v8_is_pointer(literals) ||
		!v8_read(heap, literals - 1 + (uint64_t)heap->layout->at[V8_ARRAY_DATA], words,
			count * sizeof(words[0])))
		return;
	for (size_t i = 0; i < positions->inlined_count; i++) {
		uint32_t number = (uint32_t)v8_word(calls, (int32_t)(i * CALL_BYTES + 8));

		if (number < count)
			positions->inlined[i].shared = strong(words[number]);
	}
}

bool v8_read_inlined(struct v8_heap *heap, uint64_t data, struct v8_positions *positions, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *calls = NULL;
	const int32_t *at = heap->layout->at;
	uint64_t words[MOST_INDEX + 1];
	size_t size, capacity = 0;

	if (positions->count == 0 || !v8_is_pointer(data) || at[V8_DEOPT_INLINED] > MOST_INDEX ||
		at[V8_DEOPT_LITERALS] > MOST_INDEX ||
		!v8_read(heap, data - 1 + (uint64_t)at[V8_ARRAY_DATA], words, sizeof(words)))
		return true;
	calls = positions_read_bytes(heap, words[at[V8_DEOPT_INLINED]], &size);
	for (size_t i = 0; calls && i < size / CALL_BYTES && i < MOST_INLINED; i++) {
		struct v8_position call = positions_unpack(0, v8_word(calls, (int32_t)(i * CALL_BYTES)));

		if (!ARRAY_RESERVE(&positions->inlined, &capacity, positions->inlined_count + 1, MOST_INLINED, err))
			return false;
		positions->inlined[positions->inlined_count++] = (struct v8_inlined){ 0, call.script, call.inlined };
	}
	if (calls)
		positions_read_functions(heap, words[at[V8_DEOPT_LITERALS]], calls, positions);
	return true;
}
