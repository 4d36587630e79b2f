/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/buffer.h"

#include "common/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_init(struct buffer *buffer, size_t max_bytes)
{
	*buffer = (struct buffer){ .max_bytes = max_bytes };
}

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

void *buffer_reserve(struct buffer *buffer, size_t size)
{
	size_t need, grown;
	char *data;

	if (buffer->failed)
		return NULL;
	if (size > buffer->max_bytes - buffer->size || size > SIZE_MAX / 4 - buffer->size) {
		buffer->failed = buffer->over_limit = true;
		return NULL;
	}
	/* One byte more for the NUL. */
	need = buffer->size + size + 1;
	if (need > buffer->capacity) {
		grown = need < 256 ? 256 : need + need / 2;
		data = realloc(buffer->data, grown);
		if (!data) {
			memory_fail(grown);
			buffer->failed = true;
			return NULL;
		}
		buffer->data = data;
		buffer->capacity = grown;
		/* A NUL also follows if the reserved bytes are never committed. */
		buffer->data[buffer->size] = '\0';
	}
	return buffer->data + buffer->size;
}

void buffer_commit(struct buffer *buffer, size_t size)
{
	buffer->size += size;
	buffer->data[buffer->size] = '\0';
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
	void *room = buffer_reserve(buffer, size);

	if (!room)
		return;
	if (size)
		memcpy(room, bytes, size);
	buffer_commit(buffer, size);
}

void buffer_append_string(struct buffer *buffer, const char *string)
{
	buffer_append(buffer, string, strlen(string));
}

void buffer_append_byte(struct buffer *buffer, uint8_t byte)
{
	buffer_append(buffer, &byte, 1);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args, again;
	int size;
	char *room;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	room = size < 0 ? NULL : buffer_reserve(buffer, (size_t)size);
	if (room) {
		vsnprintf(room, (size_t)size + 1, format, again);
		buffer_commit(buffer, (size_t)size);
	} else {
		buffer->failed = true;
	}
	va_end(again);
}

void buffer_append_varint(struct buffer *buffer, uint64_t value)
{
	enum { MAX_BYTES = 10 };
	uint8_t *room = buffer_reserve(buffer, MAX_BYTES);
	size_t size = 0;

	if (!room)
		return;
	for (; value >= 0x80; value >>= 7)
		room[size++] = (uint8_t)(value | 0x80);
	room[size++] = (uint8_t)value;
	buffer_commit(buffer, size);
}

void buffer_append_zigzag(struct buffer *buffer, int64_t value)
{
	buffer_append_varint(buffer, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void buffer_pass_on(struct buffer *buffer)
{
	enum { PIECE_BYTES = 1 << 20 };

	if (!buffer->sink || buffer->failed || buffer->size < PIECE_BYTES)
		return;
	if (!buffer->sink->take(buffer->sink, buffer->data, buffer->size)) {
		buffer->failed = true;
		return;
	}
	buffer->passed += buffer->size;
	buffer->max_bytes -= buffer->size;
	buffer->size = 0;
	buffer->data[0] = '\0';
}

bool buffer_ok(const struct buffer *buffer, struct error *err)
{
	if (!buffer->failed)
		return true;
	if (buffer->over_limit)
		return error_set(err, ERROR_LIMIT, "more than %zu bytes", buffer->max_bytes + buffer->passed);
	return error_set_memory(err);
}
