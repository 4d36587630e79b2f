/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/elf_around.h"
#include "tests/fuzz/name_code.h"

/* The readers of single sections, in a file that is put together around them (elf_around.h). */

enum { TABLE_ADDRESS = 0x4000 };

/* The code that is named is that of the file. */
_Static_assert((int)NAME_CODE_START == (int)ELF_AROUND_TEXT, "both begin at the same address");

static const struct elf_around_section sections[] = { { .name = ".debug_abbrev" }, { .name = ".debug_info" },
	{ .name = ".debug_line" }, { .name = ".debug_aranges" }, { .name = ".debug_rnglists" },
	{ .name = ".debug_ranges" }, { .name = ".debug_str" }, { .name = ".debug_line_str" }, { .name = ".debug_addr" },
	{ .name = ".gopclntab", .address = TABLE_ADDRESS }, { .name = ".go.module" }, { .name = ".gnu_debugdata" } };
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct buffer file;
	struct error err;

	if (size <= SECTIONS * sizeof(uint16_t))
		return 0;
	buffer_init(&file, (size_t)1 << 21);
	elf_around(byte_reader_over(data, size), sections, SECTIONS, &file);
	if (!file.failed && elf_image_open_memory(file.data, file.size, "fuzz", &image, &err)) {
		name_code(image, SYMBOLIZE_FINGERPRINT_NONE);
		elf_image_unref(image);
	}
	buffer_deinit(&file);
	return 0;
}
