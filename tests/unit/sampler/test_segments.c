/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which segment of a file a mapping shows, for the ways in which linkers lay files out and loaders map them. */
#include "process_fixture.h"

#include "sampler/process/recorded.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 6, BASE = 0x7f0000000, OTHER_BASE = 0x7f9000000 };

struct piece {
	uint64_t start, size, file_offset; /* as /proc/PID/maps has it; size 0: the end */
};

struct place {
	uint64_t runtime, image; /* addresses */
};

struct layout {
	const char *name;
	uint16_t type;
	Elf64_Phdr segments[MOST];
	struct piece maps[MOST]; /* executable ones, in the order in which they are met */
	struct place places[MOST];
};

#define LOAD(flags, offset, address, size)                                                                             \
	{                                                                                                              \
		PT_LOAD, flags, offset, address, address, size, size, 0x1000                                           \
	}

/* What lld writes with --section-start=.hot.text=0x800000: R, code, R and other code in one page of the file. */
#define PACKED                                                                                                         \
	{                                                                                                              \
		LOAD(PF_R, 0, 0x200000, 0x318), LOAD(PF_R | PF_X, 0x1000, 0x800000, 0x48),                             \
			LOAD(PF_R, 0x1048, 0x801048, 0x3bc), LOAD(PF_R | PF_X, 0x1410, 0x802410, 0x260),               \
			LOAD(PF_R | PF_W, 0x1670, 0x803670, 0x1a0)                                                     \
	}

static const struct layout layouts[] = {
	{ "lld packs segments of a program that is not moved", ET_EXEC, PACKED,
		{ { 0x800000, 0x1000, 0x1000 }, { 0x802000, 0x1000, 0x1000 } },
		{ { 0x800010, 0x800010 }, { 0x802430, 0x802430 } } },
	{ "the second piece alone, or first: it lies at its own address", ET_EXEC, PACKED,
		{ { 0x802000, 0x1000, 0x1000 }, { 0x800000, 0x1000, 0x1000 } },
		{ { 0x802430, 0x802430 }, { 0x800010, 0x800010 } } },
	{ "a program or library that is moved", ET_DYN, PACKED,
		{ { BASE + 0x800000, 0x1000, 0x1000 }, { BASE + 0x802000, 0x1000, 0x1000 } },
		{ { BASE + 0x800010, 0x800010 }, { BASE + 0x802430, 0x802430 } } },
	{ "one library twice in a process, as by dlmopen", ET_DYN, PACKED,
		{ { BASE + 0x800000, 0x1000, 0x1000 }, { BASE + 0x802000, 0x1000, 0x1000 },
			{ OTHER_BASE + 0x800000, 0x1000, 0x1000 }, { OTHER_BASE + 0x802000, 0x1000, 0x1000 } },
		{ { BASE + 0x802430, 0x802430 }, { OTHER_BASE + 0x800010, 0x800010 },
			{ OTHER_BASE + 0x802430, 0x802430 } } },
	{ "whatever can be read can be executed (READ_IMPLIES_EXEC)", ET_DYN, PACKED,
		{ { BASE + 0x200000, 0x1000, 0 }, { BASE + 0x800000, 0x1000, 0x1000 },
			{ BASE + 0x801000, 0x1000, 0x1000 }, { BASE + 0x802000, 0x1000, 0x1000 },
			{ BASE + 0x803000, 0x1000, 0x1000 } },
		{ { BASE + 0x800010, 0x800010 }, { BASE + 0x801100, 0x801100 }, { BASE + 0x802430, 0x802430 },
			{ BASE + 0x803700, 0x803700 } } },
	{ "a linker script: two distant pieces of code in the file's first page", ET_EXEC,
		{ LOAD(PF_R | PF_X, 0, 0x400000, 0x731), LOAD(PF_R | PF_X, 0x731, 0x800731, 0x57) },
		{ { 0x400000, 0x1000, 0 }, { 0x800000, 0x1000, 0 } },
		{ { 0x400600, 0x400600 }, { 0x800740, 0x800740 } } },
	{ "the kernel maps all of a moved program first, then its other pieces over that", ET_DYN,
		{ LOAD(PF_R | PF_X, 0, 0, 0x731), LOAD(PF_R | PF_X, 0x731, 0x400731, 0x57) },
		{ { BASE, 0x401000, 0 }, { BASE + 0x400000, 0x1000, 0 } },
		{ { BASE + 0x600, 0x600 }, { BASE + 0x400740, 0x400740 } } },
	{ "code that a binary optimizer has appended, far from what it came from", ET_DYN,
		{ LOAD(PF_R, 0, 0, 0x670), LOAD(PF_R | PF_X, 0x1000, 0x1000, 0x2c1),
			LOAD(PF_R | PF_X, 0x200000, 0x400000, 0x490) },
		{ { BASE + 0x1000, 0x1000, 0x1000 }, { BASE + 0x400000, 0x1000, 0x200000 } },
		{ { BASE + 0x1010, 0x1010 }, { BASE + 0x400010, 0x400010 } } },
	{ "gold's and prelink's: addresses that are not offsets, and a library at its own", ET_DYN,
		{ LOAD(PF_R, 0, 0x3000000000, 0x670), LOAD(PF_R | PF_X, 0x670, 0x3000001670, 0x2c1) },
		{ { 0x3000001000, 0x1000, 0 } }, { { 0x3000001700, 0x3000001700 } } },
	{ "a part of a segment, whose protection was changed", ET_DYN,
		{ LOAD(PF_R | PF_X, 0x1000, 0x201000, 0x5000), LOAD(PF_R | PF_X, 0x6000, 0x406000, 0x1000) },
		{ { BASE + 0x203000, 0x1000, 0x3000 } }, { { BASE + 0x203010, 0x203010 } } },
	{ "data that was made executable", ET_DYN,
		{ LOAD(PF_R | PF_X, 0, 0, 0x1000), LOAD(PF_R | PF_W, 0x1000, 0x3000, 0x1000) },
		{ { BASE + 0x3000, 0x1000, 0x1000 } }, { { BASE + 0x3010, 0x3010 } } },
	{ "bytes that are in no segment", ET_DYN, { LOAD(PF_R | PF_X, 0, 0x10000, 0x1000) },
		{ { BASE, 0x1000, 0x1000 } }, { { BASE + 0x10, 0x1010 } } },
};

