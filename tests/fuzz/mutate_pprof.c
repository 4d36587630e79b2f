/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_pprof.h"

#include "common/gzip.h"
#include "profile/pprof_message.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_DEPTH = 4, VARINT_BYTES = 10, MOST_GROWTH = 16 };

struct message {
	struct protobuf_field *fields; /* owned */
	size_t count, capacity;
};

static bool message_read(struct byte_reader bytes, struct message *message)
{
	struct protobuf_field field;
	struct error err;

	*message = (struct message){ 0 };
	while (protobuf_next_field(&bytes, &field)) {
		if (!ARRAY_RESERVE(&message->fields, &message->capacity, message->count + 1, MOST_BYTES, &err))
			return false;
		message->fields[message->count++] = field;
	}
	return byte_reader_ok(&bytes) && message->count > 0;
}

static void put_varint(struct buffer *out, uint64_t value)
{
	if (buffer_reserve(out, VARINT_BYTES))
		buffer_append_varint(out, value);
}

/* The start of a field with bytes, of which `number` follow, or a number. Those of a fixed size become varints, which
 * the reader takes too. */
static void put_field(struct buffer *out, uint32_t id, bool has_bytes, uint64_t number)
{
	put_varint(out, (uint64_t)id << 3 | (has_bytes ? 2 : 0));
	put_varint(out, number);
}

static void put_unchanged(struct buffer *out, const struct protobuf_field *field)
{
	size_t size = byte_reader_left(&field->bytes);

	put_field(out, field->id, field->has_bytes, field->has_bytes ? size : field->number);
	if (field->has_bytes)
		buffer_append(out, field->bytes.pos, size);
}

/* ---- Contents with a length ---- */

/* Half of them smaller: most numbers refer to an entry of a table, whose size is not known here. */
static uint64_t another_number(struct mutation *m, uint64_t old)
{
	return mutation_below(m, 2) && old < SIZE_MAX ? mutation_below(m, old + 1) : mutation_number(m, old);
}

static void mutate_column(struct mutation *m, struct byte_reader column, struct buffer *out)
{
	size_t chosen = mutation_below(m, protobuf_count_varints(&column)), change = mutation_below(m, 8);

	for (size_t i = 0; byte_reader_left(&column) > 0 && byte_reader_ok(&column); i++) {
		uint64_t number = protobuf_varint(&column);

		if (i != chosen) {
			put_varint(out, number);
			continue;
		}
		if (change > 1)
			put_varint(out, another_number(m, number));
		if (change == 1 || change == 2)
			put_varint(out, number);
	}
}

static bool is_string(const ProtobufCMessageDescriptor *type, uint32_t id)
{
	return type == &pprof__profile__descriptor && proto_member(type, id) == offsetof(Pprof__Profile, string_table);
}

static void mutate_bytes(struct mutation *m, const ProtobufCMessageDescriptor *type, const struct protobuf_field *field,
	struct buffer *out)
{
	struct mutation_span span = { field->bytes.pos, byte_reader_left(&field->bytes) };

	if (type == &pprof__extension__descriptor &&
		proto_member(type, field->id) == offsetof(Pprof__Extension, function_fingerprint)) {
		size_t at = out->size;

		buffer_append(out, span.bytes, span.size);
		if (!out->failed)
			mutation_in_place(m, (uint8_t *)out->data + at, span.size);
	} else if (is_string(type, field->id) || mutation_below(m, 16) == 0) {
		mutation_append_blind(&span, MOST_GROWTH, out);
	} else {
		mutate_column(m, field->bytes, out);
	}
}

/* ---- Messages ---- */

/* What a field with a length holds if that is a message; NULL: a column of numbers, or text. */
static const ProtobufCMessageDescriptor *nested_in(const ProtobufCMessageDescriptor *type, uint32_t id)
{
	const ProtobufCFieldDescriptor *field = proto_describe(type, id);

	return field && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
}

static void mutate_message(struct mutation *m, const ProtobufCMessageDescriptor *type, struct byte_reader bytes,
	unsigned int depth, struct buffer *out);

