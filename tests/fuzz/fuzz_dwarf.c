/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <stdlib.h>

enum { ADDRESSES = 64, STEP = 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A whole ELF file: symbol tables, PLT, unwind tables, DWARF, and its code for fingerprints. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symbolize_options options = { .threads = 1 };
	struct symbolize_result *result;
	struct elf_image *image;
	uint64_t addresses[ADDRESSES];
	struct error err;

	if (!elf_image_open_memory(data, size, "fuzz", &image, &err))
		return 0;
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = 0x1000 + i * STEP;
	if (symbolize_addresses(image, addresses, ADDRESSES, &options, &result, &err)) {
		for (size_t i = 0; i < ADDRESSES; i++)
			if (symbolize_result_frames(result, i).count == 0)
				abort();
		symbolize_result_destroy(result);
	}
	elf_image_unref(image);
	return 0;
}