static void write_elf(const struct layout *layout, const char *path)
{
	Elf64_Ehdr header = { .e_type = layout->type,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr) };
	FILE *file = fopen(path, "w");

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	while (header.e_phnum < MOST && layout->segments[header.e_phnum].p_type == PT_LOAD)
		header.e_phnum++;
	assert_non_null(file);
	assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
	assert_int_equal(fwrite(layout->segments, sizeof(Elf64_Phdr), header.e_phnum, file), header.e_phnum);
	assert_int_equal(fclose(file), 0);
}

static void check_layout(const struct layout *layout, const char *path)
{
	struct fixture recorded = { 0 };
	struct process_space space = { .table = &recorded.table };
	struct recorded_files files;
	struct process *process;
	struct error err;

	write_elf(layout, path);
	recorded_files_init(&files, NULL);
	assert_true(profile_create(&recorded.profile, &err));
	process_table_init(&recorded.table, recorded.profile, recorded_files_host(&files), NULL);
	for (const struct piece *piece = layout->maps; piece < layout->maps + MOST && piece->size; piece++)
		tell_record(&recorded, &(struct record){ .kind = RECORD_MMAP,
					       .pid = PID,
					       .tid = PID,
					       .mmap = { .address = piece->start,
						       .size = piece->size,
						       .file_offset = piece->file_offset,
						       .executable = true,
						       .path = path,
						       .inode = 1 } });
	assert_true(process_table_get(&recorded.table, PID, &process, &err));
	space.process = process;
	for (const struct place *at = layout->places; at < layout->places + MOST && at->runtime; at++) {
		struct unwind_code code;

		if (!process_space_find(&space, at->runtime, &code) || code.image_address != at->image)
			fail_msg("%s: %lx is taken for %lx, not %lx", layout->name, at->runtime, code.image_address,
				at->image);
	}
	process_table_deinit(&recorded.table);
	profile_destroy(recorded.profile);
	recorded_files_deinit(&files);
}

static void test_a_mapping_is_a_piece_of_one_segment(void **state)
{
	char path[] = "/tmp/kelvin-segments-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		check_layout(&layouts[i], path);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mapping_is_a_piece_of_one_segment),
	};

	return cmocka_run_group_tests_name("sampler.segments", tests, NULL, NULL);
}
