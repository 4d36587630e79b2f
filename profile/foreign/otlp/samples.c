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
	while (!otlp_next(&walk->scope, OTLP_SCOPE(profiles), profile)) {
		while (!walk->scope.failed &&
			!otlp_next(&walk->resource, OTLP_RESOURCE(scope_profiles), &walk->scope)) {
			if (walk->resource.failed ||
				!otlp_next(&walk->file, OTLP_DATA(resource_profiles), &walk->resource))
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
		size_t member = proto_member(&otlp__sample__descriptor, field.id);

		if (member == offsetof(Otlp__Sample, link_index) && field.has_bytes)
			return is_older(err);
		if (member == offsetof(Otlp__Sample, stack_index))
			sample->stack = field.number;
		if (member == offsetof(Otlp__Sample, timestamps_unix_nano))
			sample->time_count += field.has_bytes ? byte_reader_left(&field.bytes) / 8 : 1;
		if (member == offsetof(Otlp__Sample, attribute_indices) &&
			!otlp_owner_take_field(r, &message, &field, &sample->owner, &sample->labels, err))
			return false;
		if (member == offsetof(Otlp__Sample, values) &&
			!otlp_samples_take_values(r, &message, &field, sample, err))
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

/* Reads a type of values. A malformed one has string 0 for what it lacks; of several messages the last one that has a
 * field decides. */
static struct otlp_type read_type(struct byte_reader profile, uint32_t id)
{
	Otlp__ValueType type = OTLP__VALUE_TYPE__INIT;
	struct byte_reader message;

	while (otlp_next(&profile, id, &message))
		(void)!proto_set_members(&type.base, message);
	return (struct otlp_type){ type.type_strindex, type.unit_strindex };
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
	Otlp__Profile head = OTLP__PROFILE__INIT;

	/* Whether it is whole is looked at with its samples. */
	(void)!proto_set_members(&head.base, profile);
	otlp_samples_take_time(r, head.time_unix_nano, head.duration_nano);
	if (r->period == 0 && head.period > 0) {
		r->period = head.period;
		r->period_type = read_type(profile, OTLP_PROFILE(period_type));
	}
}

static bool survey_samples(struct otlp_reader *r, struct byte_reader profile, struct error *err)
{
	struct byte_reader message;

	while (otlp_next(&profile, OTLP_PROFILE(samples), &message)) {
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
		struct otlp_type type = read_type(profile, OTLP_PROFILE(sample_type));

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
		bool is_location =
			proto_member(&otlp__stack__descriptor, field.id) == offsetof(Otlp__Stack, location_indices);

		while (is_location && protobuf_next_number(&message, &field, &index)) {
			if (index >= r->location_count)
				return error_set(err, ERROR_FORMAT,
					"stack %llu references location %llu, which is not there",
					(unsigned long long)stack, (unsigned long long)index);
			index = otlp_id(index, r->location_count);
			buffer_append(&r->packed, &index, sizeof(index));
		}
	}
	return otlp_check(&message, "a stack", err);
}

/* Strings of the keys that name an owner in pprof. */
struct label_keys {
	int64_t pid, tid, process, thread;
};

static void append_label(struct otlp_reader *r, int64_t key, int64_t string, int64_t number)
{
	Pprof__Label label = PPROF__LABEL__INIT;

	label.key = key;
	label.str = string;
	label.num = number;
	if (string || number)
		proto_append(&r->sample, proto_number_of(&pprof__sample__descriptor, offsetof(Pprof__Sample, label)),
			&label.base, NULL);
}

static bool otlp_samples_append_sample(struct otlp_reader *r, const struct otlp_sample *sample, size_t type,
	const struct label_keys *keys, struct error *err)
{
	const struct otlp_owner *owner = &sample->owner;
	int64_t values[PROFILE_MAX_VALUE_TYPES + 1] = { r->adds_count ? (int64_t)sample->time_count : 0 };
	Pprof__Sample out = PPROF__SAMPLE__INIT;

	r->sample.size = 0;
	if (!append_stack(r, sample->stack, err) || !buffer_ok(&r->packed, err))
		return false;
	out.n_location_id = r->packed.size / sizeof(*out.location_id);
	out.location_id = (uint64_t *)(void *)r->packed.data;
	values[r->adds_count + type] = sample->value;
	out.n_value = r->adds_count + r->type_count;
	out.value = values;
	/* The owner comes last, so that no label of such a name takes its place. */
	for (size_t i = 0; i < sample->labels.count; i++) {
		const struct otlp_attribute *label = &r->attributes[sample->labels.attributes[i]];

		append_label(r, label->key, label->string, 0);
	}
	append_label(r, keys->pid, 0, owner->pid);
	append_label(r, keys->tid, 0, owner->tid);
	append_label(r, keys->process, owner->process, 0);
	append_label(r, keys->thread, owner->thread, 0);
	proto_append(&r->out, PPROF_PROFILE(sample), &out.base, &r->sample);
	r->sample_count++;
	return buffer_ok(&r->out, err);
}

static bool otlp_samples_append_samples(struct otlp_reader *r, struct byte_reader profile,
	const struct otlp_owner *resource, const struct label_keys *keys, struct error *err)
{
	size_t type = find_type(r, read_type(profile, OTLP_PROFILE(sample_type)));
	struct otlp_owner owner = *resource;
	struct byte_reader walk = profile, message;
	struct protobuf_field field;

	while (protobuf_next_field(&walk, &field))
		if (proto_member(&otlp__profile__descriptor, field.id) == offsetof(Otlp__Profile, attribute_indices) &&
			!otlp_owner_take_field(r, &walk, &field, &owner, NULL, err))
			return false;
	while (otlp_next(&profile, OTLP_PROFILE(samples), &message)) {
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
			if (!otlp_next(&walk.whole, OTLP_RESOURCE(resource), &resource))
				resource = none;
			if (!otlp_read_resource(r, resource, &owner, err))
				return false;
		}
		if (!otlp_samples_append_samples(r, profile, &owner, keys, err))
			return false;
	}
	return true;
}

static void otlp_samples_append_type(struct otlp_reader *r, struct otlp_type type)
{
	Pprof__ValueType out = PPROF__VALUE_TYPE__INIT;

	out.type = type.type;
	out.unit = type.unit;
	proto_append(&r->out, PPROF_PROFILE(sample_type), &out.base, NULL);
}

static bool otlp_samples_is_string(const struct otlp_reader *r, int64_t string, const char *wanted)
{
	struct byte_reader text = byte_reader_over(NULL, 0);

	if (string >= 0 && (uint64_t)string < r->dictionary_strings)
		text = otlp_bytes_at(r, r->strings[string]);
	return text_is(otlp_text(&text), wanted);
}

/*
 * Where there is one sample type and each value has its time, the number of samples is known. A period says nothing of
 * several types.
 */
static void append_head(struct otlp_reader *r)
{
	Pprof__ValueType period_type = PPROF__VALUE_TYPE__INIT;
	Pprof__Profile head = PPROF__PROFILE__INIT;

	if (r->adds_count)
		otlp_samples_append_type(
			r, (struct otlp_type){ otlp_add_string(r, "samples", 7), otlp_add_string(r, "count", 5) });
	for (size_t i = 0; i < r->type_count; i++)
		otlp_samples_append_type(r, r->types[i]);
	head.default_sample_type = r->types[0].type;
	if (r->period > 0 && r->type_count == 1) {
		period_type.type = r->period_type.type;
		period_type.unit = r->period_type.unit;
		head.period_type = &period_type;
		head.period = r->period;
	}
	head.time_nanos = (int64_t)r->start_ns;
	head.duration_nanos = (int64_t)(r->end_ns - r->start_ns);
	proto_pack(&r->out, &head.base);
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