static void put_changed(struct mutation *m, const ProtobufCMessageDescriptor *type, const struct protobuf_field *field,
	unsigned int depth, struct buffer *out)
{
	const ProtobufCMessageDescriptor *nested = nested_in(type, field->id);
	struct buffer content;

	if (!field->has_bytes) {
		put_field(out, field->id, false, another_number(m, field->number));
		return;
	}
	buffer_init(&content, MOST_BYTES);
	if (nested && depth < MOST_DEPTH)
		mutate_message(m, nested, field->bytes, depth + 1, &content);
	else
		mutate_bytes(m, type, field, &content);
	put_field(out, field->id, true, content.size);
	buffer_append(out, content.data, content.size);
	buffer_deinit(&content);
}

/* Whether the reader refuses the whole if the field is changed: ids of entries, and the first string, which is empty.
 */
static bool is_fixed(const ProtobufCMessageDescriptor *type, const struct protobuf_field *field)
{
	if (is_string(type, field->id))
		return byte_reader_left(&field->bytes) == 0;
	/* The id is the first member of all three. */
	return (type == &pprof__mapping__descriptor || type == &pprof__function__descriptor ||
		       type == &pprof__location__descriptor) &&
	       proto_member(type, field->id) == offsetof(Pprof__Mapping, id);
}

/* Most fields are strings or samples: half of the time one that stands where another id begins is chosen. */
static size_t choose_field(struct mutation *m, const ProtobufCMessageDescriptor *type, const struct message *message)
{
	bool is_any = mutation_below(m, 2) == 0;
	size_t chosen = mutation_below(m, message->count);

	for (size_t i = 1, seen = 0; !is_any && i < message->count; i++)
		if (message->fields[i].id != message->fields[i - 1].id && mutation_below(m, ++seen) == 0)
			chosen = i;
	if (is_fixed(type, &message->fields[chosen]) && mutation_below(m, 16) > 0)
		chosen = (chosen + 1) % message->count;
	return chosen;
}

enum change { LEAVE_OUT, REPEAT, EXCHANGE, CHANGE };
enum { CHANGES = 12 /* those from CHANGE on are one */ };

static void mutate_message(struct mutation *m, const ProtobufCMessageDescriptor *type, struct byte_reader bytes,
	unsigned int depth, struct buffer *out)
{
	struct message message;

	if (message_read(bytes, &message)) {
		size_t chosen = choose_field(m, type, &message), other = choose_field(m, type, &message);
		enum change change = (enum change)mutation_below(m, CHANGES);

		for (size_t i = 0; i < message.count; i++) {
			const struct protobuf_field *field = &message.fields[i];

			if (change == EXCHANGE && (i == chosen || i == other))
				put_unchanged(out, &message.fields[i == chosen ? other : chosen]);
			else if (i != chosen || change == REPEAT)
				put_unchanged(out, field);
			if (i == chosen && (change == REPEAT || change >= CHANGE))
				put_changed(m, type, field, depth, out);
		}
	}
	free(message.fields);
}

static void put_gzipped(const struct buffer *plain, struct buffer *out)
{
	struct error err;

	if (!plain->failed && plain->size > 0 && !gzip_compress(plain->data, plain->size, out, &err))
		out->failed = true;
}

void mutate_pprof(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out)
{
	bool is_packed = gzip_is(bytes, size);
	struct buffer inflated, changed;
	struct error err;

	buffer_init(&inflated, MOST_BYTES);
	buffer_init(&changed, MOST_BYTES);
	if (is_packed && gzip_decompress(bytes, size, &inflated, &err)) {
		bytes = (const uint8_t *)inflated.data;
		size = inflated.size;
	}
	mutate_message(m, &pprof__profile__descriptor, byte_reader_over(bytes, size), 0, &changed);
	/* Unpacked ones are faster, and the engine's own changes get further in them. */
	if (is_packed && mutation_below(m, 4) == 0)
		put_gzipped(&changed, out);
	else
		buffer_append(out, changed.data, changed.size);
	out->failed |= changed.failed;
	buffer_deinit(&inflated);
	buffer_deinit(&changed);
}
