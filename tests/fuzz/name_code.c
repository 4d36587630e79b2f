/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/name_code.h"

#include <elf.h>
#include <stdlib.h>

/* Where the first segment with code begins; 0 in a file without segments. */
static uint64_t code_start(const struct elf_image *image)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	for (size_t i = 0; i < count; i++)
		if (segments[i].flags & PF_X)
			return segments[i].address;
	return 0;
}

uint64_t name_code_address(const struct elf_image *image, size_t number)
{
	return code_start(image) + number * NAME_CODE_STEP;
}

bool name_code(struct elf_image *image, enum symbolize_fingerprints fingerprints)
{
	const char *nowhere = "/nonexistent";
	const struct symbolize_options options = {
		.threads = 1, .debug = { .directories = &nowhere, .directory_count = 1 }, .fingerprints = fingerprints
	};
	struct symbolize_result *result;
	uint64_t addresses[NAME_CODE_ADDRESSES];
	struct error err;
	bool has_lines = false;

	for (size_t i = 0; i < NAME_CODE_ADDRESSES; i++)
		addresses[i] = name_code_address(image, i);
	if (!symbolize_addresses(image, addresses, NAME_CODE_ADDRESSES, &options, &result, &err))
		return false;
	for (size_t i = 0; i < NAME_CODE_ADDRESSES; i++) {
		struct symbolize_frames frames = symbolize_result_frames(result, i);

		if (frames.count == 0)
			abort();
		has_lines |= frames.frames[0].line > 0;
	}
	symbolize_result_destroy(result);
	return has_lines;
}
