/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void protobuf_varint(struct buffer *out, unsigned int field, uint64_t value)
{
	buffer_append_varint(out, field << 3 | WIRE_VARINT);
	buffer_append_varint(out, value);
}

void protobuf_bytes(struct buffer *out, unsigned int field, const void *bytes, size_t size)
{
	buffer_append_varint(out, field << 3 | WIRE_BYTES);
	buffer_append_varint(out, size);
	buffer_append(out, bytes, size);
}

void protobuf_string(struct buffer *out, unsigned int field, const char *string)
{
	protobuf_bytes(out, field, string, strlen(string));
}

void protobuf_message(struct buffer *out, unsigned int field, struct buffer *message)
{
	protobuf_bytes(out, field, message->data ? message->data : "", message->size);
	message->size = 0;
}
