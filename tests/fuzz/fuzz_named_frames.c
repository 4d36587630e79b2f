/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/named_frames.h"

#include "tests/fuzz/table_bytes.h"

#include <stdlib.h>
#include <string.h>

/*
 * Resolved frames as bytes: a file of the cache behind its key, or what a confined child process hands over. Input:
 * what follows the magic and the size, which are right, or the rest would not be read.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_HEADER_BYTES = 64 };

static size_t lengths_of(const struct symbolize_frames *frames)
{
	size_t sum = 0;

	for (size_t i = 0; i < frames->count; i++)
		sum += strlen(frames->frames[i].name) + strlen(frames->frames[i].linkage_name) +
		       strlen(frames->frames[i].file) + strlen(frames->frames[i].decl_file);
	return sum;
}

/* Asks for every number of the bytes as an address: those of the table are among them. */
static void use(const struct named_frames *table, const uint8_t *data, size_t size)
{
	volatile size_t sum = strlen(named_frames_source_directory(table));
	struct byte_reader r = byte_reader_over(data, size);
	struct symbolize_frames frames;
	struct dwarf_source source;
	struct arena arena;
	struct error err;

	arena_init(&arena, 0);
	for (uint32_t i = 0; i < table->source_count; i++)
		if (named_frames_source(table, i, &source))
			sum += strlen(source.path) + strlen(source.text) + source.md5[0];
	while (byte_reader_left(&r) >= sizeof(uint64_t))
		if (named_frames_find(table, byte_reader_u64(&r), &arena, &frames, &err))
			sum += lengths_of(&frames);
	arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct named_frames table;
	struct buffer whole;

	/* Its memory is aligned as the table needs it. */
	buffer_init(&whole, size + MAX_HEADER_BYTES);
	table_bytes_put(&whole, data, size);
	if (whole.failed)
		abort();
	if (named_frames_init(&table, whole.data, whole.size))
		use(&table, data, size);
	buffer_deinit(&whole);
	return 0;
}
