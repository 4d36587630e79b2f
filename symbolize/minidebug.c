/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/minidebug.h"

#include <lzma.h>

enum { STEP_BYTES = 1 << 18 };
static const size_t max_unpacked_bytes = (size_t)256 << 20;
/* Symbol tables shrink to a fifth; xz can pack zeros to a seven thousandth. */
static const size_t free_unpacked_bytes = (size_t)1 << 20, max_ratio = 64;
static const uint64_t max_decoder_bytes = (uint64_t)128 << 20;

static size_t unpacked_limit(size_t packed_bytes)
{
	return packed_bytes < max_unpacked_bytes / max_ratio ? packed_bytes * max_ratio + free_unpacked_bytes
							     : max_unpacked_bytes;
}

/* False if it is damaged, larger than any such file, or memory runs out, which the buffer's state shows. */
static bool minidebug_unpack(const struct elf_section *packed, struct buffer *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, max_decoder_bytes, 0);

	stream.next_in = packed->bytes;
	stream.avail_in = packed->size;
	while (result == LZMA_OK) {
		stream.next_out = buffer_reserve(out, STEP_BYTES);
		if (!stream.next_out)
			break;
		stream.avail_out = STEP_BYTES;
		result = lzma_code(&stream, LZMA_FINISH);
		buffer_commit(out, STEP_BYTES - stream.avail_out);
	}
	lzma_end(&stream);
	return result == LZMA_STREAM_END;
}

bool minidebug_open(struct elf_image *image, struct elf_image **mini, struct error *err)
{
	struct elf_section packed;
	struct buffer bytes;
	struct error why = { 0 };
	bool ok = true;

	*mini = NULL;
	if (!elf_image_section(image, ".gnu_debugdata", &packed))
		return true;
	buffer_init(&bytes, unpacked_limit(packed.size));
	if (minidebug_unpack(&packed, &bytes)) {
		if (!elf_image_open_memory(bytes.data, bytes.size, elf_image_path(image), mini, &why) &&
			why.code == ERROR_MEMORY)
			ok = error_set_memory(err);
	} else if (bytes.failed && !bytes.over_limit) {
		ok = error_set_memory(err);
	}
	buffer_deinit(&bytes);
	return ok;
}
