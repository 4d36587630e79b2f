/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads samples, which stand in profiles of one sample type each, which stand in resources. */
#include "profile/foreign/otlp/convert.h"

#include <stdlib.h>
#include <string.h>

/* A walk over the profiles of all resources. */
struct profile_walk {
	struct byte_reader file, resource, scope;
	struct byte_reader whole; /* the resource's message */
	bool is_new;              /* the profile is the first one of its resource */
};

static bool profile_next(struct profile_walk *walk, struct byte_reader *profile)
{
	walk->is_new = false;
	while (!otlp_next(&walk->scope, OTLP_SCOPE_PROFILES, profile)) {
		while (!walk->scope.failed &&
			!otlp_next(&walk->resource, OTLP_RESOURCE_PROFILES_SCOPES, &walk->scope)) {
			if (walk->resource.failed || !otlp_next(&walk->file, OTLP_DATA_RESOURCES, &walk->resource))
				return false;
			walk->whole = walk->resource;
			walk->is_new = true;
		}
		if (walk->scope.failed)
			return false;
	}
	return true;
}

static struct profile_walk profile_walk(const struct otlp_reader *r)
{
	const struct byte_reader none = byte_reader_over(NULL, 0);

	return (struct profile_walk){ r->file, none, none, none, false };
}

static bool profile_check(const struct profile_walk *walk, struct error *err)
{
	return otlp_check(&walk->scope, "a scope", err) && otlp_check(&walk->resource, "a resource", err) &&
	       otlp_check(&walk->file, "the file", err);
}

/* ---- Samples as the file has them ---- */

struct otlp_sample {
	uint64_t stack;
	int64_t value; /* the sum of its values */
	size_t value_count, time_count;
	struct otlp_owner owner;
	struct otlp_sample_labels labels;
};

static bool is_older(struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED,
		"its samples have neither values nor times: it is of OTLP before 1.10, which numbers its fields otherwise; write it with a newer exporter");
}

static bool otlp_samples_take_values(const struct otlp_reader *r, struct byte_reader *message,
	struct protobuf_field *field, struct otlp_sample *sample, struct error *err)
{
	uint64_t number;

	for (; protobuf_next_number(message, field, &number); sample->value_count++)
		if (__builtin_add_overflow(sample->value, (int64_t)number, &sample->value))
			return error_set(err, ERROR_FORMAT, "the values of sample %zu do not fit 63 bits together",
				r->sample_count);
	return true;
}

/* In older versions field 3 had the attributes, and field 2 the values. */
static bool otlp_samples_read_sample(
	struct otlp_reader *r, struct byte_reader message, struct otlp_sample *sample, struct error *err)
{
	struct protobuf_field field;

	while (protobuf_next_field(&message, &field)) {
		if (field.id == OTLP_SAMPLE_LINK && field.has_bytes)
			return is_older(err);
		if (field.id == OTLP_SAMPLE_STACK)
			sample->stack = field.number;
		if (field.id == OTLP_SAMPLE_TIMES)
			sample->time_count += field.has_bytes ? byte_reader_left(&field.bytes) / 8 : 1;
		if (field.id == OTLP_SAMPLE_ATTRIBUTES &&
			!otlp_owner_take_field(r, &message, &field, &sample->owner, &sample->labels, err))
			return false;
		if (field.id == OTLP_SAMPLE_VALUES && !otlp_samples_take_values(r, &message, &field, sample, err))
			return false;
	}
	if (!otlp_check(&message, "a sample", err))
		return false;
	if (sample->value_count == 0 && sample->time_count == 0)
		return is_older(err);
	/* Times alone are of the value 1 each. */
	if (sample->value_count == 0)
		sample->value = (int64_t)sample->time_count;
	return true;
}

/* ---- What profiles are of ---- */

static void otlp_samples_read_type(struct byte_reader message, struct otlp_type *type)
{
	struct protobuf_field field;

	while (protobuf_next_field(&message, &field)) {
		if (field.id == OTLP_TYPE_TYPE)
			type->type = (int64_t)field.number;
		if (field.id == OTLP_TYPE_UNIT)
			type->unit = (int64_t)field.number;
	}
}

static struct otlp_type otlp_samples_type_of(struct byte_reader profile)
{
	struct otlp_type type = { 0 };
	struct byte_reader message;

	while (otlp_next(&profile, OTLP_PROFILE_TYPE, &message))
		otlp_samples_read_type(message, &type);
	return type;
}

static size_t find_type(const struct otlp_reader *r, struct otlp_type type)
{
	size_t i = 0;

	while (i < r->type_count && (r->types[i].type != type.type || r->types[i].unit != type.unit))
		i++;
	return i;
}

static void otlp_samples_take_time(struct otlp_reader *r, uint64_t start, uint64_t duration)
{
	uint64_t end;

	if (start == 0 || !checked_add(start, duration, &end) || end > INT64_MAX)
		return;
	r->start_ns = r->start_ns == 0 || start < r->start_ns ? start : r->start_ns;
	r->end_ns = end > r->end_ns ? end : r->end_ns;
}

