/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/byte_reader.h"

/*
 * Protobuf's wire format (protobuf.dev, "Encoding"), as a walk over the fields of a message. Foreign profiles are read
 * this way: each message is handled where it stands, so that a hostile file of many empty messages does not allocate
 * one object for each. What the fields mean is in profile/proto.h.
 */

/* A field's content: `number` of a varint or fixed-size number, `bytes` of a field with a length. */
struct protobuf_field {
	uint64_t number;
	struct byte_reader bytes;
	uint32_t id;
	bool has_bytes;
};

static inline uint64_t protobuf_varint(struct byte_reader *r)
{
	const uint8_t *pos = r->pos;

	if (r->end - pos < 3 || r->failed)
		return byte_reader_uleb128(r);
	if (pos[0] < 0x80) {
		r->pos += 1;
		return pos[0];
	}
	if (pos[1] < 0x80) {
		r->pos += 2;
		return (uint64_t)pos[1] << 7 | (pos[0] & 0x7f);
	}
	if (pos[2] < 0x80) {
		r->pos += 3;
		return (uint64_t)pos[2] << 14 | (uint64_t)(pos[1] & 0x7f) << 7 | (pos[0] & 0x7f);
	}
	return byte_reader_uleb128(r);
}

/* Splits as byte_reader_split() does. */
static inline struct byte_reader protobuf_split(struct byte_reader *r, uint64_t size)
{
	const uint8_t *start = r->pos;

	if (r->failed || size > byte_reader_left(r)) {
		r->failed = true;
		return (struct byte_reader){ .failed = true };
	}
	r->pos += size;
	return (struct byte_reader){ .start = start, .pos = start, .end = start + size };
}

static inline int64_t protobuf_zigzag(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/*
 * Reads the next field; false at the end of the message and where it is malformed: byte_reader_ok() tells the two
 * apart.
 */
static inline bool protobuf_next_field(struct byte_reader *message, struct protobuf_field *field)
{
	uint64_t tag;

	if (message->failed || message->pos == message->end)
		return false;
	tag = protobuf_varint(message);
	*field = (struct protobuf_field){ .id = (uint32_t)(tag >> 3), .has_bytes = (tag & 7) == 2 };
	message->failed |= tag >> 3 == 0 || tag >> 3 > UINT32_MAX;
	switch (tag & 7) {
	case 0:
		field->number = protobuf_varint(message);
		break;
	case 1:
		field->number = byte_reader_u64(message);
		break;
	case 2:
		field->bytes = protobuf_split(message, protobuf_varint(message));
		break;
	case 5:
		field->number = byte_reader_u32(message);
		break;
	default:
		message->failed = true;
	}
	return byte_reader_ok(message);
}

/*
 * Reads the next number of a repeated field, packed or not: while (protobuf_next_number(&field, &number)) ... A packed
 * column that is malformed marks `message` failed.
 */
static inline bool protobuf_next_number(struct byte_reader *message, struct protobuf_field *field, uint64_t *number)
{
	if (!field->has_bytes) {
		*number = field->number;
		field->has_bytes = true;
		field->bytes = byte_reader_over(NULL, 0);
		return true;
	}
	if (field->bytes.pos == field->bytes.end)
		return false;
	*number = protobuf_varint(&field->bytes);
	message->failed |= field->bytes.failed;
	return !message->failed;
}

/* Counts the numbers of a packed column: each ends with a byte below 128. */
size_t protobuf_count_varints(const struct byte_reader *column);

/*
 * The number of bytes, at the ends of both columns, that are the same whole numbers. Stacks stand leaf first, so these
 * are the frames that two stacks share from the root on, which need not be read twice.
 */
size_t protobuf_shared_tail(const struct byte_reader *a, const struct byte_reader *b);
