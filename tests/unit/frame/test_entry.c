/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/entry.h"

#include "tests/unit/frame/elf_bytes.h"
#include "tests/unit/support/bytes.h"
#include "tests/unit/support/unit_test.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Entries that are written by hand, as compilers and linkers of several machines write them. */

enum { SECTION_AT = ELF_BYTES_EH_FRAME, CODE_SIZE = 0x30 };

/* Leaves room for a length, which end_entry() writes. */
static size_t start_entry(struct bytes *section)
{
	bytes_put32(section, 0);
	return section->size;
}

static void end_entry(struct bytes *section, size_t start)
{
	uint32_t length = (uint32_t)(section->size - start);

	memcpy(section->data + start - sizeof(length), &length, sizeof(length));
}

/* Returns its offset. `augmentation` is "zR" or "", then without an encoding. */
static size_t put_cie(struct bytes *section, const char *augmentation, uint8_t encoding)
{
	size_t start = start_entry(section);

	bytes_put32(section, 0);
	bytes_put8(section, 1);
	bytes_put(section, augmentation, strlen(augmentation) + 1);
	bytes_put8(section, 1);    /* code alignment */
	bytes_put8(section, 0x7c); /* data alignment -4 */
	bytes_put8(section, 16);   /* return address register */
	if (augmentation[0]) {
		bytes_put8(section, 1);
		bytes_put8(section, encoding);
	}
	end_entry(section, start);
	return start - sizeof(uint32_t);
}

/* An FDE for code at an image address, whose start is written in `bytes` bytes. Returns its offset. */
static size_t put_fde(struct bytes *section, size_t cie, uint64_t code, size_t bytes, bool is_relative)
{
	size_t start = start_entry(section);
	uint64_t written = code, code_size = CODE_SIZE;

	bytes_put32(section, (uint32_t)(section->size - cie));
	if (is_relative)
		written -= SECTION_AT + section->size;
	bytes_put(section, &written, bytes);
	bytes_put(section, &code_size, bytes);
	bytes_put8(section, 0);
	end_entry(section, start);
	return start - sizeof(uint32_t);
}

static struct entry_section section_of(const struct bytes *section, uint8_t address_bytes)
{
	return (struct entry_section){
		.elf = { .bytes = section->data, .size = section->size, .address = SECTION_AT },
		.format = ENTRY_EH_FRAME,
		.address_bytes = address_bytes,
	};
}

static void expect_fde(const struct bytes *bytes, uint8_t address_bytes, size_t offset, uint64_t start)
{
	struct entry_section section = section_of(bytes, address_bytes);
	struct fde fde = { 0 };
	uint64_t next;

	assert_true(entry_read_fde(&section, offset, &fde, &next));
	assert_int_equal(fde.start, start);
	assert_int_equal(fde.size, CODE_SIZE);
}

static void starts_are_read_in_every_encoding(void **state)
{
	static const struct {
		uint8_t encoding, address_bytes, bytes;
	} cases[] = {
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata4, 8, 4 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata8, 8, 8 },
		{ DW_EH_PE_udata4, 8, 4 },
		{ DW_EH_PE_absptr, 8, 8 },
		{ DW_EH_PE_pcrel | DW_EH_PE_absptr, 8, 8 },
		{ DW_EH_PE_absptr, 4, 4 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata4, 4, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes section = { 0 };
		size_t cie = put_cie(&section, "zR", cases[i].encoding);
		bool is_relative = (cases[i].encoding & 0x70) == DW_EH_PE_pcrel;
		size_t fde = put_fde(&section, cie, 0x8048000, cases[i].bytes, is_relative);

		expect_fde(&section, cases[i].address_bytes, fde, 0x8048000);
	}
}

/* Without augmentation there is no data to skip: the byte behind the size is an instruction. */
static void starts_without_augmentation_are_plain_addresses(void **state)
{
	struct bytes section = { 0 };
	size_t cie = put_cie(&section, "", 0), fde = put_fde(&section, cie, 0x8048000, 4, false);

	expect_fde(&section, 4, fde, 0x8048000);
}

static void an_encoding_that_needs_a_process_is_refused(void **state)
{
	static const uint8_t encodings[] = { DW_EH_PE_datarel | DW_EH_PE_sdata4, DW_EH_PE_textrel | DW_EH_PE_sdata4,
		DW_EH_PE_funcrel | DW_EH_PE_sdata4, 0x0f };

	for (size_t i = 0; i < sizeof(encodings); i++) {
		struct bytes bytes = { 0 };
		size_t cie = put_cie(&bytes, "zR", encodings[i]), offset = put_fde(&bytes, cie, 0x1000, 4, false);
		struct entry_section section = section_of(&bytes, 8);
		struct fde fde = { 0 };
		uint64_t next;

		assert_false(entry_read_fde(&section, offset, &fde, &next));
		assert_int_equal(next, bytes.size);
	}
}

/* Of two CIEs each FDE is read by its own, whichever was read before. */
static void an_fde_is_read_by_its_own_cie(void **state)
{
	struct bytes bytes = { 0 };
	size_t narrow = put_cie(&bytes, "zR", DW_EH_PE_udata4), wide = put_cie(&bytes, "zR", DW_EH_PE_udata8);
	const size_t offsets[] = { put_fde(&bytes, narrow, 0x1000, 4, false), put_fde(&bytes, wide, 0x2000, 8, false),
		put_fde(&bytes, wide, 0x3000, 8, false), put_fde(&bytes, narrow, 0x4000, 4, false) };
	struct entry_section section = section_of(&bytes, 8);
	struct fde fde = { 0 };
	uint64_t next;

	for (size_t i = 0; i < 4; i++) {
		assert_true(entry_read_fde(&section, offsets[i], &fde, &next));
		assert_int_equal(fde.start, 0x1000 * (i + 1));
		assert_int_equal(fde.size, CODE_SIZE);
	}
	assert_false(entry_read_fde(&section, narrow, &fde, &next));
}

