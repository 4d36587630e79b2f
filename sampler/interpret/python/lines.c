/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes the location tables of code objects. */
#include "sampler/interpret/python/code.h"

/* Kinds of entries. All others have one byte more, which tells columns, and the line of the entry before. */
enum {
	FIRST_ONE_LINE = 10, /* up to 12: 0 to 2 lines further, and two bytes of columns */
	NO_COLUMNS = 13,
	LONG_FORM = 14,
	NO_LOCATION = 15,
};

/* Six bits in each byte, the lowest first. */
static uint32_t read_varint(struct byte_reader *r)
{
	uint64_t value = 0;
	uint8_t byte = 0x40;

	for (unsigned int shift = 0; (byte & 0x40) && shift < 36; shift += 6) {
		byte = byte_reader_u8(r);
		value |= (uint64_t)(byte & 0x3f) << shift;
	}
	r->failed |= (byte & 0x40) || value > UINT32_MAX;
	return (uint32_t)value;
}

static int64_t read_signed(struct byte_reader *r)
{
	uint32_t value = read_varint(r);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Reads what follows the first byte of an entry. How many lines further it is than the one before. */
static int64_t read_distance(struct byte_reader *r, uint8_t kind)
{
	int64_t distance = 0;

	switch (kind) {
	case NO_LOCATION:
		break;
	case LONG_FORM:
		distance = read_signed(r);
		for (size_t i = 0; i < 3; i++)
			(void)read_varint(r);
		break;
	case NO_COLUMNS:
		distance = read_signed(r);
		break;
	case FIRST_ONE_LINE:
	case FIRST_ONE_LINE + 1:
	case FIRST_ONE_LINE + 2:
		byte_reader_skip(r, 2);
		distance = kind - FIRST_ONE_LINE;
		break;
	default:
		byte_reader_skip(r, 1);
		break;
	}
	return distance;
}

static void python_lines_add_line(struct interpreter_line *lines, size_t *count, uint32_t unit, int64_t line)
{
	uint32_t known = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;

	if (*count == 0 || lines[*count - 1].line != known)
		lines[(*count)++] = (struct interpreter_line){ unit, known };
}

size_t python_lines_decode(const void *table, size_t size, uint32_t first_line, struct interpreter_line *lines)
{
	struct byte_reader r = byte_reader_over(table, size);
	int64_t line = first_line;
	uint32_t unit = 0;
	size_t count = 0;

	while (byte_reader_left(&r) > 0) {
		uint8_t byte = byte_reader_u8(&r), kind = byte >> 3 & 15;

		/* At most 2^31 in each of the bytes, which are fewer than 2^32. */
		line += read_distance(&r, kind);
		if (!byte_reader_ok(&r) || !(byte & 0x80))
			break;
		python_lines_add_line(lines, &count, unit, kind == NO_LOCATION ? 0 : line);
		unit += (byte & 7U) + 1;
	}
	python_lines_add_line(lines, &count, unit, 0);
	return count;
}
