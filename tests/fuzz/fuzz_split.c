/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_elf.h"
#include "tests/fuzz/name_code.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

/*
 * Two files: a program, and what it refers to. Input: the program's size (16 bits), the program, the other file. That
 * one bears the names of a package beside the program (.dwp), of a split unit (`unit-u.dwo`) and of a file that dwz
 * made (`alt`).
 */

static void write_files(struct byte_reader *r)
{
	size_t size = byte_reader_u16(r);

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	scratch_write("program", byte_reader_bytes(r, size), size);
	scratch_write("alt", r->pos, byte_reader_left(r));
	scratch_link("alt", "unit-u.dwo");
	scratch_link("alt", "program.dwp");
}

bool fuzz_take(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct elf_image *image;
	char path[PATH_MAX];
	struct error err;
	bool has_lines;

	write_files(&r);
	scratch_path("program", path);
	if (!elf_image_open_path(path, &image, &err))
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

static void mutate(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out)
{
	mutation_pair(m, mutate_elf, &(struct mutation_span){ bytes, size }, out);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate);
}
