/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/named_frames.h"

#include "symbolize/addresses.h"

#include <string.h>

/* A table contains: header, addresses, times if it has them, indexes of the first frames, frames, sources, strings. */
static const char table_magic[8] = "kelvfrm2";

struct named_frames_header {
	char magic[8];
	uint64_t size; /* of the table */
	uint32_t address_count, frame_count, string_bytes, source_directory, source_count, has_times;
};

/* Names are offsets into the strings. */
struct frame_record {
	uint32_t name, linkage_name, file, decl_file;
	uint32_t line, decl_line;
	uint64_t fingerprint;
	uint32_t source, unused;
};

struct source_record {
	uint32_t path, text, first_line, has_md5;
	uint8_t md5[DWARF_MD5_BYTES];
};

/* ---- Reading ---- */

static bool named_frames_is_string(const struct named_frames *table, uint32_t offset)
{
	return offset < table->string_bytes;
}

static bool is_valid_record(const struct named_frames *table, const struct frame_record *record)
{
	return named_frames_is_string(table, record->name) && named_frames_is_string(table, record->linkage_name) &&
	       named_frames_is_string(table, record->file) && named_frames_is_string(table, record->decl_file) &&
	       record->source < PROFILE_NAME_SOURCE_COUNT;
}

/*
 * Returns whether addresses rise, as searches need, and none shares frames with another, which would take more memory
 * than the table itself.
 */
static bool is_rising(const struct named_frames *table)
{
	for (uint32_t i = 0; i < table->address_count; i++)
		if (table->first[i] > table->first[i + 1] ||
			(i > 0 && table->addresses[i - 1] >= table->addresses[i] + (table->times != NULL)))
			return false;
	return true;
}

bool named_frames_init(struct named_frames *table, const void *bytes, size_t size)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	const uint8_t *start = byte_reader_bytes(&r, sizeof(struct named_frames_header));
	struct named_frames_header header;

	if (!start)
		return false;
	memcpy(&header, start, sizeof(header));
	if (memcmp(header.magic, table_magic, sizeof(table_magic)) != 0 || header.size != size)
		return false;
	*table = (struct named_frames){ .address_count = header.address_count,
		.frame_count = header.frame_count,
		.string_bytes = header.string_bytes,
		.source_directory = header.source_directory,
		.source_count = header.source_count };
	table->addresses =
		(const uint64_t *)(const void *)byte_reader_bytes(&r, (size_t)header.address_count * sizeof(uint64_t));
	if (header.has_times)
		table->times = (const struct placement_time *)(const void *)byte_reader_bytes(
			&r, (size_t)header.address_count * sizeof(struct placement_time));
	table->first = (const uint32_t *)(const void *)byte_reader_bytes(
		&r, ((size_t)header.address_count + 1) * sizeof(uint32_t));
	byte_reader_align(&r, sizeof(uint64_t));
	table->records = (const struct frame_record *)(const void *)byte_reader_bytes(
		&r, (size_t)header.frame_count * sizeof(struct frame_record));
	table->sources = (const struct source_record *)(const void *)byte_reader_bytes(
		&r, (size_t)header.source_count * sizeof(struct source_record));
	table->strings = (const char *)byte_reader_bytes(&r, header.string_bytes);
	return byte_reader_ok(&r) && header.string_bytes > 0 && table->strings[header.string_bytes - 1] == '\0' &&
	       named_frames_is_string(table, header.source_directory) && is_rising(table);
}

static bool frames_at(const struct named_frames *table, size_t index, struct arena *arena,
	struct symbolize_frames *frames, struct error *err)
{
	uint32_t first = table->first[index], end = table->first[index + 1];
	struct symbolize_frame *kept;

	if (first >= end || end > table->frame_count)
		return true;
	kept = ARENA_ARRAY(arena, struct symbolize_frame, end - first);
	if (!kept)
		return error_set_memory(err);
	for (uint32_t i = first; i < end; i++) {
		const struct frame_record *record = &table->records[i];

		if (!is_valid_record(table, record))
			return true;
		kept[i - first] = (struct symbolize_frame){
			.name = table->strings + record->name,
			.linkage_name = table->strings + record->linkage_name,
			.file = table->strings + record->file,
			.decl_file = table->strings + record->decl_file,
			.line = record->line,
			.decl_line = record->decl_line,
			.fingerprint = record->fingerprint,
			.source = (enum profile_name_source)record->source,
		};
	}
	*frames = (struct symbolize_frames){ kept, end - first };
	return true;
}

