/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/proto.h"

#include <string.h>

uint32_t proto_number_of(const ProtobufCMessageDescriptor *message, size_t member)
{
	const ProtobufCFieldDescriptor *field = message->fields;

	while (field->offset != member)
		field++;
	return field->id;
}

static void proto_set_number(void *at, ProtobufCType type, uint64_t number)
{
	if (type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_INT64 || type == PROTOBUF_C_TYPE_FIXED64 ||
		type == PROTOBUF_C_TYPE_DOUBLE)
		memcpy(at, &number, sizeof(number));
	else if (type == PROTOBUF_C_TYPE_UINT32)
		*(uint32_t *)at = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
	else if (type == PROTOBUF_C_TYPE_INT32)
		*(int32_t *)at = (int32_t)number;
	else if (type == PROTOBUF_C_TYPE_SINT32)
		*(int32_t *)at = (int32_t)protobuf_zigzag(number);
	else if (type == PROTOBUF_C_TYPE_BOOL)
		*(protobuf_c_boolean *)at = number != 0;
}

void proto_set_member(ProtobufCMessage *message, const struct protobuf_field *field)
{
	const ProtobufCFieldDescriptor *member = proto_describe(message->descriptor, field->id);

	if (member && member->label != PROTOBUF_C_LABEL_REPEATED) {
		proto_set_number((char *)message + member->offset, member->type, field->number);
	} else if (member) {
		size_t *count = (void *)((char *)message + member->quantifier_offset);

		*count += field->has_bytes;
	}
}

bool proto_set_members(ProtobufCMessage *message, struct byte_reader bytes)
{
	struct protobuf_field field;

	while (protobuf_next_field(&bytes, &field))
		proto_set_member(message, &field);
	return byte_reader_ok(&bytes);
}

struct proto_walk proto_walk(struct byte_reader bytes, const ProtobufCMessageDescriptor *message, size_t member)
{
	return (struct proto_walk){ bytes, proto_number_of(message, member) };
}

void proto_pack(struct buffer *out, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *room = size > 0 ? buffer_reserve(out, size) : NULL;

	if (room)
		buffer_commit(out, protobuf_c_message_pack(message, room));
}

void proto_append_bytes(struct buffer *out, uint32_t id, const void *bytes, size_t size)
{
	buffer_append_varint(out, (uint64_t)id << 3 | 2);
	buffer_append_varint(out, size);
	if (size)
		buffer_append(out, bytes, size);
}

void proto_append(struct buffer *out, uint32_t id, const ProtobufCMessage *message, const struct buffer *more)
{
	size_t more_size = more ? more->size : 0;

	buffer_append_varint(out, (uint64_t)id << 3 | 2);
	buffer_append_varint(out, protobuf_c_message_get_packed_size(message) + more_size);
	proto_pack(out, message);
	if (more_size > 0)
		buffer_append(out, more->data, more_size);
}