/* The period is that of the first profile that has one. */
static void otlp_samples_read_head(struct otlp_reader *r, struct byte_reader profile)
{
	struct protobuf_field field;
	struct otlp_type period_type = { 0 };
	uint64_t start = 0, duration = 0;
	int64_t period = 0;

	while (protobuf_next_field(&profile, &field)) {
		if (field.id == OTLP_PROFILE_TIME)
			start = field.number;
		if (field.id == OTLP_PROFILE_DURATION)
			duration = field.number;
		if (field.id == OTLP_PROFILE_PERIOD)
			period = (int64_t)field.number;
		if (field.id == OTLP_PROFILE_PERIOD_TYPE && field.has_bytes)
			otlp_samples_read_type(field.bytes, &period_type);
	}
	otlp_samples_take_time(r, start, duration);
	if (r->period == 0 && period > 0) {
		r->period = period;
		r->period_type = period_type;
	}
}

static bool survey_samples(struct otlp_reader *r, struct byte_reader profile, struct error *err)
{
	struct byte_reader message;

	while (otlp_next(&profile, OTLP_PROFILE_SAMPLES, &message)) {
		struct otlp_sample sample = { 0 };

		if (!otlp_samples_read_sample(r, message, &sample, err))
			return false;
		r->is_counted = r->is_counted && sample.time_count > 0;
		r->sample_count++;
	}
	return otlp_check(&profile, "a profile", err);
}

static bool survey(struct otlp_reader *r, struct error *err)
{
	struct profile_walk walk = profile_walk(r);
	struct byte_reader profile;

	r->is_counted = true;
	while (profile_next(&walk, &profile)) {
		struct otlp_type type = otlp_samples_type_of(profile);

		otlp_samples_read_head(r, profile);
		if (find_type(r, type) == r->type_count) {
			if (r->type_count + 1 == PROFILE_MAX_VALUE_TYPES)
				return error_set(
					err, ERROR_LIMIT, "more than %d sample types", PROFILE_MAX_VALUE_TYPES - 1);
			r->types[r->type_count++] = type;
		}
		if (!survey_samples(r, profile, err))
			return false;
	}
	r->sample_count = 0;
	return profile_check(&walk, err) &&
	       (r->type_count > 0 || error_set(err, ERROR_EMPTY, "it has no profile; record it again"));
}

/* ---- pprof's samples ---- */

static bool append_stack(struct otlp_reader *r, uint64_t stack, struct error *err)
{
	struct byte_reader message;
	struct protobuf_field field;
	uint64_t index;

	if (stack >= r->stack_count)
		return error_set(err, ERROR_FORMAT, "sample %zu references stack %llu, which is not there",
			r->sample_count, (unsigned long long)stack);
	message = otlp_bytes_at(r, r->stacks[stack]);
	r->packed.size = 0;
	while (protobuf_next_field(&message, &field)) {
		while (field.id == OTLP_STACK_LOCATIONS && protobuf_next_number(&message, &field, &index)) {
			if (index >= r->location_count)
				return error_set(err, ERROR_FORMAT,
					"stack %llu references location %llu, which is not there",
					(unsigned long long)stack, (unsigned long long)index);
			buffer_append_varint(&r->packed, otlp_id(index, r->location_count));
		}
	}
	otlp_append_bytes(&r->sample, PPROF_SAMPLE_LOCATIONS, r->packed.data, r->packed.size);
	return otlp_check(&message, "a stack", err);
}

/* Strings of the keys that name an owner in pprof. */
struct label_keys {
	int64_t pid, tid, process, thread;
};

static void append_label(struct otlp_reader *r, int64_t key, uint32_t field, int64_t value)
{
	if (value == 0)
		return;
	r->packed.size = 0;
	otlp_append_number(&r->packed, PPROF_LABEL_KEY, (uint64_t)key);
	otlp_append_number(&r->packed, field, (uint64_t)value);
	otlp_append_bytes(&r->sample, PPROF_SAMPLE_LABEL, r->packed.data, r->packed.size);
}

static bool otlp_samples_append_sample(struct otlp_reader *r, const struct otlp_sample *sample, size_t type,
	const struct label_keys *keys, struct error *err)
{
	const struct otlp_owner *owner = &sample->owner;

	r->sample.size = 0;
	if (!append_stack(r, sample->stack, err))
		return false;
	r->packed.size = 0;
	if (r->adds_count)
		buffer_append_varint(&r->packed, sample->time_count);
	for (size_t i = 0; i < r->type_count; i++)
		buffer_append_varint(&r->packed, i == type ? (uint64_t)sample->value : 0);
	otlp_append_bytes(&r->sample, PPROF_SAMPLE_VALUES, r->packed.data, r->packed.size);
	/* The owner comes last, so that no label of such a name takes its place. */
	for (size_t i = 0; i < sample->labels.count; i++) {
		const struct otlp_attribute *label = &r->attributes[sample->labels.attributes[i]];

		append_label(r, label->key, PPROF_LABEL_STRING, label->string);
	}
	append_label(r, keys->pid, PPROF_LABEL_NUMBER, owner->pid);
	append_label(r, keys->tid, PPROF_LABEL_NUMBER, owner->tid);
	append_label(r, keys->process, PPROF_LABEL_STRING, owner->process);
	append_label(r, keys->thread, PPROF_LABEL_STRING, owner->thread);
	otlp_append_bytes(&r->out, PPROF_PROFILE_SAMPLE, r->sample.data, r->sample.size);
	r->sample_count++;
	return buffer_ok(&r->out, err);
}

