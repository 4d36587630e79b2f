/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/pprof_writer.h"

#include <string.h>

void *pprof_take(struct pprof_writer *w, size_t count, size_t size)
{
	void *memory = arena_alloc_array(&w->arena, count ? count : 1, size, 16);

	if (!memory)
		w->ok = false;
	return memory;
}

void **pprof_take_messages(struct pprof_writer *w, size_t count, size_t size)
{
	void **pointers = pprof_take(w, count, sizeof(*pointers));
	char *messages = pprof_take(w, count, size);

	for (size_t i = 0; w->ok && i < count; i++)
		pointers[i] = messages + i * size;
	return pointers;
}

uint32_t pprof_number_of(const ProtobufCMessageDescriptor *message, size_t member)
{
	const ProtobufCFieldDescriptor *field = message->fields;

	while (field->offset != member)
		field++;
	return field->id;
}

static void pprof_message_set_number(void *at, ProtobufCType type, uint64_t number)
{
	if (type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_INT64 || type == PROTOBUF_C_TYPE_FIXED64 ||
		type == PROTOBUF_C_TYPE_DOUBLE)
		memcpy(at, &number, sizeof(number));
	else if (type == PROTOBUF_C_TYPE_UINT32)
		*(uint32_t *)at = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
	else if (type == PROTOBUF_C_TYPE_INT32)
		*(int32_t *)at = (int32_t)number;
	else if (type == PROTOBUF_C_TYPE_SINT32)
		*(int32_t *)at = (int32_t)pprof_zigzag(number);
	else if (type == PROTOBUF_C_TYPE_BOOL)
		*(protobuf_c_boolean *)at = number != 0;
}

void pprof_set_member(ProtobufCMessage *message, const struct protobuf_field *field)
{
	const ProtobufCFieldDescriptor *member = pprof_describe(message->descriptor, field->id);

	if (member && member->label != PROTOBUF_C_LABEL_REPEATED) {
		pprof_message_set_number((char *)message + member->offset, member->type, field->number);
	} else if (member) {
		size_t *count = (void *)((char *)message + member->quantifier_offset);

		*count += field->has_bytes;
	}
}

bool pprof_set_members(ProtobufCMessage *message, struct byte_reader bytes)
{
	struct protobuf_field field;

	while (protobuf_next_field(&bytes, &field))
		pprof_set_member(message, &field);
	return byte_reader_ok(&bytes);
}

struct pprof_walk pprof_walk(struct byte_reader bytes, const ProtobufCMessageDescriptor *message, size_t member)
{
	return (struct pprof_walk){ bytes, pprof_number_of(message, member) };
}
