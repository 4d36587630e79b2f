/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/row.h"

#include <math.h>

void row_append_u8(struct buffer *row, uint8_t value)
{
	buffer_append_byte(row, value);
}

void row_append_u16(struct buffer *row, uint16_t value)
{
	buffer_append(row, &value, sizeof(value));
}

void row_append_u32(struct buffer *row, uint32_t value)
{
	buffer_append(row, &value, sizeof(value));
}

void row_append_u64(struct buffer *row, uint64_t value)
{
	buffer_append(row, &value, sizeof(value));
}

void row_append_f32(struct buffer *row, float value)
{
	buffer_append(row, &value, sizeof(value));
}

void row_append_f64(struct buffer *row, double value)
{
	buffer_append(row, &value, sizeof(value));
}

void row_append_count(struct buffer *row, size_t count)
{
	if (buffer_reserve(row, 10))
		buffer_append_varint(row, count);
}

void row_append_bytes(struct buffer *row, const void *bytes, size_t size)
{
	row_append_count(row, size);
	buffer_append(row, bytes, size);
}

void row_append_string(struct buffer *row, const char *string)
{
	row_append_bytes(row, string, strlen(string));
}

bool row_next(struct byte_reader *answer)
{
	if (answer->failed || byte_reader_left(answer) == 0 || *answer->pos != ROW_MARK)
		return false;
	answer->pos++;
	return true;
}

/* Returns the server's words at the end of an answer that broke off; NULL: there are none. */
static const char *row_exception(const struct byte_reader *answer, int *size)
{
	static const char word[] = "DB::Exception: ";
	static const size_t most = (size_t)1 << 16;
	size_t all = (size_t)(answer->end - answer->start), tail = all < most ? all : most;
	/* What was read as a row may be a part of it. */
	const uint8_t *found = memmem(answer->end - tail, tail, word, sizeof(word) - 1);

	if (!found)
		return NULL;
	found += sizeof(word) - 1;
	*size = 0;
	while (found + *size < answer->end && *size < 300 && found[*size] >= ' ')
		++*size;
	return (const char *)found;
}

bool row_end(const struct byte_reader *answer, struct error *err)
{
	const char *exception;
	int size;

	if (byte_reader_ok(answer) && byte_reader_left(answer) == 0)
		return true;
	exception = row_exception(answer, &size);
	if (exception)
		return error_set(err, ERROR_SYSTEM, "the server broke off its answer: %.*s", size, exception);
	return error_set(err, ERROR_FORMAT, "the server's answer is not what was asked for, at byte %zu of %zu",
		byte_reader_offset(answer), (size_t)(answer->end - answer->start));
}

uint8_t row_u8(struct byte_reader *answer)
{
	return byte_reader_u8(answer);
}

uint16_t row_u16(struct byte_reader *answer)
{
	return byte_reader_u16(answer);
}

uint32_t row_u32(struct byte_reader *answer)
{
	return byte_reader_u32(answer);
}

uint64_t row_u64(struct byte_reader *answer)
{
	return byte_reader_u64(answer);
}

float row_f32(struct byte_reader *answer)
{
	float value = 0;

	byte_reader_copy(answer, &value, sizeof(value));
	if (!isfinite(value))
		answer->failed = true;
	return answer->failed ? 0 : value;
}

double row_f64(struct byte_reader *answer)
{
	static const double most = 1e300;
	double value = 0;

	byte_reader_copy(answer, &value, sizeof(value));
	if (!isfinite(value) || fabs(value) > most)
		answer->failed = true;
	return answer->failed ? 0 : value;
}

size_t row_count(struct byte_reader *answer)
{
	uint64_t count = byte_reader_uleb128(answer);

	if (count > ROW_MAX_ITEMS || count > byte_reader_left(answer))
		answer->failed = true;
	return answer->failed ? 0 : (size_t)count;
}

struct row_string row_bytes(struct byte_reader *answer)
{
	uint64_t size = byte_reader_uleb128(answer);
	const uint8_t *bytes;

	if (size > byte_reader_left(answer))
		answer->failed = true;
	bytes = answer->failed ? NULL : byte_reader_bytes(answer, (size_t)size);
	return bytes ? (struct row_string){ (const char *)bytes, (size_t)size } : (struct row_string){ "", 0 };
}

struct row_string row_string(struct byte_reader *answer)
{
	struct row_string string = row_bytes(answer);

	if (string.size > ROW_MAX_STRING_BYTES || memchr(string.bytes, 0, string.size))
		answer->failed = true;
	return answer->failed ? (struct row_string){ "", 0 } : string;
}
