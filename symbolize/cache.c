/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cache.h"

#include "symbolize/cache_directory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A file contains: header, addresses (rising), the index of each address's first frame and of the end, frames, strings.
 * Numbers have the machine's byte order, since the cache is not copied to other machines.
 */
static const char magic[8] = "kelvsym2";

enum { KEY_IMAGES = 3 };

/* Whole words, without padding. */
struct stored_key {
	struct elf_file_identity files[KEY_IMAGES];
	uint64_t module;  /* hash of its name, which functions without a name are named by */
	uint64_t program; /* that resolved them: another version may resolve them differently */
	uint64_t has_lines, fingerprints;
};

struct header {
	char magic[8];
	struct stored_key key;
	uint64_t size; /* of the file */
	uint32_t address_count, frame_count, string_bytes, source_directory;
};

/* Names are offsets into the strings. */
struct record {
	uint32_t name, linkage_name, file, decl_file;
	uint32_t line, decl_line;
	uint64_t fingerprint;
	uint32_t source, unused;
};

static const size_t max_file_bytes = (size_t)64 << 20;

struct frame_cache {
	void *bytes; /* mapped: most of a large file is never read */
	size_t size;
	struct header header;
	const uint64_t *addresses;
	const uint32_t *first;
	const struct record *records;
	const char *strings;
};

/* ---- Keys ---- */

static uint64_t own_program(void)
{
	uint64_t parts[2] = { 0 };
	struct stat info;

	if (stat("/proc/self/exe", &info) == 0) {
		parts[0] = info.st_ino;
		parts[1] = (uint64_t)info.st_mtim.tv_sec;
	}
	return hash_bytes(parts, sizeof(parts));
}

/* False if the image cannot be distinguished from others. */
static bool store_key(const struct frame_cache_key *key, struct stored_key *stored)
{
	const struct elf_image *images[KEY_IMAGES] = { key->image, key->debug, key->alt };
	const char *slash = strrchr(elf_image_path(key->image), '/'),
		   *module = slash ? slash + 1 : elf_image_path(key->image);

	*stored = (struct stored_key){
		.module = hash_bytes(module, strlen(module)),
		.program = own_program(),
		.has_lines = key->has_lines,
		.fingerprints = key->fingerprints,
	};
	for (size_t i = 0; i < KEY_IMAGES; i++)
		if (images[i])
			stored->files[i] = *elf_image_identity(images[i]);
	return stored->files[0].size > 0;
}

static bool name_file(const struct frame_cache_key *key, const struct stored_key *stored, char *path)
{
	int size = snprintf(path, PATH_MAX, "%s/%016" PRIx64, key->directory, hash_bytes(stored, sizeof(*stored)));

	return size > 0 && size < PATH_MAX;
}

/* ---- Reading ---- */

static bool is_string(const struct header *header, uint32_t offset)
{
	return offset < header->string_bytes;
}

static bool is_valid_record(const struct header *header, const struct record *record)
{
	return is_string(header, record->name) && is_string(header, record->linkage_name) &&
	       is_string(header, record->file) && is_string(header, record->decl_file) &&
	       record->source < PROFILE_NAME_SOURCE_COUNT;
}

static bool read_parts(struct frame_cache *cache, const struct stored_key *key)
{
	struct byte_reader r = byte_reader_over(cache->bytes, cache->size);
	const uint8_t *header = byte_reader_bytes(&r, sizeof(cache->header));
	const struct header *h = &cache->header;

	if (!header)
		return false;
	memcpy(&cache->header, header, sizeof(cache->header));
	if (memcmp(h->magic, magic, sizeof(magic)) != 0 || memcmp(&h->key, key, sizeof(*key)) != 0 ||
		h->size != cache->size)
		return false;
	cache->addresses =
		(const uint64_t *)(const void *)byte_reader_bytes(&r, (size_t)h->address_count * sizeof(uint64_t));
	cache->first = (const uint32_t *)(const void *)byte_reader_bytes(
		&r, ((size_t)h->address_count + 1) * sizeof(uint32_t));
	byte_reader_align(&r, sizeof(uint64_t));
	cache->records = (const struct record *)(const void *)byte_reader_bytes(
		&r, (size_t)h->frame_count * sizeof(struct record));
	cache->strings = (const char *)byte_reader_bytes(&r, h->string_bytes);
	return byte_reader_ok(&r) && h->string_bytes > 0 && cache->strings[h->string_bytes - 1] == '\0' &&
	       is_string(h, h->source_directory);
}

