/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/part/reader.h"
#include "sampler/collect/result.h"

#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 1 << 16 };
static const uint64_t max_value_sum = INT64_MAX / 2;

/* ---- Chunks ---- */

/* False at the end, also when it comes too early: `*got` says. */
static bool read_exactly(struct part_reader *reader, void *into, size_t size, size_t *got, struct error *err)
{
	size_t now = 1;

	*got = 0;
	while (*got < size && now > 0) {
		if (!perf_data_input_read(&reader->input, (uint8_t *)into + *got, size - *got, &now, err))
			return false;
		*got += now;
	}
	return true;
}

enum chunk_state { CHUNK_WHOLE, CHUNK_BROKEN, CHUNK_NONE };

static bool read_payload(struct part_reader *reader, size_t size, size_t *got, struct error *err)
{
	*got = 0;
	reader->payload.size = 0;
	while (*got < size) {
		size_t room = size - *got < READ_BYTES ? size - *got : READ_BYTES, now;
		void *into = buffer_reserve(&reader->payload, room);

		if (!into)
			return error_set_memory(err);
		if (!read_exactly(reader, into, room, &now, err))
			return false;
		buffer_commit(&reader->payload, now);
		*got += now;
		if (now < room)
			break;
	}
	return true;
}

/* Into `payload`; only what is there to its last byte is believed. */
static bool read_chunk(struct part_reader *reader, enum chunk_state *state, struct error *err)
{
	uint8_t header[PART_CHUNK_HEADER_BYTES] = { 0 };
	struct byte_reader r = byte_reader_over(header, sizeof(header));
	uint32_t size;
	uint64_t hash;
	size_t got;

	if (!read_exactly(reader, header, sizeof(header), &got, err))
		return false;
	*state = got == 0 ? CHUNK_NONE : CHUNK_BROKEN;
	if (got < sizeof(header) || memcmp(header, PART_CHUNK_MAGIC, 4) != 0)
		return true;
	byte_reader_skip(&r, 4);
	size = byte_reader_u32(&r);
	hash = byte_reader_u64(&r);
	if (size > PART_MAX_CHUNK_BYTES)
		return true;
	if (!read_payload(reader, size, &got, err))
		return false;
	if (got == size && hash_bytes(reader->payload.data, size) == hash)
		*state = CHUNK_WHOLE;
	return true;
}

static bool read_chunks(struct part_reader *reader, struct error *err)
{
	char magic[sizeof(PART_MAGIC) - 1];
	size_t got;

	if (!read_exactly(reader, magic, sizeof(magic), &got, err))
		return false;
	if (got < sizeof(magic) || memcmp(magic, PART_MAGIC, sizeof(magic)) != 0)
		return error_set(err, ERROR_FORMAT, "it does not begin as an unfinished recording");
	for (;;) {
		uint64_t offset = reader->input.offset;
		enum chunk_state state;

		if (!read_chunk(reader, &state, err))
			return false;
		if (state == CHUNK_NONE)
			return true;
		if (state == CHUNK_BROKEN) {
			if (reader->notices)
				buffer_printf(reader->notices, "what follows offset %llu was not written whole and is left out\n",
					(unsigned long long)offset);
			return true;
		}
		if (!part_take_payload(reader, err))
			return error_prefix(err, "chunk at offset %llu", (unsigned long long)offset);
	}
}

/* ---- The profile ---- */

/* Of a sample's sums each of its events has its share; rounding is spread over them, so that the sums are exact. */
static uint64_t share_of(uint64_t sum, uint64_t count, uint64_t place)
{
	return (uint64_t)((unsigned __int128)sum * (place + 1) / count) - (uint64_t)((unsigned __int128)sum * place / count);
}

static bool add_events(struct part_reader *reader, struct error *err)
{
	struct profile *profile = reader->profile;
	uint64_t total = 0;

	for (size_t i = 0; i < reader->sample_count; i++)
		for (uint32_t v = 0; v < profile->value_type_count; v++)
			if (!checked_add(total, reader->samples[i].values[v], &total) || total > max_value_sum)
				return error_set(err, ERROR_FORMAT, "its values are more than can be added up");
	for (size_t i = 0; i < reader->event_count; i++) {
		const struct part_event *event = &reader->events[i];
		struct part_sample *sample = &reader->samples[event->sample];
		int64_t values[PROFILE_MAX_VALUE_TYPES];
		uint64_t count = sample->values[0];

		if (sample->given >= count)
			return error_set(err, ERROR_FORMAT, "a sample has more events than it counts");
		for (uint32_t v = 0; v < profile->value_type_count; v++)
			values[v] = (int64_t)share_of(sample->values[v], count, sample->given);
		sample->given++;
		if (!profile_add_sample(profile, sample->stack, sample->thread, values, event->time_ns, err))
			return false;
	}
	return true;
}

