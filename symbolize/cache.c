/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cache.h"

#include "symbolize/addresses.h"
#include "symbolize/symbolize.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file contains the whole key, whose hash is the file's name, and a table of frames. Whole words, without padding. */
struct stored_key {
	struct elf_file_identity files[FRAME_CACHE_FILES];
	uint64_t module, program, has_lines, fingerprints;
};

static const size_t max_file_bytes = (size_t)64 << 20;

struct frame_cache {
	void *bytes; /* mapped: most of a large file is never read */
	size_t size;
	struct named_frames table;
};

/* ---- Directories ---- */

bool symbolize_cache_directory(char *path, size_t size)
{
	return cache_directory_path("frames", path, size);
}

bool symbolize_perf_cache_directory(char *path, size_t size)
{
	const char *home = cache_directory_home();
	int length = home ? snprintf(path, size, "%s/.debug", home) : 0;

	return length > 0 && (size_t)length < size;
}

/* ---- Keys ---- */

uint64_t frame_cache_program(void)
{
	uint64_t parts[2] = { 0 };
	struct stat info;

	if (stat("/proc/self/exe", &info) == 0) {
		parts[0] = info.st_ino;
		parts[1] = (uint64_t)info.st_mtim.tv_sec;
	}
	return hash_bytes(parts, sizeof(parts));
}

struct frame_cache_key frame_cache_key_of(const struct symbolize_options *options, const struct elf_image *image,
	const struct elf_image *debug, const struct elf_image *alt)
{
	const struct elf_image *images[FRAME_CACHE_FILES] = { image, debug, alt };
	const char *slash = strrchr(elf_image_path(image), '/');
	struct frame_cache_key key = {
		.directory = options->cache_directory,
		.module = slash ? slash + 1 : elf_image_path(image),
		.program = options->cache_program ? options->cache_program : frame_cache_program(),
		.has_lines = !options->names_only,
		.fingerprints = options->fingerprints,
		.opener = options->cache_opener,
	};

	for (size_t i = 0; i < FRAME_CACHE_FILES; i++)
		if (images[i])
			key.files[i] = *elf_image_identity(images[i]);
	return key;
}

/* False if the image cannot be distinguished from others. */
static bool store_key(const struct frame_cache_key *key, struct stored_key *stored)
{
	*stored = (struct stored_key){
		.module = hash_bytes(key->module, strlen(key->module)),
		.program = key->program,
		.has_lines = key->has_lines,
		.fingerprints = key->fingerprints,
	};
	memcpy(stored->files, key->files, sizeof(stored->files));
	return stored->files[0].size > 0;
}

static uint64_t cache_name_of(const struct stored_key *stored)
{
	return hash_bytes(stored, sizeof(*stored));
}

static bool make_path(const char *directory, uint64_t name, char *path)
{
	int size = snprintf(path, PATH_MAX, "%s/%016" PRIx64, directory, name);

	return size > 0 && size < PATH_MAX;
}

/* ---- Reading ---- */

static int cache_open_own(const char *directory, uint64_t name)
{
	char text[32];

	snprintf(text, sizeof(text), "%016" PRIx64, name);
	return cache_directory_open(directory, text);
}

int frame_cache_open_file(const char *directory, uint64_t name, const struct elf_image *image)
{
	struct stored_key stored;
	int fd = cache_open_own(directory, name);

	if (fd < 0 || (pread(fd, &stored, sizeof(stored), 0) == (ssize_t)sizeof(stored) &&
			      memcmp(&stored.files[0], elf_image_identity(image), sizeof(stored.files[0])) == 0))
		return fd;
	close(fd);
	return -1;
}

/* Maps a file. Files are replaced, never changed, so the mapping does not change. */
static bool cache_map_file(struct frame_cache *cache, const struct frame_cache_key *key, uint64_t name)
{
	CLEANUP(cleanup_close)
	int fd = key->opener ? key->opener->open(key->opener->context, name) : cache_open_own(key->directory, name);
	struct stat info;
	void *bytes;

	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0 || (uint64_t)info.st_size > max_file_bytes)
		return false;
	bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	cache->bytes = bytes;
	cache->size = (size_t)info.st_size;
	return true;
}

