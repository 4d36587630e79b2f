/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the feature sections of perf.data: facts of the machine, names of events, build ids. */
#include "sampler/perf_data/header.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 16, BUILD_ID_ROOM = 20, MISC_BUILD_ID_SIZE = 1 << 15 };

/* Reads a text: its length, then as many bytes, padded with NULs. */
static const char *features_read_text(struct byte_reader *r, size_t *size)
{
	uint32_t room = byte_reader_u32(r);
	const char *text = (const char *)byte_reader_bytes(r, room);

	*size = text ? strnlen(text, room) : 0;
	return text ? text : "";
}

static bool features_take_text(struct byte_reader *r, char **text, struct error *err)
{
	size_t size;
	const char *found = features_read_text(r, &size);

	free(*text);
	*text = strndup(found, size < MAX_TEXT_BYTES ? size : MAX_TEXT_BYTES);
	return *text ? true : error_set_memory(err);
}

static bool features_take_command(struct byte_reader *r, char **command, struct error *err)
{
	uint32_t count = byte_reader_u32(r);
	struct buffer line;
	bool ok;

	buffer_init(&line, MAX_TEXT_BYTES);
	for (uint32_t i = 0; i < count && byte_reader_left(r) > 0 && byte_reader_ok(r); i++) {
		size_t size;
		const char *word = features_read_text(r, &size);
		const char *slash = i == 0 ? memrchr(word, '/', size) : NULL;

		/* The first word is as the user typed it: `perf`, in any directory. */
		size -= slash ? (size_t)(slash + 1 - word) : 0;
		buffer_printf(&line, "%s%.*s", i ? " " : "", (int)(size & INT32_MAX), slash ? slash + 1 : word);
	}
	free(*command);
	*command = strdup(line.data ? line.data : "");
	ok = *command != NULL;
	buffer_deinit(&line);
	return ok ? true : error_set_memory(err);
}

/* Reads the names that perf prints, found by the events' ids. */
static void take_event_names(struct perf_data_events *events, struct byte_reader *r)
{
	uint32_t count = byte_reader_u32(r), attr_bytes = byte_reader_u32(r);

	for (uint32_t i = 0; i < count && byte_reader_ok(r); i++) {
		uint32_t ids;
		size_t size;
		const char *name;

		byte_reader_skip(r, attr_bytes);
		ids = byte_reader_u32(r);
		name = features_read_text(r, &size);
		for (uint32_t k = 0; k < ids && byte_reader_left(r) >= sizeof(uint64_t) && byte_reader_ok(r); k++)
			perf_data_events_name(events, byte_reader_u64(r), name, size);
	}
}

static bool take_build_ids(struct perf_data_header *header, struct byte_reader *r, struct error *err)
{
	size_t size;

	while (record_size(r->pos, byte_reader_left(r), &size))
		if (!perf_data_header_take_build_id(header, byte_reader_bytes(r, size), size, err))
			return false;
	return true;
}

bool perf_data_feature_take(struct perf_data_header *header, uint64_t feature, struct byte_reader r, struct error *err)
{
	struct perf_data_facts *facts = &header->facts;

	switch (feature) {
	case FEATURE_TRACING_DATA:
		(void)tracepoint_find_switch(r.pos, byte_reader_left(&r), &header->switch_fields);
		return true;
	case FEATURE_BUILD_ID:
		return take_build_ids(header, &r, err);
	case FEATURE_HOSTNAME:
		return features_take_text(&r, &facts->host, err);
	case FEATURE_OSRELEASE:
		return features_take_text(&r, &facts->kernel, err);
	case FEATURE_VERSION:
		return features_take_text(&r, &facts->perf_version, err);
	case FEATURE_ARCH:
		return features_take_text(&r, &facts->architecture, err);
	case FEATURE_CPUDESC:
		return features_take_text(&r, &facts->cpu_model, err);
	case FEATURE_CMDLINE:
		return features_take_command(&r, &facts->command, err);
	case FEATURE_NRCPUS:
		byte_reader_skip(&r, sizeof(uint32_t)); /* available; then online */
		facts->cpu_count = byte_reader_u32(&r);
		return true;
	case FEATURE_EVENT_DESC:
		take_event_names(&header->events, &r);
		return true;
	case FEATURE_DIR_FORMAT:
		header->has_threads_directory = true;
		return true;
	default:
		return true;
	}
}

bool perf_data_header_take_feature(
	struct perf_data_header *header, const uint8_t *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t feature;

	byte_reader_skip(&r, RECORD_HEADER_BYTES);
	feature = byte_reader_u64(&r);
	return perf_data_feature_take(header, feature, byte_reader_over(r.pos, byte_reader_left(&r)), err);
}

bool perf_data_header_take_build_id(
	struct perf_data_header *header, const uint8_t *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	struct elf_build_id id = { .size = BUILD_ID_ROOM };
	const uint8_t *read;
	const char *path;
	uint16_t misc;
	uint8_t id_bytes;

	byte_reader_skip(&r, sizeof(uint32_t));
	misc = byte_reader_u16(&r);
	byte_reader_skip(&r, sizeof(uint16_t) + sizeof(int32_t)); /* the record's size; a pid */
	read = byte_reader_bytes(&r, BUILD_ID_ROOM);
	id_bytes = byte_reader_u8(&r);
	byte_reader_skip(&r, 3);
	path = byte_reader_string(&r, NULL);
	if (!byte_reader_ok(&r))
		return error_set(err, ERROR_FORMAT, "a build id is cut short");
	memcpy(id.bytes, read, BUILD_ID_ROOM);
	if (misc & MISC_BUILD_ID_SIZE && id_bytes <= BUILD_ID_ROOM)
		id.size = id_bytes;
	if (strncmp(path, "[kernel.kallsyms]", 17) == 0)
		header->files.kernel = id;
	return recorded_files_add(&header->files, path, &id, err);
}
