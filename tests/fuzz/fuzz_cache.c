/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cache.h"

#include "tests/fuzz/scratch.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* A file of the frame cache, from behind its size on: the key that it begins with is right, or it would be ignored. */

enum { MAX_FILE_BYTES = 1 << 20 };

struct stored {
	char name[NAME_MAX + 1]; /* of the file that belongs to the key */
	struct buffer start;     /* up to and with its size */
	struct elf_image *image;
	struct frame_cache_key key;
	char directory[PATH_MAX];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void find_name(struct stored *stored)
{
	DIR *stream = opendir(stored->directory);
	const struct dirent *entry;

	must(stream);
	while ((entry = readdir(stream)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "program") != 0)
			snprintf(stored->name, sizeof(stored->name), "%s", entry->d_name);
	closedir(stream);
	must(stored->name[0]);
}

/* Has the cache write a file, to learn its name and how it begins. */
static void store(struct stored *stored)
{
	static const struct symbolize_frame frame = { "f", "", "", "", 0, 0, 0, PROFILE_NAME_DWARF };
	static const struct symbolize_frames frames = { &frame, 1 };
	static const uint64_t address = 1;
	const struct frame_cache_entries entries = {
		.addresses = &address, .frames = &frames, .count = 1, .source_directory = ""
	};
	char path[PATH_MAX];
	uint64_t size;
	const uint8_t *found;
	struct error err;

	frame_cache_store(&stored->key, &entries);
	find_name(stored);
	scratch_path(stored->name, path);
	must(file_read(path, &stored->start, &err));
	size = stored->start.size;
	found = memmem(stored->start.data, stored->start.size, &size, sizeof(size));
	must(found);
	stored->start.size = (size_t)(found - (const uint8_t *)stored->start.data) + sizeof(size);
}

static struct stored *stored_once(void)
{
	static struct stored stored;
	struct error err;
	char path[PATH_MAX];

	if (stored.image)
		return &stored;
	scratch_path(".", stored.directory);
	scratch_path("program", path);
	buffer_init(&stored.start, MAX_FILE_BYTES);
	must(file_read("/proc/self/exe", &stored.start, &err) || stored.start.size > 0);
	scratch_write("program", stored.start.data, stored.start.size);
	must(elf_image_open_path(path, &stored.image, &err));
	stored.start.size = 0;
	stored.key =
		(struct frame_cache_key){ .directory = stored.directory, .image = stored.image, .debug = stored.image };
	store(&stored);
	return &stored;
}

static void use(const struct frame_cache *cache, const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	volatile size_t sum = strlen(frame_cache_source_directory(cache));
	struct symbolize_frames frames;
	struct arena arena;
	struct error err;

	arena_init(&arena, 0);
	while (byte_reader_left(&r) >= sizeof(uint64_t))
		if (frame_cache_find(cache, byte_reader_u64(&r), &arena, &frames, &err))
			for (size_t i = 0; i < frames.count; i++)
				sum += strlen(frames.frames[i].name) + strlen(frames.frames[i].linkage_name) +
				       strlen(frames.frames[i].file) + strlen(frames.frames[i].decl_file);
	arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stored *stored = stored_once();
	struct frame_cache *cache = NULL;
	struct buffer file;
	struct error err;
	uint64_t bytes = stored->start.size + size;

	buffer_init(&file, MAX_FILE_BYTES);
	buffer_append(&file, stored->start.data, stored->start.size - sizeof(bytes));
	buffer_append(&file, &bytes, sizeof(bytes));
	buffer_append(&file, data, size);
	must(!file.failed);
	scratch_write(stored->name, file.data, file.size);
	buffer_deinit(&file);
	if (frame_cache_open(&stored->key, &cache, &err) && cache)
		use(cache, data, size);
	frame_cache_close(cache);
	return 0;
}
