/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampler.h"

#include <string.h>

/* Input: fields of increments, each behind their size (16 bits); their hashes are made here, or none would be believed.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first increment begins with the magic, so that `file` holds it when the increment begins. */
static void end_increment(struct buffer *file, size_t *begin)
{
	static const uint8_t tag[] = { 0xf1, 0xb8, 0x04 };
	uint64_t hash = hash_bytes(file->data + *begin, file->size - *begin);

	buffer_append(file, tag, sizeof(tag));
	buffer_append(file, &hash, sizeof(hash));
	*begin = file->size;
}

static void read_file(const struct buffer *file)
{
	struct recording_file recorded = { .head = file->data, .head_bytes = file->size, .name = "part" };
	struct recording result;
	struct error err;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	close(ends[1]);
	recorded.fd = ends[0];
	if (sampler_read_part(&recorded, &result, NULL, &err)) {
		if (!profile_validate(result.profile, &err))
			__builtin_trap();
		recording_deinit(&result);
	}
	close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct buffer file;
	size_t begin = 0;

	buffer_init(&file, 1 << 20);
	buffer_append_string(&file, PROFILE_INCREMENTS_MAGIC);
	while (byte_reader_left(&r) > sizeof(uint16_t)) {
		uint16_t bytes = byte_reader_u16(&r);

		if (bytes > byte_reader_left(&r))
			bytes = (uint16_t)byte_reader_left(&r);
		buffer_append(&file, byte_reader_bytes(&r, bytes), bytes);
		if (!file.failed)
			end_increment(&file, &begin);
	}
	if (!file.failed)
		read_file(&file);
	buffer_deinit(&file);
	return 0;
}
