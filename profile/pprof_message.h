/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stddef.h>

#include "pprof.pb-c.h"

/*
 * Messages of pprof.proto, read by the description that protobuf-c generates from it. The writer packs its messages by
 * the same one, so a field's number and type stand in pprof.proto alone. Here a field is known by its member, which is
 * the offset in the generated struct:
 *
 *	Pprof__Location location = PPROF__LOCATION__INIT;
 *	struct protobuf_field field;
 *
 *	while (protobuf_next_field(&message, &field)) {
 *		pprof_set_member(&location.base, &field);
 *		if (pprof_member(&pprof__location__descriptor, field.id) == offsetof(Pprof__Location, line))
 *			...
 *	}
 */

/* NULL: the message has no field of this number. */
static inline const ProtobufCFieldDescriptor *pprof_describe(const ProtobufCMessageDescriptor *message, uint32_t id)
{
	/* Nearly all messages number their fields from 1 on without gaps. */
	if (id - 1 < message->n_fields && message->fields[id - 1].id == id)
		return &message->fields[id - 1];
	return protobuf_c_message_descriptor_get_field(message, id);
}

/* Returns the member of a field; 0: the message has no field of this number. */
static inline size_t pprof_member(const ProtobufCMessageDescriptor *message, uint32_t id)
{
	const ProtobufCFieldDescriptor *field = pprof_describe(message, id);

	return field ? field->offset : 0;
}

/* Returns the number of a member's field. */
uint32_t pprof_number_of(const ProtobufCMessageDescriptor *message, size_t member);

/*
 * Sets a member that is a number. Of a repeated member only the count is set, to the number of pieces with a length. A
 * number that is too large for 32 bits becomes UINT32_MAX, which is no valid index.
 */
void pprof_set_member(ProtobufCMessage *message, const struct protobuf_field *field);

/* Sets the members of a whole message. False: it is malformed. */
COMMON_MUST_CHECK
bool pprof_set_members(ProtobufCMessage *message, struct byte_reader bytes);

/* A walk over the entries of one member of a message. */
struct pprof_walk {
	struct byte_reader left;
	uint32_t id;
};

struct pprof_walk pprof_walk(struct byte_reader bytes, const ProtobufCMessageDescriptor *message, size_t member);

/* Moves to the next entry: while (pprof_next_entry(&walk, &entry)) ... False at the end, and where it is malformed. */
static inline bool pprof_next_entry(struct pprof_walk *walk, struct byte_reader *entry)
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

static inline int64_t pprof_zigzag(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/* The index of a field of the extension, which is named by its member, in arrays of all fields. */
#define PPROF_COLUMN(member) (offsetof(Pprof__Extension, member) / sizeof(size_t))
enum { PPROF_COLUMNS = sizeof(Pprof__Extension) / sizeof(size_t) };
