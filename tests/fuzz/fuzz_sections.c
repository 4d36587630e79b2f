/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include "tests/fuzz/elf_around.h"

#include <stdlib.h>

/* The readers of single sections, in a file that is put together around them (elf_around.h). */

enum { ADDRESSES = 64, STEP = 13, TABLE_ADDRESS = 0x4000 };

static const struct elf_around_section sections[] = { { .name = ".debug_abbrev" }, { .name = ".debug_info" },
	{ .name = ".debug_line" }, { .name = ".debug_aranges" }, { .name = ".debug_rnglists" },
	{ .name = ".debug_ranges" }, { .name = ".debug_str" }, { .name = ".debug_line_str" }, { .name = ".debug_addr" },
	{ .name = ".gopclntab", .address = TABLE_ADDRESS }, { .name = ".go.module" }, { .name = ".gnu_debugdata" } };
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve(const struct buffer *file)
{
	const struct symbolize_options options = { .threads = 1, .fingerprints = SYMBOLIZE_FINGERPRINT_NONE };
	struct symbolize_result *result;
	struct elf_image *image;
	uint64_t addresses[ADDRESSES];
	struct error err;

	if (!elf_image_open_memory(file->data, file->size, "fuzz", &image, &err))
		return;
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = ELF_AROUND_TEXT + i * STEP;
	if (symbolize_addresses(image, addresses, ADDRESSES, &options, &result, &err)) {
		for (size_t i = 0; i < ADDRESSES; i++)
			if (symbolize_result_frames(result, i).count == 0)
				abort();
		symbolize_result_destroy(result);
	}
	elf_image_unref(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer file;

	if (size <= SECTIONS * sizeof(uint16_t))
		return 0;
	buffer_init(&file, (size_t)1 << 21);
	elf_around(byte_reader_over(data, size), sections, SECTIONS, &file);
	if (!file.failed)
		resolve(&file);
	buffer_deinit(&file);
	return 0;
}
