/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/name_code.h"

#include <stdlib.h>

void name_code(struct elf_image *image, enum symbolize_fingerprints fingerprints)
{
	const char *nowhere = "/nonexistent";
	const struct symbolize_options options = {
		.threads = 1, .debug = { .directories = &nowhere, .directory_count = 1 }, .fingerprints = fingerprints
	};
	struct symbolize_result *result;
	uint64_t addresses[NAME_CODE_ADDRESSES];
	struct error err;

	for (size_t i = 0; i < NAME_CODE_ADDRESSES; i++)
		addresses[i] = NAME_CODE_START + i * NAME_CODE_STEP;
	if (!symbolize_addresses(image, addresses, NAME_CODE_ADDRESSES, &options, &result, &err))
		return;
	for (size_t i = 0; i < NAME_CODE_ADDRESSES; i++)
		if (symbolize_result_frames(result, i).count == 0)
			abort();
	symbolize_result_destroy(result);
}
