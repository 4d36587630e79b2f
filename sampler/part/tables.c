/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/part/reader.h"

#include <stdio.h>
#include <string.h>

static bool ids_add(struct part_ids *ids, uint32_t id, struct error *err)
{
	if (!ARRAY_RESERVE(&ids->items, &ids->capacity, ids->count + 1, ARRAY_MAX_IDS, err))
		return false;
	ids->items[ids->count++] = id;
	return true;
}

/* An id of the file made one of the profile; what is not there fails the reader. */
static uint32_t id_of(const struct part_ids *ids, struct byte_reader *r)
{
	uint64_t id = byte_reader_uleb128(r);

	if (id < ids->count)
		return ids->items[id];
	r->failed = true;
	return 0;
}

/* No more than the bytes that are left can hold. */
static size_t count_of(struct byte_reader *r)
{
	uint64_t count = byte_reader_uleb128(r);

	if (count <= byte_reader_left(r))
		return (size_t)count;
	r->failed = true;
	return 0;
}

static int64_t signed_of(struct byte_reader *r)
{
	uint64_t value = byte_reader_uleb128(r);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static bool take_strings(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r);

	for (size_t i = 0; i < count; i++) {
		size_t size = count_of(r);
		const uint8_t *bytes = byte_reader_bytes(r, size);
		uint32_t id;

		if (!bytes)
			return true;
		if (!string_table_add(reader->profile->strings, (const char *)bytes, size, &id, err) ||
			!ids_add(&reader->strings, id, err))
			return false;
	}
	return true;
}

static void take_quality(struct profile_quality *quality, struct byte_reader *r)
{
	size_t stops;

	quality->samples = byte_reader_uleb128(r);
	quality->lost = byte_reader_uleb128(r);
	quality->throttled = byte_reader_uleb128(r);
	quality->lost_sideband = byte_reader_uleb128(r);
	quality->frame_pointer_frames = byte_reader_uleb128(r);
	quality->frames = byte_reader_uleb128(r);
	stops = count_of(r);
	for (size_t i = 0; i < stops; i++) {
		uint64_t value = byte_reader_uleb128(r);

		if (i < PROFILE_STOP_COUNT)
			quality->stops[i] = value;
	}
}

/* The first chunk's types stay: samples have as many values. */
static bool take_value_types(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	struct profile *profile = reader->profile;
	size_t count = count_of(r);
	uint64_t shown;

	if (count == 0 || count > PROFILE_MAX_VALUE_TYPES || (reader->chunks > 0 && count != profile->value_type_count))
		r->failed = true;
	for (size_t i = 0; i < count && byte_reader_ok(r); i++) {
		const char *type = profile_string(profile, id_of(&reader->strings, r));
		const char *unit = profile_string(profile, id_of(&reader->strings, r));

		if (i > 0 && reader->chunks == 0 && byte_reader_ok(r) && !profile_add_value_type(profile, type, unit, err))
			return false;
	}
	shown = byte_reader_uleb128(r);
	if (shown >= profile->value_type_count)
		r->failed = true;
	if (byte_reader_ok(r))
		profile->default_value_type = (uint32_t)shown;
	profile->period_type.type = id_of(&reader->strings, r);
	profile->period_type.unit = id_of(&reader->strings, r);
	profile->period = (int64_t)byte_reader_uleb128(r);
	r->failed |= profile->period < 0;
	return true;
}

static void take_facts(struct part_reader *reader, struct byte_reader *r)
{
	struct profile_facts *facts = &reader->profile->facts;
	uint32_t *const words[] = { &facts->tool, &facts->command, &facts->event, &facts->cpu_model, &facts->kernel,
		&facts->governor, &facts->call_graph };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = id_of(&reader->strings, r);
	facts->cpu_count = (uint32_t)byte_reader_uleb128(r);
	facts->frequency_hz = (uint32_t)byte_reader_uleb128(r);
	facts->user_only = byte_reader_uleb128(r) != 0;
	facts->cgroup = id_of(&reader->strings, r);
	facts->container = id_of(&reader->strings, r);
	facts->cpu_limit_milli = (uint32_t)byte_reader_uleb128(r);
	reader->start_unix_ns = (int64_t)byte_reader_uleb128(r);
	reader->kernel_text = byte_reader_uleb128(r);
}

