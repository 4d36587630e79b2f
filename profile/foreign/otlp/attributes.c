/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes, by the names of OpenTelemetry's semantic conventions. */
#include "profile/foreign/otlp/convert.h"

#include <string.h>

/* The first one of several keys with one meaning is written. */
static const struct {
	const char *key;
	enum otlp_meaning meaning;
} keys[] = {
	{ "process.pid", OTLP_MEANS_PID },
	{ "process.executable.name", OTLP_MEANS_PROCESS },
	{ "thread.id", OTLP_MEANS_TID },
	{ "thread.name", OTLP_MEANS_THREAD },
	{ "profile.frame.type", OTLP_MEANS_KERNEL },
	{ "process.executable.build_id.gnu", OTLP_MEANS_BUILD_ID },
	{ "service.name", OTLP_MEANS_SERVICE },
	{ "service.version", OTLP_MEANS_VERSION },
	{ "deployment.environment.name", OTLP_MEANS_ENVIRONMENT },
	{ "deployment.environment", OTLP_MEANS_ENVIRONMENT },
	{ "host.name", OTLP_MEANS_HOST },
	{ "container.id", OTLP_MEANS_CONTAINER },
};

const char *const otlp_label_keys[OTLP_LABELS] = { PROFILE_LABEL_SERVICE, PROFILE_LABEL_VERSION,
	PROFILE_LABEL_ENVIRONMENT, PROFILE_LABEL_HOST, "container.id" };

enum otlp_meaning otlp_meaning_of(const struct byte_reader *key)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (text_is(otlp_text(key), keys[i].key))
			return keys[i].meaning;
	return OTLP_MEANS_NOTHING;
}

const char *otlp_key_of(enum otlp_meaning meaning)
{
	size_t i = 0;

	while (i + 1 < sizeof(keys) / sizeof(keys[0]) && keys[i].meaning != meaning)
		i++;
	return keys[i].key;
}

bool otlp_attribute_value(
	struct otlp_reader *r, struct byte_reader value, struct otlp_attribute *attribute, struct error *err)
{
	struct byte_reader text = byte_reader_over(NULL, 0);
	struct protobuf_field field;

	attribute->string = attribute->number = 0;
	while (protobuf_next_field(&value, &field)) {
		size_t member = proto_member(&otlp__any_value__descriptor, field.id);

		if (member == offsetof(Otlp__AnyValue, int_value))
			attribute->number = (int64_t)field.number;
		if (member == offsetof(Otlp__AnyValue, string_value_strindex) && field.number < r->dictionary_strings) {
			attribute->string = (int64_t)field.number;
			text = otlp_bytes_at(r, r->strings[field.number]);
		}
		if (member == offsetof(Otlp__AnyValue, string_value) && field.has_bytes) {
			text = field.bytes;
			attribute->string = otlp_add_string(r, text.pos, byte_reader_left(&text));
		}
	}
	attribute->text = otlp_place_of(r, &text);
	if (attribute->meaning == OTLP_MEANS_KERNEL && !text_is(otlp_text(&text), OTLP_FRAME_KERNEL))
		attribute->meaning = OTLP_MEANS_NOTHING;
	return otlp_check(&value, "the value of an attribute", err);
}

void otlp_owner_take(struct otlp_owner *owner, const struct otlp_attribute *attribute)
{
	if (attribute->meaning == OTLP_MEANS_PID)
		owner->pid = attribute->number;
	if (attribute->meaning == OTLP_MEANS_TID)
		owner->tid = attribute->number;
	if (attribute->meaning == OTLP_MEANS_PROCESS)
		owner->process = attribute->string;
	if (attribute->meaning == OTLP_MEANS_THREAD)
		owner->thread = attribute->string;
}

const struct otlp_attribute *otlp_attribute_at(const struct otlp_reader *r, uint64_t index)
{
	return index < r->attribute_count ? &r->attributes[index] : NULL;
}

bool otlp_owner_take_field(struct otlp_reader *r, struct byte_reader *message, struct protobuf_field *field,
	struct otlp_owner *owner, struct otlp_sample_labels *labels, struct error *err)
{
	uint64_t index;

	while (protobuf_next_number(message, field, &index)) {
		const struct otlp_attribute *attribute = otlp_attribute_at(r, index);

		if (!attribute)
			return error_set(err, ERROR_FORMAT, "sample %zu references attribute %llu, which is not there",
				r->sample_count, (unsigned long long)index);
		otlp_owner_take(owner, attribute);
		if (labels && attribute->key != 0 && labels->count < PROFILE_MAX_SAMPLE_LABELS)
			labels->attributes[labels->count++] = (uint32_t)index;
	}
	return true;
}

/* ---- Resources ---- */

static void attributes_take_label(struct otlp_reader *r, const struct otlp_attribute *attribute)
{
	struct otlp_label *label = &r->labels[attribute->meaning - OTLP_MEANS_SERVICE];
	struct byte_reader before = otlp_bytes_at(r, label->value), now = otlp_bytes_at(r, attribute->text);

	label->differs |= label->is_met && (byte_reader_left(&before) != byte_reader_left(&now) ||
						   memcmp(before.pos, now.pos, byte_reader_left(&now)) != 0);
	label->is_met = true;
	label->value = attribute->text;
}

static bool attributes_read_pair(
	struct otlp_reader *r, struct byte_reader pair, struct otlp_attribute *attribute, struct error *err)
{
	struct byte_reader key = byte_reader_over(NULL, 0), value = key;
	struct protobuf_field field;

	while (protobuf_next_field(&pair, &field)) {
		size_t member = proto_member(&otlp__pair__descriptor, field.id);

		if (member == offsetof(Otlp__Pair, key) && field.has_bytes)
			key = field.bytes;
		if (member == offsetof(Otlp__Pair, key_strindex) && field.number < r->dictionary_strings)
			key = otlp_bytes_at(r, r->strings[field.number]);
		if (member == offsetof(Otlp__Pair, value) && field.has_bytes)
			value = field.bytes;
	}
	*attribute = (struct otlp_attribute){ .meaning = otlp_meaning_of(&key) };
	return otlp_check(&pair, "an attribute of a resource", err) &&
	       (attribute->meaning == OTLP_MEANS_NOTHING || otlp_attribute_value(r, value, attribute, err));
}

bool otlp_read_resource(struct otlp_reader *r, struct byte_reader resource, struct otlp_owner *owner, struct error *err)
{
	struct proto_walk walk =
		proto_walk(resource, &otlp__resource__descriptor, offsetof(Otlp__Resource, attributes));
	bool is_met[OTLP_LABELS] = { false };
	struct byte_reader pair;
	struct otlp_attribute attribute;

	while (proto_next_entry(&walk, &pair)) {
		if (!attributes_read_pair(r, pair, &attribute, err))
			return false;
		otlp_owner_take(owner, &attribute);
		if (attribute.meaning < OTLP_MEANS_SERVICE)
			continue;
		is_met[attribute.meaning - OTLP_MEANS_SERVICE] = true;
		attributes_take_label(r, &attribute);
	}
	/* What only some resources say is not true of all. */
	for (size_t i = 0; i < OTLP_LABELS; i++)
		r->labels[i].differs |= !is_met[i];
	return otlp_check(&walk.left, "a resource", err);
}
