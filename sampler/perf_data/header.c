/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/header.h"

#include <stdlib.h>
#include <string.h>

enum {
	FILE_HEADER_BYTES = 104,
	PIPE_HEADER_BYTES = 16,
	MAX_SECTION_BYTES = 1 << 26,
	READ_BYTES = 1 << 18,
	MAX_ATTR_BYTES = 1 << 12,
};

struct perf_data_section {
	uint64_t offset, size;
};

static bool header_read_exactly(struct record_input *input, void *into, size_t size, struct error *err)
{
	size_t done = 0, got;

	while (done < size) {
		if (!record_input_read(input, (uint8_t *)into + done, size - done, &got, err))
			return false;
		if (got == 0)
			return error_set(err, ERROR_FORMAT,
				"it ends at offset %llu, within its header: it was cut short",
				(unsigned long long)input->offset);
		done += got;
	}
	return true;
}

/* Reads a part of a file, at most `max` bytes. */
static bool header_read_section(const struct record_input *input, const struct perf_data_section *section, size_t max,
	struct buffer *out, struct error *err)
{
	size_t done = 0, got = 0, size = (size_t)section->size;
	uint8_t *into;

	if (section->size > max || section->offset > INT64_MAX - section->size)
		return error_set(err, ERROR_FORMAT, "a section at offset %llu has %llu bytes, at most %zu are believed",
			(unsigned long long)section->offset, (unsigned long long)section->size, max);
	while (done < size) {
		size_t room = size - done < READ_BYTES ? size - done : READ_BYTES;

		into = buffer_reserve(out, room);
		if (!into)
			return error_set_memory(err);
		if (!record_input_read_at(input, section->offset + done, into, room, &got, err))
			return false;
		if (got == 0)
			return error_set(err, ERROR_FORMAT,
				"it ends before offset %llu, where a part of it lies: it was cut short; copy or record it again",
				(unsigned long long)(section->offset + done));
		buffer_commit(out, got);
		done += got;
	}
	return true;
}

void perf_data_header_init(struct perf_data_header *header, const struct recording_file *from)
{
	*header = (struct perf_data_header){ .switch_fields = tracepoint_switch_default() };
	perf_data_events_init(&header->events);
	recorded_files_init(&header->files, from);
}

void perf_data_header_deinit(struct perf_data_header *header)
{
	struct perf_data_facts *facts = &header->facts;

	perf_data_events_deinit(&header->events);
	recorded_files_deinit(&header->files);
	free(facts->kernel);
	free(facts->perf_version);
	free(facts->architecture);
	free(facts->cpu_model);
	free(facts->command);
	free(facts->host);
}

/* ---- Feature sections ---- */

static bool header_is_wanted(uint32_t feature)
{
	return feature == FEATURE_DIR_FORMAT || feature == FEATURE_EVENT_DESC || feature == FEATURE_CMDLINE ||
	       (feature >= FEATURE_TRACING_DATA && feature <= FEATURE_CPUDESC);
}

/* Reads one section for each bit that is set, in their order; they follow the data. */
static bool read_features(
	struct perf_data_header *header, const struct record_input *input, const uint8_t *bits, struct error *err)
{
	struct perf_data_section entry = { header->data_offset + header->data_size, 2 * sizeof(uint64_t) };

	for (uint32_t feature = 0; feature < FEATURE_COUNT; feature++) {
		struct perf_data_section section;
		struct byte_reader r;
		struct buffer bytes;
		bool ok;

		if (!(bits[feature / 8] & 1 << feature % 8))
			continue;
		if (header_is_wanted(feature)) {
			buffer_init(&bytes, MAX_SECTION_BYTES);
			ok = header_read_section(input, &entry, 2 * sizeof(uint64_t), &bytes, err);
			r = byte_reader_over(bytes.data, bytes.size);
			section.offset = byte_reader_u64(&r);
			section.size = byte_reader_u64(&r);
			bytes.size = 0;
			ok = ok && header_read_section(input, &section, MAX_SECTION_BYTES, &bytes, err);
			if (ok &&
				!perf_data_feature_take(header, feature, byte_reader_over(bytes.data, bytes.size), err))
				ok = error_prefix(err, "feature %u", feature);
			buffer_deinit(&bytes);
			if (!ok)
				return false;
		}
		entry.offset += entry.size;
	}
	return true;
}

/* ---- Events ---- */

/* Reads an event and its ids. `*ids_left`: how many bytes of ids the events that follow may have. */
static bool take_file_attr(struct perf_data_header *header, const struct record_input *input, const uint8_t *bytes,
	size_t size, size_t *ids_left, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	struct perf_data_section ids;
	struct buffer read;
	bool ok;

	byte_reader_seek(&r, size - 2 * sizeof(uint64_t));
	ids.offset = byte_reader_u64(&r);
	ids.size = byte_reader_u64(&r);
	if (!perf_data_events_add(&header->events, bytes, size - 2 * sizeof(uint64_t), err))
		return false;
	buffer_init(&read, MAX_SECTION_BYTES);
	ok = header_read_section(input, &ids, *ids_left, &read, err);
	*ids_left -= ok ? (size_t)ids.size : 0;
	r = byte_reader_over(read.data, read.size);
	ok = ok && perf_data_events_add_ids(&header->events, &r, err);
	buffer_deinit(&read);
	return ok;
}

