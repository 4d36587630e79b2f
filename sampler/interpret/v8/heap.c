/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads objects and strings of V8's heap. */
#include "sampler/interpret/v8/v8.h"

/* ---- Objects ---- */

enum { BYTES_OF_A_READ = 4096 }; /* more of them cost as much as another read */

static bool heap_pay_read(struct v8_heap *heap, size_t bytes)
{
	uint32_t price = 1 + (uint32_t)(bytes / BYTES_OF_A_READ);

	if (heap->reads_left < price ||
		(heap->table && !process_table_pay_reads(heap->table, heap->pid,
					(uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE), price))) {
		heap->reads_left = 0;
		return false;
	}
	heap->reads_left -= price;
	return true;
}

size_t v8_read_pieces(struct v8_heap *heap, const struct iovec *pieces, size_t count, void *into)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += pieces[i].iov_len;
	return count > 0 && heap_pay_read(heap, bytes) ? interpreter_read(heap->host, heap->pid, pieces, count, into)
						       : 0;
}

bool v8_read(struct v8_heap *heap, uint64_t address, void *into, size_t bytes)
{
	const struct iovec piece = interpreter_piece(address, bytes);

	return v8_read_pieces(heap, &piece, 1, into) == bytes;
}

bool v8_is_readable(struct v8_heap *heap)
{
	uint64_t word;

	for (size_t i = 0; i < V8_KNOWN_MAPS; i++)
		if (heap->maps[i])
			return v8_read(heap, heap->maps[i] - 1, &word, sizeof(word));
	return true;
}

/* Reads the instance type of a map. */
static bool heap_read_type(struct v8_heap *heap, uint64_t map, uint16_t *type)
{
	size_t slot = (size_t)(hash_mix(map, 0x9e3779b97f4a7c15) % V8_KNOWN_MAPS);

	if (!v8_is_pointer(map))
		return false;
	if (heap->maps[slot] == map) {
		*type = heap->types[slot];
		return true;
	}
	if (!v8_read(heap, map - 1 + (uint64_t)heap->layout->at[V8_MAP_TYPE], type, sizeof(*type)))
		return false;
	heap->maps[slot] = map;
	heap->types[slot] = *type;
	return true;
}

bool v8_is_map_of(struct v8_heap *heap, uint64_t map, enum v8_number type)
{
	uint16_t found;

	return heap_read_type(heap, map, &found) && found == heap->layout->at[type];
}

bool v8_read_object(struct v8_heap *heap, uint64_t tagged, enum v8_number type, void *into, size_t bytes)
{
	return v8_is_pointer(tagged) && v8_read(heap, tagged - 1, into, bytes) &&
	       v8_is_map_of(heap, v8_word(into, 0), type);
}

/* ---- Strings ---- */

/* Instance types of strings (V8's src/objects/instance-type.h). */
enum {
	NOT_STRING = 0xff80,
	REPRESENTATION = 7,
	SEQUENTIAL = 0,
	CONS = 1,
	EXTERNAL = 2,
	SLICED = 3,
	THIN = 5,
	ONE_BYTE = 8,
	UNCACHED = 0x10, /* of an external string: it does not have the place of its characters */
};

/* The header of a string object before its characters: the parts of the longest representation. */
enum { STRING_BYTES = 32, SHORT_BYTES = 192, CHUNK_BYTES = 1 << 16, MOST_PARTS = 1 << 16, MOST_PENDING = 4096 };

/* A part of a string that is to be read. */
struct v8_heap_part {
	uint64_t tagged;
	size_t first, count; /* characters; SIZE_MAX: all */
};

struct v8_heap_reading {
	struct v8_heap *heap;
	const struct v8_text *text;
	size_t left; /* characters that may still come */
	struct v8_heap_part *pending;
	size_t pending_count, pending_capacity, parts;
};

static bool take_characters(struct v8_heap_reading *reading, uint64_t address, size_t count, bool is_wide)
{
	size_t width = is_wide ? 2 : 1;
	uint8_t small[256], *chunk = small;
	size_t room = sizeof(small);
	CLEANUP(cleanup_free) void *large = NULL;

	if (count * width > room) {
		large = malloc(CHUNK_BYTES);
		if (!large)
			return false;
		chunk = large;
		room = CHUNK_BYTES;
	}
	for (size_t done = 0; done < count;) {
		size_t now = count - done < room / width ? count - done : room / width;

		if (!v8_read(reading->heap, address + done * width, chunk, now * width) ||
			!reading->text->take(reading->text->context, chunk, now, is_wide))
			return false;
		done += now;
	}
	return true;
}

static bool heap_add_part(struct v8_heap_reading *reading, uint64_t tagged, size_t first, size_t count)
{
	struct error ignored;

	if (!ARRAY_RESERVE(
		    &reading->pending, &reading->pending_capacity, reading->pending_count + 1, MOST_PENDING, &ignored))
		return false;
	reading->pending[reading->pending_count++] = (struct v8_heap_part){ tagged, first, count };
	return true;
}