static bool otlp_samples_append_samples(struct otlp_reader *r, struct byte_reader profile,
	const struct otlp_owner *resource, const struct label_keys *keys, struct error *err)
{
	size_t type = find_type(r, otlp_samples_type_of(profile));
	struct otlp_owner owner = *resource;
	struct byte_reader walk = profile, message;
	struct protobuf_field field;

	while (protobuf_next_field(&walk, &field))
		if (field.id == OTLP_PROFILE_ATTRIBUTES && !otlp_owner_take_field(r, &walk, &field, &owner, NULL, err))
			return false;
	while (otlp_next(&profile, OTLP_PROFILE_SAMPLES, &message)) {
		struct otlp_sample sample = { .owner = owner };

		if (!otlp_samples_read_sample(r, message, &sample, err) ||
			!otlp_samples_append_sample(r, &sample, type, keys, err))
			return false;
	}
	return true;
}

static bool append_all(struct otlp_reader *r, const struct label_keys *keys, struct error *err)
{
	struct profile_walk walk = profile_walk(r);
	struct otlp_owner owner = { 0 };
	struct byte_reader profile, resource;

	while (profile_next(&walk, &profile)) {
		if (walk.is_new) {
			struct byte_reader none = byte_reader_over(NULL, 0);

			owner = (struct otlp_owner){ 0 };
			if (!otlp_next(&walk.whole, OTLP_RESOURCE_PROFILES_RESOURCE, &resource))
				resource = none;
			if (!otlp_read_resource(r, resource, &owner, err))
				return false;
		}
		if (!otlp_samples_append_samples(r, profile, &owner, keys, err))
			return false;
	}
	return true;
}

static void otlp_samples_append_type(struct otlp_reader *r, uint32_t field, struct otlp_type type)
{
	r->packed.size = 0;
	otlp_append_number(&r->packed, PPROF_TYPE_TYPE, (uint64_t)type.type);
	otlp_append_number(&r->packed, PPROF_TYPE_UNIT, (uint64_t)type.unit);
	otlp_append_bytes(&r->out, field, r->packed.data, r->packed.size);
}

static bool otlp_samples_is_string(const struct otlp_reader *r, int64_t string, const char *wanted)
{
	struct byte_reader text = byte_reader_over(NULL, 0);

	if (string >= 0 && (uint64_t)string < r->dictionary_strings)
		text = otlp_bytes_at(r, r->strings[string]);
	return byte_reader_left(&text) == strlen(wanted) && memcmp(text.pos, wanted, strlen(wanted)) == 0;
}

/*
 * Where there is one sample type and each value has its time, the number of samples is known. A period says nothing of
 * several types.
 */
static void append_head(struct otlp_reader *r)
{
	if (r->adds_count)
		otlp_samples_append_type(r, PPROF_PROFILE_TYPE,
			(struct otlp_type){ otlp_add_string(r, "samples", 7), otlp_add_string(r, "count", 5) });
	for (size_t i = 0; i < r->type_count; i++)
		otlp_samples_append_type(r, PPROF_PROFILE_TYPE, r->types[i]);
	otlp_append_number(&r->out, PPROF_PROFILE_DEFAULT, (uint64_t)r->types[0].type);
	if (r->period > 0 && r->type_count == 1) {
		otlp_samples_append_type(r, PPROF_PROFILE_PERIOD_TYPE, r->period_type);
		otlp_append_number(&r->out, PPROF_PROFILE_PERIOD, (uint64_t)r->period);
	}
	otlp_append_number(&r->out, PPROF_PROFILE_TIME, r->start_ns);
	otlp_append_number(&r->out, PPROF_PROFILE_DURATION, r->end_ns - r->start_ns);
}

bool otlp_read_samples(struct otlp_reader *r, struct error *err)
{
	struct label_keys keys;

	if (!survey(r, err))
		return false;
	r->adds_count = r->is_counted && r->type_count == 1 && !otlp_samples_is_string(r, r->types[0].type, "samples");
	keys = (struct label_keys){ otlp_add_string(r, "pid", 3), otlp_add_string(r, "tid", 3),
		otlp_add_string(r, "comm", 4), otlp_add_string(r, "thread_name", 11) };
	append_head(r);
	return append_all(r, &keys, err);
}