/* Maps a file. Files are replaced, never changed, so the mapping does not change. */
static bool map_file(struct frame_cache *cache, const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat info;
	void *bytes;

	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
		info.st_size <= 0 || (uint64_t)info.st_size > max_file_bytes)
		return false;
	bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	cache->bytes = bytes;
	cache->size = (size_t)info.st_size;
	return true;
}

bool frame_cache_open(const struct frame_cache_key *key, struct frame_cache **cache, struct error *err)
{
	struct frame_cache *made;
	struct stored_key stored;
	char path[PATH_MAX];

	*cache = NULL;
	if (!store_key(key, &stored) || !name_file(key, &stored, path))
		return true;
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	if (map_file(made, path) && read_parts(made, &stored)) {
		*cache = made;
		return true;
	}
	frame_cache_close(made);
	return true;
}

void frame_cache_close(struct frame_cache *cache)
{
	if (!cache)
		return;
	if (cache->bytes)
		munmap(cache->bytes, cache->size);
	free(cache);
}

const char *frame_cache_source_directory(const struct frame_cache *cache)
{
	return cache->strings + cache->header.source_directory;
}

static bool frames_at(const struct frame_cache *cache, size_t index, struct arena *arena,
	struct symbolize_frames *frames, struct error *err)
{
	uint32_t first = cache->first[index], end = cache->first[index + 1];
	struct symbolize_frame *kept;

	if (first >= end || end > cache->header.frame_count)
		return true;
	kept = ARENA_ARRAY(arena, struct symbolize_frame, end - first);
	if (!kept)
		return error_set_memory(err);
	for (uint32_t i = first; i < end; i++) {
		const struct record *record = &cache->records[i];

		if (!is_valid_record(&cache->header, record))
			return true;
		kept[i - first] = (struct symbolize_frame){
			.name = cache->strings + record->name,
			.linkage_name = cache->strings + record->linkage_name,
			.file = cache->strings + record->file,
			.decl_file = cache->strings + record->decl_file,
			.line = record->line,
			.decl_line = record->decl_line,
			.fingerprint = record->fingerprint,
			.source = (enum profile_name_source)record->source,
		};
	}
	*frames = (struct symbolize_frames){ kept, end - first };
	return true;
}

bool frame_cache_find(const struct frame_cache *cache, uint64_t address, struct arena *arena,
	struct symbolize_frames *frames, struct error *err)
{
	size_t low = 0, high = cache->header.address_count;

	*frames = (struct symbolize_frames){ 0 };
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cache->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == cache->header.address_count || cache->addresses[low] != address)
		return true;
	return frames_at(cache, low, arena, frames, err);
}

/* ---- Writing ---- */

struct writer {
	struct buffer addresses, first, records, strings;
	struct hash_map known; /* hash and size of a string -> offset */
	uint32_t address_count, frame_count;
	bool failed;
};

static uint32_t add_string(struct writer *w, const char *string)
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