/* Reads a string's head, and what follows it, if there is as much: most strings are short. */
static bool heap_read_head(struct v8_heap_reading *reading, uint64_t tagged, uint8_t object[SHORT_BYTES], size_t *size)
{
	*size = SHORT_BYTES;
	if (v8_is_pointer(tagged) && v8_read(reading->heap, tagged - 1, object, SHORT_BYTES))
		return true;
	*size = STRING_BYTES;
	return v8_is_pointer(tagged) && v8_read(reading->heap, tagged - 1, object, STRING_BYTES);
}

/* Reads a part, or has the parts that it is made of read next. */
static bool heap_read_part(struct v8_heap_reading *reading, const struct v8_heap_part *part)
{
	const int32_t *at = reading->heap->layout->at;
	uint8_t object[SHORT_BYTES];
	uint16_t type;
	int32_t length;
	size_t count, width, size, at_first;

	if (!heap_read_head(reading, part->tagged, object, &size) ||
		!heap_read_type(reading->heap, v8_word(object, 0), &type) || (type & NOT_STRING))
		return false;
	memcpy(&length, object + at[V8_STRING_LENGTH], sizeof(length));
	if (length < 0 || part->first > (size_t)length)
		return false;
	count = part->count == SIZE_MAX ? (size_t)length : part->count;
	width = type & ONE_BYTE ? 1 : 2;
	if (count > (size_t)length - part->first || count > reading->left)
		return false;
	switch (type & REPRESENTATION) {
	case SEQUENTIAL:
		reading->left -= count;
		at_first = (size_t)at[V8_STRING_CHARACTERS] + part->first * width;
		if (at_first + count * width <= size)
			return count == 0 ||
			       reading->text->take(reading->text->context, object + at_first, count, width == 2);
		return take_characters(reading, part->tagged - 1 + at_first, count, width == 2);
	case EXTERNAL:
		reading->left -= count;
		return !(type & UNCACHED) &&
		       take_characters(reading, v8_word(object, at[V8_EXTERNAL_RESOURCE] + 8) + part->first * width,
			       count, width == 2);
	case CONS:
		return count == (size_t)length &&
		       heap_add_part(reading, v8_word(object, at[V8_CONS_SECOND]), 0, SIZE_MAX) &&
		       heap_add_part(reading, v8_word(object, at[V8_CONS_FIRST]), 0, SIZE_MAX);
	case SLICED:
		return heap_add_part(reading, v8_word(object, at[V8_SLICED_PARENT]),
			part->first + (size_t)(uint32_t)v8_small(v8_word(object, at[V8_SLICED_OFFSET])), count);
	case THIN:
		return heap_add_part(reading, v8_word(object, at[V8_THIN_ACTUAL]), part->first, count);
	default:
		return false;
	}
}

bool v8_read_text(struct v8_heap *heap, uint64_t tagged, size_t most, const struct v8_text *text)
{
	struct v8_heap_reading reading = { .heap = heap, .text = text, .left = most };
	bool is_read = heap_add_part(&reading, tagged, 0, SIZE_MAX);

	while (is_read && reading.pending_count > 0) {
		struct v8_heap_part part = reading.pending[--reading.pending_count];

		is_read = reading.parts++ < MOST_PARTS && heap_read_part(&reading, &part);
	}
	free(reading.pending);
	return is_read;
}

/* ---- Strings as UTF-8 ---- */

struct appending {
	struct buffer *out;
	size_t left;
	uint16_t high; /* the first half of a surrogate pair; 0: none */
};

/* The code point of a 16-bit unit; 0: it is the first half of one. */
static uint32_t join_unit(struct appending *appending, uint16_t unit)
{
	uint16_t high = appending->high;

	appending->high = 0;
	if (unit >= 0xd800 && unit < 0xdc00) {
		appending->high = unit;
		return 0;
	}
	if (unit >= 0xdc00 && unit < 0xe000)
		return high ? 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (unit - 0xdc00U) : 0xfffd;
	return unit;
}

static bool append_characters(void *context, const void *characters, size_t count, bool is_wide)
{
	struct appending *appending = context;

	for (size_t i = 0; i < count && appending->left > 0; i++, appending->left--) {
		uint32_t code;
		uint16_t unit;

		if (is_wide) {
			memcpy(&unit, (const uint8_t *)characters + 2 * i, sizeof(unit));
			code = join_unit(appending, unit);
			if (code == 0 && appending->high)
				continue;
		} else {
			code = ((const uint8_t *)characters)[i];
		}
		unicode_append(appending->out, code < ' ' || code == 0x7f ? 0xfffd : code);
	}
	return appending->left > 0;
}

bool v8_append_string(struct v8_heap *heap, uint64_t tagged, size_t most, struct buffer *out)
{
	struct appending appending = { out, most, 0 };
	const struct v8_text text = { append_characters, &appending };

	/* Nothing is left to take: the string was cut, and that is not a failure. */
	return v8_read_text(heap, tagged, V8_MOST_SOURCE, &text) || appending.left == 0;
}
