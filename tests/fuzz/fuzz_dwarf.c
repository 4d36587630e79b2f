/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/name_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A whole ELF file: symbol tables, PLT, unwind tables, DWARF, and its code for fingerprints. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct error err;

	if (!elf_image_open_memory(data, size, "fuzz", &image, &err))
		return 0;
	name_code(image, SYMBOLIZE_FINGERPRINT_ALL);
	elf_image_unref(image);
	return 0;
}