bool named_frames_find(const struct named_frames *table, uint64_t address, struct arena *arena,
	struct symbolize_frames *frames, struct error *err)
{
	size_t index = addresses_lower_bound(table->addresses, table->address_count, address);

	*frames = (struct symbolize_frames){ 0 };
	if (index == table->address_count || table->addresses[index] != address)
		return true;
	return frames_at(table, index, arena, frames, err);
}

size_t named_frames_entries_of(const struct named_frames *table, uint64_t address, size_t *first)
{
	size_t end = *first = addresses_lower_bound(table->addresses, table->address_count, address);

	while (end < table->address_count && table->addresses[end] == address)
		end++;
	return end - *first;
}

bool named_frames_entry(const struct named_frames *table, size_t entry, struct arena *arena,
	struct symbolize_frames *frames, struct placement_time *time, struct error *err)
{
	*frames = (struct symbolize_frames){ 0 };
	*time = table->times ? table->times[entry] : placement_any_time;
	return frames_at(table, entry, arena, frames, err);
}

const char *named_frames_source_directory(const struct named_frames *table)
{
	return table->strings + table->source_directory;
}

bool named_frames_source(const struct named_frames *table, size_t index, struct dwarf_source *source)
{
	const struct source_record *record = &table->sources[index];

	if (!named_frames_is_string(table, record->path) || !named_frames_is_string(table, record->text))
		return false;
	*source = (struct dwarf_source){ .path = table->strings + record->path,
		.text = table->strings + record->text,
		.first_line = record->first_line,
		.has_md5 = record->has_md5 != 0 };
	memcpy(source->md5, record->md5, sizeof(source->md5));
	return true;
}

/* ---- Writing ---- */

struct named_frames_writer {
	struct buffer addresses, times, first, records, sources, strings;
	struct hash_map known_sources; /* what a record has -> its number */
	struct hash_map known;         /* hash and size of a string -> offset */
	uint32_t address_count, frame_count, source_count;
	size_t most_text_bytes;
	bool failed;
};

static uint32_t named_frames_add_string(struct named_frames_writer *w, const char *string)
{
	uint64_t key[2] = { hash_bytes(string, strlen(string)), strlen(string) };
	struct error ignored;
	uint32_t *offset;
	bool added;

	if (w->strings.size >= UINT32_MAX / 2 ||
		!hash_map_add(&w->known, key, (uint32_t)w->strings.size, &offset, &added, &ignored)) {
		w->failed = true;
		return 0;
	}
	if (added)
		buffer_append(&w->strings, string, strlen(string) + 1);
	return *offset;
}

static void named_frames_add_frames(
	struct named_frames_writer *w, uint64_t address, const struct symbolize_frames *frames)
{
	buffer_append(&w->addresses, &address, sizeof(address));
	buffer_append(&w->first, &w->frame_count, sizeof(w->frame_count));
	w->address_count++;
	for (size_t i = 0; i < frames->count; i++) {
		const struct symbolize_frame *frame = &frames->frames[i];
		const struct frame_record record = {
			.name = named_frames_add_string(w, frame->name),
			.linkage_name = named_frames_add_string(w, frame->linkage_name),
			.file = named_frames_add_string(w, frame->file),
			.decl_file = named_frames_add_string(w, frame->decl_file),
			.line = frame->line,
			.decl_line = frame->decl_line,
			.fingerprint = frame->fingerprint,
			.source = (uint32_t)frame->source,
		};

		buffer_append(&w->records, &record, sizeof(record));
		w->frame_count++;
	}
}

static void add_old(struct named_frames_writer *w, const struct named_frames *old, uint64_t before, size_t *next)
{
	for (; old && *next < old->address_count && old->addresses[*next] < before; (*next)++) {
		struct symbolize_frames frames = { 0 };
		struct error ignored;
		struct arena arena;

		arena_init(&arena, 0);
		if (frames_at(old, *next, &arena, &frames, &ignored) && frames.count > 0)
			named_frames_add_frames(w, old->addresses[*next], &frames);
		arena_deinit(&arena);
	}
}

