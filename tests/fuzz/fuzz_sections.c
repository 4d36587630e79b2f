/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/elf_around.h"
#include "tests/fuzz/mutate_section.h"
#include "tests/fuzz/name_code.h"
#include "tests/fuzz/target.h"

/* The readers of single sections, in a file that is put together around them (elf_around.h). */

enum { TABLE_ADDRESS = 0x4000 };

static const struct elf_around_section sections[] = { { .name = ".debug_abbrev" }, { .name = ".debug_info" },
	{ .name = ".debug_line" }, { .name = ".debug_aranges" }, { .name = ".debug_rnglists" },
	{ .name = ".debug_ranges" }, { .name = ".debug_str" }, { .name = ".debug_line_str" }, { .name = ".debug_addr" },
	{ .name = ".gopclntab", .address = TABLE_ADDRESS }, { .name = ".go.module" }, { .name = ".gnu_debugdata" } };
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

bool fuzz_take(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct buffer file;
	struct error err;
	bool has_lines = false;

	if (size <= SECTIONS * sizeof(uint16_t))
		return false;
	buffer_init(&file, (size_t)1 << 21);
	elf_around(byte_reader_over(data, size), sections, SECTIONS, &file);
	if (!file.failed && elf_image_open_memory(file.data, file.size, "fuzz", &image, &err)) {
		has_lines = name_code(image, SYMBOLIZE_FINGERPRINT_NONE);
		elf_image_unref(image);
	}
	buffer_deinit(&file);
	return has_lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}

static void mutate(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out)
{
	mutate_elf_around(m, sections, SECTIONS, &(struct mutation_span){ bytes, size }, out);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate);
}
