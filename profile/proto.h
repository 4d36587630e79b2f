/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

/*
 * Messages, read and written by the description that protobuf-c generates from a .proto file: a field's number, type
 *and name stand there alone. Here a field is known by its member, which is the offset in the generated struct:
 *
 *	Pprof__Location location = PPROF__LOCATION__INIT;
 *	struct protobuf_field field;
 *
 *	while (protobuf_next_field(&message, &field)) {
 *		proto_set_member(&location.base, &field);
 *		if (proto_member(&pprof__location__descriptor, field.id) == offsetof(Pprof__Location, line))
 *			...
 *	}
 */

/* NULL: the message has no field of this number. */
static inline const ProtobufCFieldDescriptor *proto_describe(const ProtobufCMessageDescriptor *message, uint32_t id)
{
	/* Nearly all messages number their fields from 1 on without gaps. */
	if (id - 1 < message->n_fields && message->fields[id - 1].id == id)
		return &message->fields[id - 1];
	return protobuf_c_message_descriptor_get_field(message, id);
}

/* Returns the member of a field; 0: the message has no field of this number. */
static inline size_t proto_member(const ProtobufCMessageDescriptor *message, uint32_t id)
{
	const ProtobufCFieldDescriptor *field = proto_describe(message, id);

	return field ? field->offset : 0;
}

/* Returns the number of a member's field. */
uint32_t proto_number_of(const ProtobufCMessageDescriptor *message, size_t member);

/*
 * Sets a member that is a number. Of a repeated member only the count is set, to the number of pieces with a length. A
 * number that is too large for 32 bits becomes UINT32_MAX, which is no valid index.
 */
void proto_set_member(ProtobufCMessage *message, const struct protobuf_field *field);

/* Sets the members of a whole message. False: it is malformed. */
COMMON_MUST_CHECK
bool proto_set_members(ProtobufCMessage *message, struct byte_reader bytes);

/* A walk over the entries of one member of a message. */
struct proto_walk {
	struct byte_reader left;
	uint32_t id;
};

struct proto_walk proto_walk(struct byte_reader bytes, const ProtobufCMessageDescriptor *message, size_t member);

/* Moves to the next entry: while (proto_next_entry(&walk, &entry)) ... False at the end, and where it is malformed. */
static inline bool proto_next_entry(struct proto_walk *walk, struct byte_reader *entry)
{
	struct protobuf_field field;

	while (protobuf_next_field(&walk->left, &field)) {
		if (field.id != walk->id || !field.has_bytes)
			continue;
		*entry = field.bytes;
		return true;
	}
	return false;
}

/* Appends the fields of a message. */
void proto_pack(struct buffer *out, const ProtobufCMessage *message);

/* Append a field that has a length: bytes, or a message, in which the fields of `more` (NULL: none) follow its own. */
void proto_append_bytes(struct buffer *out, uint32_t id, const void *bytes, size_t size);
void proto_append(struct buffer *out, uint32_t id, const ProtobufCMessage *message, const struct buffer *more);