/* Many units name the same files. */
static void named_frames_add_source(struct named_frames_writer *w, const struct dwarf_source *source)
{
	struct source_record record = { .path = named_frames_add_string(w, source->path),
		.first_line = source->first_line,
		.has_md5 = source->has_md5 };
	size_t size = strlen(source->text);
	struct error ignored;
	uint32_t *number;
	uint64_t key[2];
	bool added;

	if (size > w->most_text_bytes)
		return;
	record.text = named_frames_add_string(w, source->text);
	memcpy(record.md5, source->md5, sizeof(record.md5));
	key[0] = hash_bytes(&record, sizeof(record));
	key[1] = record.path;
	if (!hash_map_add(&w->known_sources, key, w->source_count, &number, &added, &ignored))
		w->failed = true;
	else if (added) {
		w->most_text_bytes -= size;
		w->source_count++;
		buffer_append(&w->sources, &record, sizeof(record));
	}
}

static void named_frames_add_sources(struct named_frames_writer *w, const struct named_frames_entries *entries)
{
	const struct named_frames *more = entries->old ? entries->old : entries->more_sources;
	struct dwarf_source source;

	for (size_t i = 0; i < entries->source_count; i++)
		named_frames_add_source(w, &entries->sources[i]);
	for (uint32_t i = 0; more && i < more->source_count; i++)
		if (named_frames_source(more, i, &source))
			named_frames_add_source(w, &source);
}

static void named_frames_add_all(struct named_frames_writer *w, const struct named_frames_entries *entries)
{
	size_t next = 0;

	for (size_t i = 0; i < entries->count; i++) {
		add_old(w, entries->old, entries->addresses[i], &next);
		if (entries->frames[i].count == 0)
			continue;
		named_frames_add_frames(w, entries->addresses[i], &entries->frames[i]);
		if (entries->times)
			buffer_append(&w->times, &entries->times[i], sizeof(entries->times[i]));
	}
	add_old(w, entries->old, UINT64_MAX, &next);
	named_frames_add_sources(w, entries);
	buffer_append(&w->first, &w->frame_count, sizeof(w->frame_count));
}

static bool join_parts(struct named_frames_writer *w, const struct named_frames_entries *entries, struct buffer *out,
	struct error *err)
{
	struct named_frames_header header = { .address_count = w->address_count,
		.frame_count = w->frame_count,
		.source_count = w->source_count,
		.has_times = entries->times != NULL };
	size_t begin = out->size;

	header.source_directory = named_frames_add_string(w, entries->source_directory);
	header.string_bytes = (uint32_t)w->strings.size;
	memcpy(header.magic, table_magic, sizeof(table_magic));
	buffer_append(out, &header, sizeof(header));
	buffer_append(out, w->addresses.data, w->addresses.size);
	buffer_append(out, w->times.data, w->times.size);
	buffer_append(out, w->first.data, w->first.size);
	while (out->size % sizeof(uint64_t) != 0 && !out->failed)
		buffer_append_byte(out, 0);
	buffer_append(out, w->records.data, w->records.size);
	buffer_append(out, w->sources.data, w->sources.size);
	buffer_append(out, w->strings.data, w->strings.size);
	if (w->failed)
		return error_set_memory(err);
	if (!buffer_ok(&w->records, err) || !buffer_ok(&w->sources, err) || !buffer_ok(&w->strings, err) ||
		!buffer_ok(&w->addresses, err) || !buffer_ok(&w->times, err) || !buffer_ok(&w->first, err) ||
		!buffer_ok(out, err))
		return false;
	header.size = out->size - begin;
	memcpy(out->data + begin, &header, sizeof(header));
	return true;
}

bool named_frames_write(const struct named_frames_entries *entries, struct buffer *out, struct error *err)
{
	struct named_frames_writer w = { .most_text_bytes = out->max_bytes / 2 };
	bool ok;

	buffer_init(&w.addresses, out->max_bytes);
	buffer_init(&w.times, out->max_bytes);
	buffer_init(&w.first, out->max_bytes);
	buffer_init(&w.records, out->max_bytes);
	buffer_init(&w.sources, out->max_bytes);
	buffer_init(&w.strings, out->max_bytes);
	hash_map_init(&w.known_sources, 2 * sizeof(uint64_t));
	hash_map_init(&w.known, 2 * sizeof(uint64_t));
	named_frames_add_all(&w, entries);
	ok = join_parts(&w, entries, out, err);
	hash_map_deinit(&w.known);
	hash_map_deinit(&w.known_sources);
	buffer_deinit(&w.sources);
	buffer_deinit(&w.addresses);
	buffer_deinit(&w.times);
	buffer_deinit(&w.first);
	buffer_deinit(&w.records);
	buffer_deinit(&w.strings);
	return ok;
}
