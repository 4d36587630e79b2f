/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the protobuf message of a JSON text ("JSON Protobuf Encoding" of the OTLP specification): names in camel case
 * or as in the .proto file, numbers of 64 bits as texts or as numbers.
 */
#include "profile/foreign/json/reader.h"
#include "profile/foreign/otlp/convert.h"

#include <ctype.h>
#include <string.h>

enum { LENGTH_BYTES = 5 };

/* `timeUnixNano` is time_unix_nano. */
static bool from_json_is_name(struct json_reader_string key, const char *name)
{
	for (size_t i = 0; i < key.size; i++) {
		char c = key.text[i];

		if (isupper((unsigned char)c) && *name++ != '_')
			return false;
		if (!*name || *name++ != tolower((unsigned char)c))
			return false;
	}
	return *name == '\0';
}

static const ProtobufCFieldDescriptor *find_field(
	const ProtobufCMessageDescriptor *message, struct json_reader_string key)
{
	for (size_t i = 0; i < message->n_fields; i++)
		if (from_json_is_name(key, message->fields[i].name))
			return &message->fields[i];
	return NULL;
}

static void append_tag(struct buffer *out, uint32_t id, uint32_t wire_type)
{
	buffer_append_varint(out, (uint64_t)id << 3 | wire_type);
}

/* Returns a number of 64 bits, exactly: with or without quotes, a sign and zeros as decimals. */
static uint64_t from_json_number_of(struct json_reader *json)
{
	struct json_reader_string text;
	const char *at, *end;
	uint64_t number = 0;
	bool is_negative;

	if (json_reader_peek(json) == '"') {
		text = json_reader_text(json);
	} else {
		text.text = json->at;
		json_reader_skip(json);
		text.size = (size_t)(json->at - text.text);
	}
	at = text.text;
	end = at + text.size;
	is_negative = at < end && *at == '-';
	at += is_negative;
	if (at == end)
		json_reader_fail(json, "no number where one is expected");
	for (; at < end && isdigit((unsigned char)*at); at++)
		if (!checked_mul(number, 10, &number) || !checked_add(number, (uint64_t)(*at - '0'), &number))
			json_reader_fail(json, "the number has more than 64 bits");
	if (at < end)
		json_reader_fail(json, "no whole number where one is expected");
	return is_negative ? -number : number;
}

static void append_message(struct json_reader *json, const ProtobufCMessageDescriptor *message, struct buffer *out);

/* The length is known afterwards; it always has the room of the longest one. */
static void append_inner(struct json_reader *json, const ProtobufCFieldDescriptor *field, struct buffer *out)
{
	static const char room[LENGTH_BYTES];
	size_t start, size;

	append_tag(out, field->id, 2);
	buffer_append(out, room, sizeof(room));
	start = out->size;
	append_message(json, field->descriptor, out);
	if (out->failed)
		return;
	size = out->size - start;
	for (size_t i = 0; i < LENGTH_BYTES; i++, size >>= 7)
		out->data[start - LENGTH_BYTES + i] = (char)((size & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

static void append_value(struct json_reader *json, const ProtobufCFieldDescriptor *field, struct buffer *out)
{
	struct json_reader_string text;
	uint64_t number;

	if (json_reader_peek(json) == 'n') {
		json_reader_skip(json);
		return;
	}
	if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		append_inner(json, field, out);
	} else if (field->type == PROTOBUF_C_TYPE_BYTES) {
		text = json_reader_text(json);
		proto_append_bytes(out, field->id, text.text, text.size);
	} else {
		number = from_json_number_of(json);
		append_tag(out, field->id, field->type == PROTOBUF_C_TYPE_FIXED64);
		if (field->type == PROTOBUF_C_TYPE_FIXED64)
			buffer_append(out, &number, sizeof(number));
		else
			buffer_append_varint(out, number);
	}
}

/* Messages hold no messages of their own kind, so the nesting is that of the schema. */
static void append_message( // NOLINT(misc-no-recursion)
	struct json_reader *json, const ProtobufCMessageDescriptor *message, struct buffer *out)
{
	struct json_reader_string key;

	json_reader_enter(json, '{');
	while (json_reader_key(json, &key)) {
		const ProtobufCFieldDescriptor *field = find_field(message, key);

		if (!field) {
			json_reader_skip(json);
		} else if (json_reader_peek(json) == '[') {
			json_reader_enter(json, '[');
			while (json_reader_item(json))
				append_value(json, field, out);
		} else {
			append_value(json, field, out);
		}
	}
}

bool otlp_from_json(const void *text, size_t size, struct buffer *out, struct error *err)
{
	struct json_reader json;
	bool ok;

	json_reader_init(&json, text, size);
	append_message(&json, &otlp__profiles_data__descriptor, out);
	ok = json_reader_ok(&json, err) && buffer_ok(out, err);
	if (ok && json_reader_peek(&json) != '\0')
		ok = error_set(err, ERROR_UNSUPPORTED,
			"it holds several OTLP messages, one a line; give the lines as files of their own: split -l 1");
	json_reader_deinit(&json);
	return ok;
}