static void add_frames(struct writer *w, uint64_t address, const struct symbolize_frames *frames)
{
	buffer_append(&w->addresses, &address, sizeof(address));
	buffer_append(&w->first, &w->frame_count, sizeof(w->frame_count));
	w->address_count++;
	for (size_t i = 0; i < frames->count; i++) {
		const struct symbolize_frame *frame = &frames->frames[i];
		const struct record record = {
			.name = add_string(w, frame->name),
			.linkage_name = add_string(w, frame->linkage_name),
			.file = add_string(w, frame->file),
			.decl_file = add_string(w, frame->decl_file),
			.line = frame->line,
			.decl_line = frame->decl_line,
			.fingerprint = frame->fingerprint,
			.source = (uint32_t)frame->source,
		};

		buffer_append(&w->records, &record, sizeof(record));
		w->frame_count++;
	}
}

static void add_old(struct writer *w, const struct frame_cache *old, uint64_t before, size_t *next)
{
	for (; old && *next < old->header.address_count && old->addresses[*next] < before; (*next)++) {
		struct symbolize_frames frames = { 0 };
		struct error ignored;
		struct arena arena;

		arena_init(&arena, 0);
		if (frames_at(old, *next, &arena, &frames, &ignored) && frames.count > 0)
			add_frames(w, old->addresses[*next], &frames);
		arena_deinit(&arena);
	}
}

/* Joins the parts; too large ones are not written. */
static void write_parts(struct writer *w, const struct stored_key *key, const char *source_directory, const char *path)
{
	struct header header = { .key = *key, .address_count = w->address_count, .frame_count = w->frame_count };
	struct error ignored;
	struct buffer out;

	header.source_directory = add_string(w, source_directory);
	header.string_bytes = (uint32_t)w->strings.size;
	memcpy(header.magic, magic, sizeof(magic));
	buffer_append(&w->first, &w->frame_count, sizeof(w->frame_count));
	buffer_init(&out, max_file_bytes);
	buffer_append(&out, &header, sizeof(header));
	buffer_append(&out, w->addresses.data, w->addresses.size);
	buffer_append(&out, w->first.data, w->first.size);
	while (out.size % sizeof(uint64_t) != 0 && !out.failed)
		buffer_append_byte(&out, 0);
	buffer_append(&out, w->records.data, w->records.size);
	buffer_append(&out, w->strings.data, w->strings.size);
	if (!w->failed && !out.failed && !w->records.failed && !w->strings.failed && !w->addresses.failed &&
		!w->first.failed) {
		header.size = out.size;
		memcpy(out.data, &header, sizeof(header));
		/* A failed write is ignored: the next read finds a damaged or missing file. */
		(void)!file_write(path, out.data, out.size, 0600, &ignored);
	}
	buffer_deinit(&out);
}

/*
 * Whether to prune: for one in sixteen of the new files, since listing a full directory takes as long as resolving a
 * library.
 */
static bool is_to_prune(const char *path)
{
	return path[strlen(path) - 1] == '0' && access(path, F_OK) != 0;
}

void frame_cache_store(const struct frame_cache_key *key, const struct frame_cache_entries *entries)
{
	struct writer w = { 0 };
	struct stored_key stored;
	char path[PATH_MAX];
	size_t next = 0;

	if (!store_key(key, &stored) || !name_file(key, &stored, path) || !cache_directory_prepare(key->directory))
		return;
	if (is_to_prune(path))
		cache_directory_prune(key->directory);
	buffer_init(&w.addresses, max_file_bytes);
	buffer_init(&w.first, max_file_bytes);
	buffer_init(&w.records, max_file_bytes);
	buffer_init(&w.strings, max_file_bytes);
	hash_map_init(&w.known, 2 * sizeof(uint64_t));
	for (size_t i = 0; i < entries->count; i++) {
		add_old(&w, entries->old, entries->addresses[i], &next);
		if (entries->frames[i].count > 0)
			add_frames(&w, entries->addresses[i], &entries->frames[i]);
	}
	add_old(&w, entries->old, UINT64_MAX, &next);
	write_parts(&w, &stored, entries->source_directory, path);
	hash_map_deinit(&w.known);
	buffer_deinit(&w.addresses);
	buffer_deinit(&w.first);
	buffer_deinit(&w.records);
	buffer_deinit(&w.strings);
}