static bool take_mappings(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r);

	for (size_t i = 0; i < count; i++) {
		struct profile_mapping mapping = { 0 };
		uint64_t kind = byte_reader_uleb128(r);
		uint32_t id;

		mapping.path = id_of(&reader->strings, r);
		mapping.build_id = id_of(&reader->strings, r);
		mapping.start = byte_reader_uleb128(r);
		mapping.end = byte_reader_uleb128(r);
		mapping.file_offset = byte_reader_uleb128(r);
		mapping.deleted = byte_reader_uleb128(r) != 0;
		r->failed |= kind > PROFILE_MAPPING_ANON;
		if (!byte_reader_ok(r))
			return true;
		mapping.kind = (enum profile_mapping_kind)kind;
		if (!profile_add_mapping(reader->profile, &mapping, &id, err) || !ids_add(&reader->mappings, id, err))
			return false;
	}
	return true;
}

bool part_parse_build_id(const char *text, struct elf_build_id *id)
{
	size_t size = strlen(text) / 2;

	*id = (struct elf_build_id){ 0 };
	if (size == 0 || size > ELF_BUILD_ID_MAX_SIZE)
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		id->bytes[i] = (uint8_t)byte;
	}
	id->size = (uint8_t)size;
	return true;
}

/* The kernel may lie elsewhere since a boot: by so much its addresses are moved. */
static bool find_kernel(struct part_reader *reader, uint32_t mapping, struct error *err)
{
	struct profile *profile = reader->profile;

	if (reader->kernel_is_known)
		return true;
	reader->kernel_is_known = true;
	if (!part_parse_build_id(profile_string(profile, profile->mappings[mapping].build_id), &reader->files.hooks.kernel))
		reader->files.hooks.kernel.size = 0;
	return recorded_kernel_find(
		&reader->files, profile_string(profile, profile->facts.kernel), reader->kernel_text, "_text", &reader->kernel, err);
}

static bool take_locations(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r);

	for (size_t i = 0; i < count; i++) {
		uint64_t place = byte_reader_uleb128(r), moved = 0;
		uint32_t mapping = PROFILE_NONE, id;

		reader->last_address += (uint64_t)signed_of(r);
		/* One more than the mapping's id; PROFILE_NONE is an id as well. */
		if (place != (uint64_t)PROFILE_NONE + 1) {
			r->failed |= place == 0 || place > reader->mappings.count;
			if (!byte_reader_ok(r))
				return true;
			mapping = reader->mappings.items[place - 1];
		}
		if (mapping != PROFILE_NONE && reader->profile->mappings[mapping].kind == PROFILE_MAPPING_KERNEL) {
			if (!find_kernel(reader, mapping, err))
				return false;
			moved = reader->kernel.moved;
		}
		if (!profile_add_location(reader->profile, mapping, reader->last_address + moved, &id, err) ||
			!ids_add(&reader->locations, id, err))
			return false;
	}
	return true;
}

static bool take_stacks(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r), i = 0;

	/* The empty stack is there from the beginning. */
	if (reader->stacks.count == 0 && count > 0) {
		byte_reader_uleb128(r);
		byte_reader_uleb128(r);
		if (!ids_add(&reader->stacks, 0, err))
			return false;
		i++;
	}
	for (; i < count; i++) {
		uint32_t parent = id_of(&reader->stacks, r), location = id_of(&reader->locations, r), id;

		if (!byte_reader_ok(r))
			return true;
		if (!profile_add_stack(reader->profile, parent, location, &id, err) || !ids_add(&reader->stacks, id, err))
			return false;
	}
	return true;
}