static bool read_parts(struct frame_cache *cache, const struct stored_key *key)
{
	const uint8_t *bytes = cache->bytes;

	return cache->size > sizeof(*key) && memcmp(bytes, key, sizeof(*key)) == 0 &&
	       named_frames_init(&cache->table, bytes + sizeof(*key), cache->size - sizeof(*key));
}

bool frame_cache_open(const struct frame_cache_key *key, struct frame_cache **cache, struct error *err)
{
	struct frame_cache *made;
	struct stored_key stored;

	*cache = NULL;
	if (!store_key(key, &stored))
		return true;
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	if (cache_map_file(made, key, cache_name_of(&stored)) && read_parts(made, &stored)) {
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

const struct named_frames *frame_cache_table(const struct frame_cache *cache)
{
	return &cache->table;
}

/* ---- Writing ---- */

/*
 * Returns whether to prune: for one in sixteen of the new files, since listing a full directory takes as long as
 * resolving a library.
 */
static bool is_to_prune(const char *path)
{
	return path[strlen(path) - 1] == '0' && access(path, F_OK) != 0;
}

void frame_cache_store(const struct frame_cache_key *key, const struct named_frames_entries *entries)
{
	struct stored_key stored;
	struct error ignored;
	struct buffer out = BUFFER_INIT(max_file_bytes);
	char path[PATH_MAX];

	if (!store_key(key, &stored) || !make_path(key->directory, cache_name_of(&stored), path) ||
		!cache_directory_prepare(key->directory))
		return;
	if (is_to_prune(path))
		cache_directory_prune(key->directory);
	buffer_append(&out, &stored, sizeof(stored));
	/* A failed write is ignored: the next read finds a damaged or missing file. Too large ones are not written. */
	if (named_frames_write(entries, &out, &ignored))
		(void)!file_write(path, out.data, out.size, 0600, &ignored);
	buffer_deinit(&out);
}

static bool is_cached(const struct frame_cache *cache, uint64_t address)
{
	const struct named_frames *old = cache ? &cache->table : NULL;
	size_t index = old ? addresses_lower_bound(old->addresses, old->address_count, address) : 0;

	return old && index < old->address_count && old->addresses[index] == address;
}

void frame_cache_add(const struct frame_cache_key *key, const struct named_frames *table)
{
	CLEANUP(cleanup_free) uint64_t *addresses = calloc(table->address_count + 1, sizeof(*addresses));
	CLEANUP(cleanup_free)
	struct symbolize_frames *frames = calloc(table->address_count + 1, sizeof(*frames));
	CLEANUP(cleanup_free)
	struct dwarf_source *sources = calloc(table->source_count + 1, sizeof(*sources));
	struct named_frames_entries entries = { .addresses = addresses,
		.frames = frames,
		.source_directory = named_frames_source_directory(table),
		.sources = sources };
	struct frame_cache *cache = NULL;
	struct error ignored;
	struct arena arena;
	size_t count = 0;

	for (uint32_t i = 0; sources && i < table->source_count; i++)
		entries.source_count += named_frames_source(table, i, &sources[entries.source_count]);
	arena_init(&arena, 0);
	if (addresses && frames && frame_cache_open(key, &cache, &ignored)) {
		for (uint32_t i = 0; i < table->address_count; i++) {
			addresses[count] = table->addresses[i];
			if (!is_cached(cache, table->addresses[i]) &&
				named_frames_find(table, table->addresses[i], &arena, &frames[count], &ignored))
				count++;
		}
		entries.old = cache ? &cache->table : NULL;
		entries.count = count;
		frame_cache_store(key, &entries);
	}
	frame_cache_close(cache);
	arena_deinit(&arena);
}
