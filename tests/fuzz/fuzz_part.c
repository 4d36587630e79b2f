/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/part/part.h"
#include "sampler/sampler.h"

#include <string.h>

/* Input: payloads of chunks, each behind its size (16 bits); their hashes are made here, or none would be believed. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_chunk(struct buffer *file, const uint8_t *payload, uint32_t size)
{
	uint64_t hash = hash_bytes(payload, size);

	buffer_append(file, PART_CHUNK_MAGIC, 4);
	buffer_append(file, &size, sizeof(size));
	buffer_append(file, &hash, sizeof(hash));
	buffer_append(file, payload, size);
}

static void read_file(const struct buffer *file)
{
	struct sampler_recorded recorded = { .head = file->data, .head_bytes = file->size, .name = "part" };
	struct sampler_result result;
	struct error err;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	close(ends[1]);
	recorded.fd = ends[0];
	if (sampler_read_part(&recorded, &result, NULL, &err)) {
		if (!profile_validate(result.profile, &err))
			__builtin_trap();
		sampler_result_deinit(&result);
	}
	close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct buffer file;

	buffer_init(&file, 1 << 20);
	buffer_append_string(&file, PART_MAGIC);
	while (byte_reader_left(&r) > sizeof(uint16_t)) {
		uint16_t bytes = byte_reader_u16(&r);

		if (bytes > byte_reader_left(&r))
			bytes = (uint16_t)byte_reader_left(&r);
		put_chunk(&file, byte_reader_bytes(&r, bytes), bytes);
	}
	if (!file.failed)
		read_file(&file);
	buffer_deinit(&file);
	return 0;
}