static void damaged_entries_end_the_list(void **state)
{
	struct bytes bytes = { 0 };
	size_t cie = put_cie(&bytes, "zR", DW_EH_PE_udata4), offset = put_fde(&bytes, cie, 0x1000, 4, false);
	struct entry_section section = section_of(&bytes, 8);
	struct fde fde = { 0 };
	uint64_t next;

	for (size_t size = 0; size < bytes.size; size++) {
		section.elf.size = size;
		fde = (struct fde){ 0 };
		assert_false(entry_read_fde(&section, offset, &fde, &next));
		assert_int_equal(next, 0);
	}
}

static struct frame_table *open_table(const struct bytes *section)
{
	const struct elf_bytes wanted = { .eh_frame = section->data, .eh_frame_size = section->size };
	struct frame_table *table;
	struct error err;

	assert_true(elf_bytes_table(&wanted, &table, &err));
	return table;
}

static void expect_bounds(const struct frame_table *table, uint64_t start)
{
	uint64_t from = 0, to = 0;

	assert_true(frame_table_find_bounds(table, start, &from, &to));
	assert_int_equal(from, start);
	assert_int_equal(to, start + CODE_SIZE);
	assert_true(frame_table_find_bounds(table, start + CODE_SIZE - 1, &from, &to));
	assert_int_equal(from, start);
	assert_false(frame_table_find_bounds(table, start + CODE_SIZE, &from, &to));
	assert_false(frame_table_find_bounds(table, start - 1, &from, &to));
}

/* Where an object file with a terminator is linked before others, entries follow an empty one. */
static void entries_behind_an_empty_one_are_listed(void **state)
{
	struct bytes section = { 0 };
	size_t cie = put_cie(&section, "zR", DW_EH_PE_udata4);
	struct frame_table *table;

	put_fde(&section, cie, 0x12000, 4, false);
	bytes_put32(&section, 0);
	cie = put_cie(&section, "zR", DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	put_fde(&section, cie, 0x11000, 4, true);
	bytes_put32(&section, 0);
	table = open_table(&section);
	assert_false(frame_table_is_empty(table));
	expect_bounds(table, 0x11000);
	expect_bounds(table, 0x12000);
	frame_table_destroy(table);
}

/* Linkers leave the entries of functions that they leave out, at address 0. */
static void code_that_was_left_out_has_no_bounds(void **state)
{
	struct bytes section = { 0 };
	size_t cie = put_cie(&section, "zR", DW_EH_PE_udata4);
	struct frame_table *table;
	uint64_t start, end;

	put_fde(&section, cie, 0, 4, false);
	table = open_table(&section);
	assert_true(frame_table_is_empty(table));
	assert_false(frame_table_find_bounds(table, 0x10, &start, &end));
	frame_table_destroy(table);
}

/* Another program's file: its owner writes to it while it is read. */
struct toggled {
	uint8_t *nul;
	atomic_bool is_over;
};

static void *toggle(void *context)
{
	struct toggled *toggled = context;

	while (!atomic_load(&toggled->is_over)) {
		*(volatile uint8_t *)toggled->nul = 'B';
		*(volatile uint8_t *)toggled->nul = '\0';
	}
	return NULL;
}

/* The end of the augmentation string comes and goes; behind the section lies memory that may not be touched. */
static void a_string_that_loses_its_end_is_not_followed(void **state)
{
	enum { ENTRY_BYTES = 64, TRIES = 300000 };
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *fde = pages + page_bytes - 2 * ENTRY_BYTES, *cie = fde + ENTRY_BYTES;
	const struct entry_section section = {
		.elf = { .bytes = fde, .size = 2 * ENTRY_BYTES }, .format = ENTRY_DEBUG_FRAME, .address_bytes = 8
	};
	const uint32_t fde_head[] = { ENTRY_BYTES - sizeof(uint32_t), ENTRY_BYTES };
	const uint32_t cie_head[] = { ENTRY_BYTES - sizeof(uint32_t), UINT32_MAX };
	static const char cie_text[] = "\1zB"; /* version and augmentation */
	struct toggled toggled = { .nul = cie + sizeof(cie_head) + sizeof(cie_text) - 1 };
	pthread_t thread;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page_bytes, page_bytes, PROT_NONE), 0);
	memset(fde, 'B', (size_t)2 * ENTRY_BYTES);
	memcpy(fde, fde_head, sizeof(fde_head));
	memcpy(cie, cie_head, sizeof(cie_head));
	memcpy(cie + sizeof(cie_head), cie_text, sizeof(cie_text));
	assert_int_equal(pthread_create(&thread, NULL, toggle, &toggled), 0);
	for (int i = 0; i < TRIES; i++) {
		struct fde read = { 0 };
		uint64_t next;

		(void)!entry_read_fde(&section, 0, &read, &next);
	}
	atomic_store(&toggled.is_over, true);
	pthread_join(thread, NULL);
	munmap(pages, 2 * page_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_are_read_in_every_encoding),
		cmocka_unit_test(starts_without_augmentation_are_plain_addresses),
		cmocka_unit_test(an_encoding_that_needs_a_process_is_refused),
		cmocka_unit_test(an_fde_is_read_by_its_own_cie),
		cmocka_unit_test(damaged_entries_end_the_list),
		cmocka_unit_test(entries_behind_an_empty_one_are_listed),
		cmocka_unit_test(code_that_was_left_out_has_no_bounds),
		cmocka_unit_test(a_string_that_loses_its_end_is_not_followed),
	};

	return cmocka_run_group_tests_name("frame.entry", tests, NULL, NULL);
}
