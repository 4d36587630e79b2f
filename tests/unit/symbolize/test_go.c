/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/go.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/*
 * A Go table made by hand: main.work at 0x1000..0x1100, line 10 up to 0x1040 and 11 behind; at 0x1020..0x1040
 * main.twice is inlined, called from the line of 0x1000.
 */

enum { TABLE_ADDRESS = 0x4000, TEXT = 0x1000, WORD = 8, HEADER = 72, MODULE_WORDS = 41 };

static void pad(struct buffer *out)
{
	while (out->size % 8 != 0)
		buffer_append_byte(out, 0);
}

static void put_u32(struct buffer *out, uint32_t value)
{
	buffer_append(out, &value, sizeof(value));
}

static void put_u64(struct buffer *out, uint64_t value)
{
	buffer_append(out, &value, sizeof(value));
}

static void put_function(struct buffer *out)
{
	const uint32_t words[] = { 0, 1, 0, 0, 0, /* entry, name, args, deferreturn, pcsp */
		1, 6, 3, 0, 8,                    /* files, lines, pcdata, unit, start line */
		4U << 24,                         /* four function data */
		0, 0, 13, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 };

	buffer_append(out, words, sizeof(words));
}

static void make_table(struct buffer *out)
{
	static const char names[] = "\0main.work\0main.twice";
	static const uint8_t values[] = { 0, 2, 0x80, 2, 0, /* file 0 all along */
		0, 22, 0x40, 2, 0xc0, 1, 0,                 /* lines 10, 11 */
		0, 0, 0x20, 2, 0x20, 1, 0xc0, 1, 0 };       /* inlined: none, 0, none */
	uint64_t offsets[5];

	for (int i = 0; i < HEADER; i++)
		buffer_append_byte(out, 0);
	offsets[0] = out->size;
	buffer_append(out, names, sizeof(names));
	pad(out);
	offsets[1] = out->size;
	put_u64(out, 0);
	offsets[2] = out->size;
	buffer_append_string(out, "/src/main.go");
	buffer_append_byte(out, 0);
	pad(out);
	offsets[3] = out->size;
	buffer_append(out, values, sizeof(values));
	pad(out);
	offsets[4] = out->size;
	put_u32(out, 0);
	put_u32(out, 16);
	put_u32(out, 0x100);
	put_u32(out, 0);
	put_function(out);
	memcpy(out->data, "\xf1\xff\xff\xff\0\0\1\10", 8);
	memcpy(out->data + 8, &(uint64_t){ 1 }, 8);
	memcpy(out->data + 16, &(uint64_t){ 1 }, 8);
	memcpy(out->data + 32, offsets, sizeof(offsets));
}

/* One text segment, whose first bytes are the tree of inlined calls; the table; the module's data. */
static struct elf_image *make_image(void)
{
	Elf64_Ehdr file = { .e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = 1,
		.e_ehsize = sizeof(file),
		.e_phoff = sizeof(file),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3 };
	static const char strings[] = "\0.gopclntab\0.go.module\0.shstrtab";
	Elf64_Phdr text = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT, .p_memsz = 0x1000, .p_filesz = 16
	};
	Elf64_Shdr sections[4] = { 0 };
	struct elf_image *image;
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct error err;

	buffer_init(&out, 1 << 16);
	memcpy(file.e_ident, ELFMAG "\2\1\1", 7);
	buffer_append(&out, &file, sizeof(file));
	buffer_append(&out, &text, sizeof(text));
	text.p_offset = out.size;
	put_u32(&out, 0);
	put_u32(&out, 11); /* main.twice */
	put_u32(&out, 0);
	put_u32(&out, 20);
	sections[1] =
		(Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = TABLE_ADDRESS, .sh_offset = out.size };
	{
		CLEANUP(buffer_deinit) struct buffer table = { 0 };

		buffer_init(&table, 1 << 16);
		make_table(&table);
		sections[1].sh_size = table.size;
		buffer_append(&out, table.data, table.size);
	}
	sections[2] = (Elf64_Shdr){ .sh_name = 12,
		.sh_type = SHT_PROGBITS,
		.sh_addr = 0x8000,
		.sh_offset = out.size,
		.sh_size = MODULE_WORDS * WORD };
	for (uint64_t i = 0; i < MODULE_WORDS; i++)
		put_u64(&out, i == 0 ? TABLE_ADDRESS : i == 22 || i == 40 ? TEXT : 0);
	sections[3] =
		(Elf64_Shdr){ .sh_name = 23, .sh_type = SHT_STRTAB, .sh_offset = out.size, .sh_size = sizeof(strings) };
	buffer_append(&out, strings, sizeof(strings));
	file.e_shoff = out.size;
	buffer_append(&out, sections, sizeof(sections));
	memcpy(out.data, &file, sizeof(file));
	memcpy(out.data + sizeof(file), &text, sizeof(text));
	assert_true(elf_image_open_memory(out.data, out.size, "go", &image, &err));
	return image;
}

static void names_functions_lines_and_inlined_calls(void **state)
{
	struct elf_image *image = make_image();
	struct symbolize_frames frames;
	struct go_table *table;
	struct arena arena;
	struct error err;

	arena_init(&arena, 0);
	assert_true(go_table_create(image, &table, &err));
	assert_non_null(table);
	assert_true(go_table_find(table, 0x1004, &arena, &frames, &err));
	assert_int_equal(frames.count, 1);
	assert_string_equal(frames.frames[0].name, "main.work");
	assert_string_equal(frames.frames[0].file, "/src/main.go");
	assert_int_equal(frames.frames[0].line, 10);
	assert_int_equal(frames.frames[0].decl_line, 8);
	assert_int_equal(frames.frames[0].source, PROFILE_NAME_GO);
	assert_true(go_table_find(table, 0x1024, &arena, &frames, &err));
	assert_int_equal(frames.count, 2);
	assert_string_equal(frames.frames[0].name, "main.twice");
	assert_int_equal(frames.frames[0].decl_line, 20);
	assert_string_equal(frames.frames[1].name, "main.work");
	assert_int_equal(frames.frames[1].line, 10);
	assert_true(go_table_find(table, 0x1050, &arena, &frames, &err));
	assert_int_equal(frames.count, 1);
	assert_int_equal(frames.frames[0].line, 11);
	assert_true(go_table_find(table, 0x1100, &arena, &frames, &err));
	assert_int_equal(frames.count, 0);
	assert_true(go_table_find(table, 0xfff, &arena, &frames, &err));
	assert_int_equal(frames.count, 0);
	go_table_destroy(table);
	arena_deinit(&arena);
	elf_image_unref(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names_functions_lines_and_inlined_calls) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
