/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/decode.h"

#include <ctype.h>
#include <string.h>

/* ---- Numbers ---- */

struct hotspot_stream hotspot_stream_over(const void *bytes, size_t size, uint64_t vm_major_version)
{
	enum { FIRST_WITHOUT_ZEROS = 20 };

	return (struct hotspot_stream){ byte_reader_over(bytes, size), vm_major_version >= FIRST_WITHOUT_ZEROS };
}

uint32_t hotspot_stream_unsigned(struct hotspot_stream *stream)
{
	enum { MOST_BYTES = 5, SHIFT = 6, LEAST_HIGH = 192 };
	uint32_t value = 0;

	for (unsigned int i = 0; i < MOST_BYTES; i++) {
		uint8_t byte = byte_reader_u8(&stream->reader);

		if (byte < stream->excluded)
			stream->reader.failed = true;
		if (!byte_reader_ok(&stream->reader))
			return 0;
		value += (uint32_t)(byte - stream->excluded) << (i * SHIFT);
		if (byte < LEAST_HIGH)
			break;
	}
	return value;
}

int32_t hotspot_stream_signed(struct hotspot_stream *stream)
{
	uint32_t value = hotspot_stream_unsigned(stream);

	return (int32_t)(value >> 1 ^ (0 - (value & 1)));
}

/* ---- Lines ---- */

uint32_t hotspot_find_line(struct hotspot_stream table, uint32_t bci)
{
	enum { END = 0, LONG = 0xff, LINE_BITS = 3, LINE_MASK = 7 };
	uint32_t at = 0, line = 0, best_at = 0, best = 0;

	for (;;) {
		uint8_t byte = byte_reader_u8(&table.reader);

		if (byte == END)
			return best;
		at += byte == LONG ? (uint32_t)hotspot_stream_signed(&table) : byte >> LINE_BITS;
		line += byte == LONG ? (uint32_t)hotspot_stream_signed(&table) : byte & LINE_MASK;
		if (!byte_reader_ok(&table.reader))
			return best;
		if (at <= bci && (best == 0 || at >= best_at)) {
			best_at = at;
			best = line <= INT32_MAX ? line : 0;
		}
	}
}

/* ---- Scopes ---- */

static int32_t desc_int(const struct hotspot_debug *debug, size_t desc, uint32_t at)
{
	int32_t value;

	memcpy(&value, debug->pcs + desc * debug->pc_desc_bytes + at, sizeof(value));
	return value;
}

/* The first and the last one only mark the ends. False: there is none behind the place. */
static bool find_desc(const struct hotspot_debug *debug, uint64_t code_offset, size_t *desc)
{
	size_t count = debug->pc_desc_bytes > 0 ? debug->pcs_bytes / debug->pc_desc_bytes : 0;
	size_t low = 1, high = count > 0 ? count - 1 : 0;

	if (debug->pc_offset_at + sizeof(int32_t) > debug->pc_desc_bytes ||
		debug->decode_offset_at + sizeof(int32_t) > debug->pc_desc_bytes || code_offset > INT32_MAX)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (desc_int(debug, middle, debug->pc_offset_at) < (int32_t)code_offset)
			low = middle + 1;
		else
			high = middle;
	}
	*desc = low;
	return count > 1 && low < count - 1;
}

/* Reads a scope; `*offset` becomes its caller's. */
static bool decode_read_scope(const struct hotspot_debug *debug, uint32_t *offset, struct hotspot_scope *scope)
{
	struct hotspot_stream stream = debug->scopes;
	uint32_t method;

	byte_reader_seek(&stream.reader, *offset);
	*offset = hotspot_stream_unsigned(&stream);
	method = hotspot_stream_unsigned(&stream);
	/* InvocationEntryBci, -1, is stored as 0. */
	scope->bci = (int32_t)(hotspot_stream_unsigned(&stream) - 1);
	if (!byte_reader_ok(&stream.reader) || method == 0 || method > debug->metadata_count)
		return false;
	scope->method = debug->metadata[method - 1];
	return true;
}

void hotspot_find_scopes(const struct hotspot_debug *debug, uint64_t code_offset, struct hotspot_scopes *scopes)
{
	size_t desc, count = 0;
	uint32_t offset;

	scopes->count = 0;
	if (!find_desc(debug, code_offset, &desc))
		return;
	offset = (uint32_t)desc_int(debug, desc, debug->decode_offset_at);
	/* Offset 0 is that of no scope. A caller's scope was written before, so the chain ends. */
	for (uint32_t next = offset; offset > 0 && count < HOTSPOT_MOST_SCOPES; offset = next)
		if (!decode_read_scope(debug, &next, &scopes->items[count++]) || next >= offset)
			return;
	if (offset == 0)
		scopes->count = count;
}

/* ---- Names ---- */

static const char *primitive_name(char c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'V':
		return "void";
	case 'Z':
		return "boolean";
	default:
		return NULL;
	}
}

static void append_dotted(struct buffer *out, const char *start, const char *end)
{
	for (; start < end; start++)
		buffer_append_byte(out, *start == '/' ? '.' : (uint8_t)*start);
}

/* Appends the type whose descriptor begins at `*pos`, and moves behind it. */
static bool decode_append_type(struct buffer *out, const char **pos, const char *end)
{
	const char *c = *pos, *after, *primitive;
	size_t dimensions = 0;

	for (; c < end && *c == '['; c++)
		dimensions++;
	if (c == end)
		return false;
	primitive = primitive_name(*c);
	after = c + 1;
	if (*c == 'L') {
		after = memchr(c, ';', (size_t)(end - c));
		if (!after)
			return false;
		append_dotted(out, c + 1, after++);
	} else if (primitive) {
		buffer_append_string(out, primitive);
	} else {
		return false;
	}
	for (size_t i = 0; i < dimensions; i++)
		buffer_append_string(out, "[]");
	*pos = after;
	return true;
}

/*
 * Appends a class's name. That of a hidden class ends in `+` and the address of its Klass, which HotSpot shows behind a
 * slash (Klass::external_name()).
 */
static void append_class(struct buffer *out, struct hotspot_text name)
{
	const char *end = name.bytes + name.size, *plus = memrchr(name.bytes, '+', name.size), *digit;

	if (plus && end - plus > 3 && memcmp(plus, "+0x", 3) == 0) {
		for (digit = plus + 3; digit < end && isxdigit((unsigned char)*digit); digit++)
			;
		if (digit == end) {
			append_dotted(out, name.bytes, plus);
			buffer_append_byte(out, '/');
			buffer_append(out, plus + 1, (size_t)(end - plus - 1));
			return;
		}
	}
	append_dotted(out, name.bytes, end);
}

bool hotspot_append_name(
	struct buffer *name, struct hotspot_text class_name, struct hotspot_text method, struct hotspot_text signature)
{
	const char *end = signature.bytes + signature.size, *pos = memrchr(signature.bytes, ')', signature.size);
	const char *result = pos ? pos + 1 : end;

	if (!pos || signature.bytes[0] != '(' || !decode_append_type(name, &result, end) || result != end)
		return false;
	buffer_append_byte(name, ' ');
	append_class(name, class_name);
	buffer_append_byte(name, '.');
	buffer_append(name, method.bytes, method.size);
	buffer_append_byte(name, '(');
	end = pos;
	for (pos = signature.bytes + 1; pos < end;) {
		if (pos > signature.bytes + 1)
			buffer_append_string(name, ", ");
		if (!decode_append_type(name, &pos, end))
			return false;
	}
	buffer_append_byte(name, ')');
	return true;
}
