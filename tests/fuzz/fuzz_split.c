/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include "tests/fuzz/scratch.h"

#include <stdlib.h>

/*
 * Two files: a program, and what it refers to. Input: the program's size (16 bits), the program, the other file. That
 * one bears the names of a package beside the program (.dwp), of a split unit (`unit-u.dwo`) and of a file that dwz
 * made
 * (`alt`).
 */

enum { ADDRESSES = 64, STEP = 13, TEXT_START = 0x1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_files(struct byte_reader *r)
{
	size_t size = byte_reader_u16(r);

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	scratch_write("program", byte_reader_bytes(r, size), size);
	scratch_write("alt", r->pos, byte_reader_left(r));
	scratch_link("alt", "unit-u.dwo");
	scratch_link("alt", "program.dwp");
}

static void resolve(struct elf_image *image)
{
	const char *nowhere = "/nonexistent";
	const struct symbolize_options options = { .threads = 1,
		.debug = { .directories = &nowhere, .directory_count = 1 } };
	struct symbolize_result *result;
	uint64_t addresses[ADDRESSES];
	struct error err;

	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = TEXT_START + i * STEP;
	if (!symbolize_addresses(image, addresses, ADDRESSES, &options, &result, &err))
		return;
	for (size_t i = 0; i < ADDRESSES; i++)
		if (symbolize_result_frames(result, i).count == 0)
			abort();
	symbolize_result_destroy(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct elf_image *image;
	char path[PATH_MAX];
	struct error err;

	write_files(&r);
	scratch_path("program", path);
	if (!elf_image_open_path(path, &image, &err))
		return 0;
	resolve(image);
	elf_image_unref(image);
	return 0;
}