static bool find_images(struct part_reader *reader, struct sampler_result *result, struct error *err)
{
	struct profile *profile = reader->profile;

	result->images = calloc(profile->mapping_count + 1, sizeof(struct elf_image *));
	result->jit_maps = calloc(profile->mapping_count + 1, sizeof(char *));
	if (!result->images || !result->jit_maps)
		return error_set_memory(err);
	result->image_count = profile->mapping_count;
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];
		const char *path = profile_string(profile, mapping->path);
		struct elf_build_id id;
		bool has_id = part_parse_build_id(profile_string(profile, mapping->build_id), &id);
		struct error why;

		if (mapping->kind == PROFILE_MAPPING_ANON) {
			char *jit_map = NULL;

			if (asprintf(&jit_map, "/tmp/perf-%d.map", (int)mapping->file_offset) < 0)
				return error_set_memory(err);
			if (!result_take_jit_map(result, profile, (uint32_t)i, jit_map, err))
				return false;
		}
		if (mapping->kind != PROFILE_MAPPING_FILE && mapping->kind != PROFILE_MAPPING_VDSO)
			continue;
		if (!recorded_files_open(&reader->files, path, has_id ? &id : NULL, &result->images[i], &why) && reader->notices)
			buffer_printf(reader->notices, "%s: its code stays unnamed\n", why.message);
	}
	return true;
}

static bool finish(struct part_reader *reader, struct sampler_result *result, struct error *err)
{
	struct sampler_result made = { .child_status = -1 };
	struct profile *profile = reader->profile;
	uint32_t run;

	if (reader->event_count == 0)
		return error_set(err, ERROR_EMPTY, "it holds no samples");
	if (!profile_add_run(
		    profile, &(struct profile_run){ reader->start_unix_ns, reader->duration_ns, .exit_status = -1 }, &run, err) ||
		!add_events(reader, err) || !profile_finish(profile, err))
		return false;
	if (!find_images(reader, &made, err)) {
		sampler_result_deinit(&made);
		return false;
	}
	if (reader->kernel_is_known) {
		made.kallsyms = reader->kernel.kallsyms ? TAKE(reader->kernel.kallsyms) : strdup("");
		if (!reader->kernel.kallsyms && made.kallsyms && !made.kallsyms[0] && reader->notices)
			buffer_append_string(reader->notices,
				"kernel functions stay unnamed: the kernel that was recorded does not run here, or hides its symbols\n");
	}
	made.profile = TAKE(reader->profile);
	*result = made;
	return true;
}

static void deinit(struct part_reader *reader)
{
	struct part_ids *const all[] = { &reader->strings, &reader->mappings, &reader->locations, &reader->stacks,
		&reader->threads };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]->items);
	free(reader->samples);
	free(reader->events);
	free(reader->kernel.kallsyms);
	buffer_deinit(&reader->payload);
	recorded_files_deinit(&reader->files);
	profile_destroy(reader->profile);
}

bool sampler_read_part(
	const struct sampler_recorded *recorded, struct sampler_result *result, struct buffer *notices, struct error *err)
{
	struct part_reader reader = {
		.input = { recorded->fd, recorded->name, recorded->head, recorded->head_bytes,
			lseek(recorded->fd, 0, SEEK_CUR) >= 0, 0 },
		.notices = notices,
	};
	bool ok;

	recorded_files_init(&reader.files);
	reader.files.cache_directory = recorded->cache_directory;
	buffer_init(&reader.payload, PART_MAX_CHUNK_BYTES);
	ok = profile_create(&reader.profile, err) && read_chunks(&reader, err) && finish(&reader, result, err);
	deinit(&reader);
	return ok || error_prefix(err, "cannot read %s", recorded->name);
}