static bool take_threads(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r);

	for (size_t i = 0; i < count; i++) {
		struct profile_thread thread = { .run = 0 };
		uint32_t id;

		thread.pid = (int32_t)byte_reader_uleb128(r);
		thread.tid = (int32_t)byte_reader_uleb128(r);
		thread.process_name = id_of(&reader->strings, r);
		thread.name = id_of(&reader->strings, r);
		if (!byte_reader_ok(r))
			return true;
		if (!profile_add_thread(reader->profile, &thread, &id, err) || !ids_add(&reader->threads, id, err))
			return false;
	}
	return true;
}

static bool take_samples(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r);
	uint64_t sample;

	for (size_t i = 0; i < count; i++) {
		uint32_t stack = id_of(&reader->stacks, r), thread = id_of(&reader->threads, r);

		if (!byte_reader_ok(r))
			return true;
		if (!ARRAY_RESERVE(&reader->samples, &reader->sample_capacity, reader->sample_count + 1, ARRAY_MAX_IDS, err))
			return false;
		reader->samples[reader->sample_count++] = (struct part_sample){ .stack = stack, .thread = thread };
	}
	while ((sample = byte_reader_uleb128(r)) != 0 && byte_reader_ok(r)) {
		if (sample > reader->sample_count) {
			r->failed = true;
			return true;
		}
		for (uint32_t v = 0; v < reader->profile->value_type_count; v++)
			reader->samples[sample - 1].values[v] = byte_reader_uleb128(r);
	}
	return true;
}

static bool take_events(struct part_reader *reader, struct byte_reader *r, struct error *err)
{
	size_t count = count_of(r);

	for (size_t i = 0; i < count; i++) {
		int64_t step_ns = signed_of(r);
		uint64_t sample = byte_reader_uleb128(r);

		r->failed |= sample >= reader->sample_count ||
			     __builtin_add_overflow(reader->last_time_ns, step_ns, &reader->last_time_ns) ||
			     reader->last_time_ns < 0;
		if (!byte_reader_ok(r))
			return true;
		if (!ARRAY_RESERVE(&reader->events, &reader->event_capacity, reader->event_count + 1, ARRAY_MAX_IDS, err))
			return false;
		reader->events[reader->event_count++] = (struct part_event){ reader->last_time_ns, (uint32_t)sample };
	}
	return true;
}

bool part_take_payload(struct part_reader *reader, struct error *err)
{
	struct byte_reader r = byte_reader_over(reader->payload.data, reader->payload.size);
	uint64_t version = byte_reader_uleb128(&r), number = byte_reader_uleb128(&r);

	if (version != PART_VERSION)
		return error_set(err, ERROR_UNSUPPORTED,
			"it is of version %llu, this kelvin knows %d; use the kelvin that recorded it", (unsigned long long)version,
			PART_VERSION);
	if (number != reader->chunks)
		return error_set(err, ERROR_FORMAT, "chunk %llu stands where %llu belongs", (unsigned long long)number,
			(unsigned long long)reader->chunks);
	reader->duration_ns = (int64_t)byte_reader_uleb128(&r);
	take_quality(&reader->profile->quality, &r);
	if (!take_strings(reader, &r, err) || !take_value_types(reader, &r, err))
		return false;
	take_facts(reader, &r);
	if (!take_mappings(reader, &r, err) || !take_locations(reader, &r, err) || !take_stacks(reader, &r, err) ||
		!take_threads(reader, &r, err) || !take_samples(reader, &r, err) || !take_events(reader, &r, err))
		return false;
	if (!byte_reader_ok(&r) || reader->duration_ns < 0)
		return error_set(err, ERROR_FORMAT, "chunk %llu contradicts itself", (unsigned long long)number);
	reader->chunks++;
	return true;
}