static bool read_attrs(struct perf_data_header *header, const struct record_input *input,
	const struct perf_data_section *attrs, uint64_t attr_bytes, struct error *err)
{
	/* All events may say that their ids lie in the same large section, so the sum is limited. */
	size_t ids_left = MAX_SECTION_BYTES;
	struct buffer bytes;
	bool ok;

	if (attr_bytes < PERF_ATTR_SIZE_VER0 + 2 * sizeof(uint64_t) || attr_bytes > MAX_ATTR_BYTES)
		return error_set(err, ERROR_FORMAT, "it says that an event's attributes have %llu bytes",
			(unsigned long long)attr_bytes);
	buffer_init(&bytes, MAX_SECTION_BYTES);
	ok = header_read_section(input, attrs, MAX_SECTION_BYTES, &bytes, err);
	for (size_t at = 0; ok && bytes.size - at >= attr_bytes; at += (size_t)attr_bytes)
		ok = take_file_attr(
			header, input, (const uint8_t *)bytes.data + at, (size_t)attr_bytes, &ids_left, err);
	buffer_deinit(&bytes);
	return ok;
}

bool perf_data_header_read(struct perf_data_header *header, struct record_input *input, struct error *err)
{
	uint8_t bytes[FILE_HEADER_BYTES] = { 0 };
	struct byte_reader r = byte_reader_over(bytes, sizeof(bytes));
	struct perf_data_section attrs;
	uint64_t size, attr_bytes;

	if (!header_read_exactly(input, bytes, PIPE_HEADER_BYTES, err))
		return false;
	if (memcmp(bytes, "2ELIFREP", 8) == 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"it was recorded on a machine of the other byte order; read it there with 'perf script'");
	if (memcmp(bytes, "PERFILE2", 8) != 0)
		return error_set(err, ERROR_FORMAT, "it does not begin as a perf.data file");
	byte_reader_skip(&r, sizeof(uint64_t));
	size = byte_reader_u64(&r);
	header->is_pipe = size == PIPE_HEADER_BYTES;
	header->data_offset = PIPE_HEADER_BYTES;
	header->data_size = UINT64_MAX - PIPE_HEADER_BYTES;
	if (header->is_pipe)
		return true;
	if (size < FILE_HEADER_BYTES)
		return error_set(err, ERROR_FORMAT, "its header has %llu bytes instead of %d", (unsigned long long)size,
			FILE_HEADER_BYTES);
	if (!input->is_seekable)
		return error_set(err, ERROR_UNSUPPORTED,
			"a perf.data file that comes through a pipe cannot be read: give its name, or make it with 'perf record -o -'");
	if (!header_read_exactly(input, bytes + PIPE_HEADER_BYTES, FILE_HEADER_BYTES - PIPE_HEADER_BYTES, err))
		return false;
	attr_bytes = byte_reader_u64(&r);
	attrs.offset = byte_reader_u64(&r);
	attrs.size = byte_reader_u64(&r);
	header->data_offset = byte_reader_u64(&r);
	header->data_size = byte_reader_u64(&r);
	byte_reader_skip(&r, 2 * sizeof(uint64_t)); /* event types, of an old version */
	if (header->data_offset > INT64_MAX || header->data_size > INT64_MAX - header->data_offset)
		return error_set(err, ERROR_FORMAT, "its data do not lie in a file");
	if (!read_attrs(header, input, &attrs, attr_bytes, err))
		return false;
	/* perf writes the size when it ends: a file of a killed perf has 0 here, and no features. */
	header->is_unfinished = header->data_size == 0;
	if (header->is_unfinished)
		header->data_size = INT64_MAX - header->data_offset;
	return header->is_unfinished || read_features(header, input, r.pos, err);
}

/* ---- Records of pipe mode ---- */

bool perf_data_header_take_attr(struct perf_data_header *header, const uint8_t *bytes, size_t size, struct error *err)
{
	enum { SIZE_OFFSET = 4 };
	struct byte_reader r = byte_reader_over(bytes, size);
	uint32_t attr_bytes;
	const uint8_t *attr;

	byte_reader_skip(&r, RECORD_HEADER_BYTES + SIZE_OFFSET);
	attr_bytes = byte_reader_u32(&r);
	byte_reader_seek(&r, RECORD_HEADER_BYTES);
	attr = byte_reader_bytes(&r, attr_bytes);
	if (!attr)
		return error_set(err, ERROR_FORMAT, "an event's attributes are cut short");
	return perf_data_events_add(&header->events, attr, attr_bytes, err) &&
	       perf_data_events_add_ids(&header->events, &r, err);
}

void perf_data_header_take_update(struct perf_data_header *header, const uint8_t *bytes, size_t size)
{
	enum { UPDATE_NAME = 2 };
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t type, id;

	byte_reader_skip(&r, RECORD_HEADER_BYTES);
	type = byte_reader_u64(&r);
	id = byte_reader_u64(&r);
	if (byte_reader_ok(&r) && type == UPDATE_NAME)
		perf_data_events_name(&header->events, id, (const char *)r.pos, byte_reader_left(&r));
}
