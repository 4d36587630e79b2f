/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/otlp/convert.h"

#include <stdlib.h>
#include <string.h>

/* The greatest size that a converted file may have: a stack that many samples share stands in each sample of pprof. */
static const size_t least_converted_bytes = (size_t)64 << 20, most_converted_bytes = (size_t)2 << 30;
enum { CONVERTED_RATIO = 40 };

/* ---- Recognition ---- */

bool otlp_is(const void *bytes, size_t size)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t tag = protobuf_varint(&r), length = protobuf_varint(&r), inner = protobuf_varint(&r);

	if (r.failed || length < 2 || (inner & 7) != 2)
		return false;
	/* pprof's field 1 has two numbers; a resource's three fields have lengths. */
	if (tag == (OTLP_DATA(resource_profiles) << 3 | 2))
		return inner >> 3 >= 1 && inner >> 3 <= 3;
	/* pprof's field 2 is a sample, of which the first stack is hardly empty; the first mapping is, as is told. */
	return tag == (OTLP_DATA(dictionary) << 3 | 2) && inner >> 3 == OTLP_DICTIONARY(mapping_table) &&
	       protobuf_varint(&r) == 0 && !r.failed;
}

static void skip_space(struct text_cursor *text)
{
	while (text->at < text->end && *text->at && strchr(" \t\r\n", *text->at))
		text->at++;
}

bool otlp_is_json(const char *text, size_t size)
{
	static const char *const words[] = { "\"resourceProfiles\"", "\"resource_profiles\"", "\"dictionary\"" };
	struct text_cursor left = text_over(text, size);

	skip_space(&left);
	if (!text_take_byte(&left, '{'))
		return false;
	skip_space(&left);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (text_starts_with(left, words[i]))
			return true;
	return false;
}

/* ---- Helpers of all parts ---- */

struct otlp_place otlp_place_of(const struct otlp_reader *r, const struct byte_reader *bytes)
{
	if (!bytes->pos)
		return (struct otlp_place){ 0 };
	return (struct otlp_place){ (uint32_t)(bytes->pos - r->file.start), (uint32_t)byte_reader_left(bytes) };
}

struct byte_reader otlp_bytes_at(const struct otlp_reader *r, struct otlp_place place)
{
	return byte_reader_over(r->file.start + place.start, place.size);
}

bool otlp_next(struct byte_reader *message, uint32_t id, struct byte_reader *inner)
{
	struct protobuf_field field;

	while (protobuf_next_field(message, &field)) {
		if (field.id != id || !field.has_bytes)
			continue;
		*inner = field.bytes;
		return true;
	}
	return false;
}

static bool otlp_fail(const char *what, struct error *err)
{
	return error_set(err, ERROR_FORMAT, "%s is malformed: it is no OTLP profile, or cut off; copy it again", what);
}

bool otlp_check(const struct byte_reader *message, const char *what, struct error *err)
{
	return byte_reader_ok(message) || otlp_fail(what, err);
}

bool otlp_set_members(ProtobufCMessage *message, struct byte_reader bytes, const char *what, struct error *err)
{
	return proto_set_members(message, bytes) || otlp_fail(what, err);
}

int64_t otlp_add_string(struct otlp_reader *r, const void *text, size_t size)
{
	proto_append_bytes(&r->out, PPROF_PROFILE(string_table), text, size);
	return (int64_t)r->string_count++;
}

/* ---- The profile ---- */

/* A label whose value is no text that labels may have is left out. */
static bool otlp_read_set_labels(const struct otlp_reader *r, struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < OTLP_LABELS; i++) {
		struct byte_reader text = otlp_bytes_at(r, r->labels[i].value);
		size_t size = byte_reader_left(&text);
		char value[PROFILE_LABEL_VALUE_BYTES + 1];
		struct error unusable;

		if (!r->labels[i].is_met || r->labels[i].differs || size >= sizeof(value))
			continue;
		memcpy(value, text.pos, size);
		value[size] = '\0';
		if (profile_label_check(otlp_label_keys[i], value, &unusable) &&
			!profile_set_label(profile, otlp_label_keys[i], value, err))
			return false;
	}
	return true;
}

/*
 * The count of samples that is a sample type of its own counts no others: their number is not known. The pprof of such
 * a file looks as if it were.
 */
static void settle_counts(const struct otlp_reader *r, struct profile *profile)
{
	for (uint32_t i = 1; r->type_count > 1 && i < profile->value_type_count; i++)
		profile->counts_of[i] = PROFILE_NONE;
}

static void otlp_reader_deinit(struct otlp_reader *r)
{
	buffer_deinit(&r->out);
	buffer_deinit(&r->sample);
	buffer_deinit(&r->packed);
	free(r->strings);
	free(r->stacks);
	free(r->attributes);
}

static size_t converted_limit(size_t size)
{
	size_t limit = size < most_converted_bytes / CONVERTED_RATIO ? size * CONVERTED_RATIO : most_converted_bytes;

	return limit < least_converted_bytes ? least_converted_bytes : limit;
}

static bool read_protobuf(
	const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err)
{
	CLEANUP(otlp_reader_deinit) struct otlp_reader r = { .file = byte_reader_over(bytes, size) };
	CLEANUP(profile_cleanup) struct profile *made = NULL;

	if (size > UINT32_MAX)
		return error_set(err, ERROR_LIMIT, "more than 4 GiB");
	buffer_init(&r.out, converted_limit(size));
	buffer_init(&r.sample, converted_limit(size));
	buffer_init(&r.packed, converted_limit(size));
	if (!otlp_read_dictionary(&r, err) || !otlp_read_samples(&r, err) || !buffer_ok(&r.sample, err) ||
		!buffer_ok(&r.packed, err) || !buffer_ok(&r.out, err) ||
		!profile_read_pprof(r.out.data, r.out.size, most_stacks, &made, err) ||
		!otlp_read_set_labels(&r, made, err))
		return false;
	settle_counts(&r, made);
	*profile = TAKE(made);
	return true;
}

bool otlp_read(
	const void *bytes, size_t size, bool is_json, size_t most_stacks, struct profile **profile, struct error *err)
{
	struct buffer message;
	bool ok;

	if (!is_json)
		return read_protobuf(bytes, size, most_stacks, profile, err);
	buffer_init(&message, converted_limit(size));
	ok = otlp_from_json(bytes, size, &message, err) &&
	     read_protobuf(message.data ? message.data : "", message.size, most_stacks, profile, err);
	buffer_deinit(&message);
	return ok;
}
