/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_elf.h"
#include "tests/fuzz/name_code.h"
#include "tests/fuzz/target.h"

/* A whole ELF file: symbol tables, PLT, unwind tables, DWARF, and its code for fingerprints. */
bool fuzz_take(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct error err;
	bool has_lines;

	if (!elf_image_open_memory(data, size, "fuzz", &image, &err))
		return false;
	has_lines = name_code(image, SYMBOLIZE_FINGERPRINT_ALL);
	elf_image_unref(image);
	return has_lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate_elf);
}
