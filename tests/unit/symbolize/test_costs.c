/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf.h"
#include "symbolize/fingerprint.h"
#include "symbolize/minidebug.h"
#include "symbolize/symbols.h"
#include "tests/unit/support/unit_test.h"

#include <dwarf.h>
#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Debug information that is small, but whose parts refer to the same bytes over and over, so that reading it as it
 * stands costs a product of its sizes. It is refused; the watchdog ends a test that pays the product.
 */

enum { WATCHDOG_SECONDS = 60, MAX_SECTIONS = 8, MAX_GROWTH_KIB = 300 << 10, BASE = 0x10000, STEP = 16 };

struct section {
	const char *name;
	struct buffer bytes;
};

struct file {
	struct section sections[MAX_SECTIONS];
	size_t count;
};

static struct buffer *add_section(struct file *file, const char *name)
{
	struct section *section = &file->sections[file->count++];

	assert_true(file->count <= MAX_SECTIONS);
	section->name = name;
	buffer_init(&section->bytes, 1 << 26);
	return &section->bytes;
}

static void put(struct buffer *out, uint64_t value, size_t size)
{
	buffer_append(out, &value, size);
}

static void put_header(struct buffer *out, uint32_t name, uint32_t type, uint64_t offset, uint64_t size)
{
	const Elf64_Shdr header = {
		.sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = size, .sh_addralign = 1
	};

	buffer_append(out, &header, sizeof(header));
}

static void make_elf(const struct file *file, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer names = { 0 }, headers = { 0 };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(file->count + 2),
		.e_shstrndx = (uint16_t)(file->count + 1),
	};

	buffer_init(out, (size_t)1 << 28);
	buffer_init(&names, 1 << 12);
	buffer_init(&headers, 1 << 12);
	buffer_append_byte(&names, 0);
	buffer_append(out, &header, sizeof(header));
	put_header(&headers, 0, SHT_NULL, 0, 0);
	for (size_t i = 0; i < file->count; i++) {
		const struct section *section = &file->sections[i];

		put_header(&headers, (uint32_t)names.size, SHT_PROGBITS, out->size, section->bytes.size);
		buffer_append(&names, section->name, strlen(section->name) + 1);
		buffer_append(out, section->bytes.data, section->bytes.size);
	}
	put_header(&headers, (uint32_t)names.size, SHT_STRTAB, out->size, names.size + strlen(".shstrtab") + 1);
	buffer_append_string(&names, ".shstrtab");
	buffer_append_byte(&names, 0);
	buffer_append(out, names.data, names.size);
	header.e_shoff = out->size;
	buffer_append(out, headers.data, headers.size);
	assert_false(out->failed || names.failed || headers.failed);
	memcpy(out->data, &header, sizeof(header));
}

static long peak_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* Resolves `count` addresses, one in each unit. The sections are freed. */
static void resolve(struct file *file, size_t count, bool is_refused)
{
	struct dwarf_options options = { .threads = 1 };
	uint64_t *addresses = malloc(count * sizeof(*addresses));
	struct dwarf_result result;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;
	long before;

	assert_non_null(addresses);
	for (size_t i = 0; i < count; i++)
		addresses[i] = BASE + i * STEP;
	make_elf(file, &bytes);
	for (size_t i = 0; i < file->count; i++)
		buffer_deinit(&file->sections[i].bytes);
	assert_true(elf_image_open_memory(bytes.data, bytes.size, "made", &options.debug, &err));
	before = peak_kib();
	alarm(WATCHDOG_SECONDS);
	assert_true(dwarf_resolve(&options, addresses, count, &result, &err));
	alarm(0);
	assert_int_equal(result.is_refused, is_refused);
	assert_true(peak_kib() - before < MAX_GROWTH_KIB);
	dwarf_result_deinit(&result);
	elf_image_unref(options.debug);
	free(addresses);
}

/* The head of a unit of version 4; the root entry follows. */
static size_t begin_unit(struct buffer *info, uint64_t abbrevs)
{
	size_t start = info->size;

	put(info, 0, 4);
	put(info, 4, 2);
	put(info, abbrevs, 4);
	put(info, 8, 1);
	return start;
}

static void end_unit(struct buffer *info, size_t start)
{
	uint32_t length = (uint32_t)(info->size - start - sizeof(length));

	memcpy(info->data + start, &length, sizeof(length));
}

static void put_uleb(struct buffer *out, uint64_t value)
{
	assert_non_null(buffer_reserve(out, 10));
	buffer_append_varint(out, value);
}

static void put_attribute(struct buffer *abbrev, uint64_t name, uint64_t form)
{
	put_uleb(abbrev, name);
	put_uleb(abbrev, form);
}

static void put_root_abbrev(struct buffer *abbrev, uint64_t code)
{
	put_uleb(abbrev, code);
	put_uleb(abbrev, DW_TAG_compile_unit);
	put(abbrev, DW_CHILDREN_yes, 1);
	put_attribute(abbrev, DW_AT_low_pc, DW_FORM_addr);
	put_attribute(abbrev, DW_AT_high_pc, DW_FORM_data4);
	put_attribute(abbrev, DW_AT_stmt_list, DW_FORM_sec_offset);
	put_attribute(abbrev, 0, 0);
}

static void put_root(struct buffer *info, uint64_t code, size_t unit)
{
	put_uleb(info, code);
	put(info, BASE + unit * STEP, 8);
	put(info, STEP, 4);
	put(info, 0, 4);
}

/* Units whose tables of abbreviations begin at each place of one large table, and end with it. */
static void make_overlapping_abbrevs(struct file *file, size_t units, size_t abbrevs)
{
	enum { ENTRY_BYTES = 7, FIRST = 1 << 14 };
	struct buffer *info = add_section(file, ".debug_info"), *abbrev = add_section(file, ".debug_abbrev");

	for (size_t i = 0; i < abbrevs; i++) {
		put_uleb(abbrev, FIRST + i); /* of three bytes */
		put_uleb(abbrev, DW_TAG_subprogram);
		put(abbrev, 0, 1);
		put_attribute(abbrev, 0, 0);
	}
	put_root_abbrev(abbrev, 1);
	put(abbrev, 0, 1);
	for (size_t i = 0; i < units; i++) {
		size_t start = begin_unit(info, i * ENTRY_BYTES);

		put_root(info, 1, i);
		put(info, 0, 1);
		end_unit(info, start);
	}
}

static void tables_of_abbreviations_that_overlap_are_refused(void **state)
{
	enum { UNITS = 20000, ABBREVS = 60000 };
	struct file file = { 0 };

	make_overlapping_abbrevs(&file, UNITS, ABBREVS);
	resolve(&file, UNITS, true);
}

/* Units that share a table of lines, as after `dwz`, where it is a table of normal size. */
static void make_shared_lines(struct file *file, size_t units, size_t files)
{
	struct buffer *info = add_section(file, ".debug_info"), *abbrev = add_section(file, ".debug_abbrev");
	struct buffer *lines = add_section(file, ".debug_line");
	uint32_t header_length;

	put_root_abbrev(abbrev, 1);
	put(abbrev, 0, 1);
	for (size_t i = 0; i < units; i++) {
		size_t start = begin_unit(info, 0);

		put_root(info, 1, i);
		put(info, 0, 1);
		end_unit(info, start);
	}
	put(lines, 0, 4);
	put(lines, 4, 2);
	put(lines, 0, 4);
	buffer_append(lines, "\1\1\1\373\16\1\0", 7); /* line_range 14, opcode_base 1, no directory */
	for (size_t i = 0; i < files; i++)
		buffer_append(lines, "f\0\0\0\0", 5);
	put(lines, 0, 1);
	header_length = (uint32_t)lines->size - 10;
	memcpy(lines->data + 6, &header_length, sizeof(header_length));
	end_unit(lines, 0);
}

static void a_table_of_lines_is_kept_once(void **state)
{
	enum { UNITS = 17000, FILES = 100000 };
	struct file file = { 0 };

	make_shared_lines(&file, UNITS, FILES);
	resolve(&file, UNITS, false);
}

/* Functions that share a list of ranges none of which is asked for. */
static void lists_of_ranges_that_are_shared_are_refused(void **state)
{
	enum { UNITS = 200, FUNCTIONS = 400, RANGES = 30000 };
	struct file file = { 0 };
	struct buffer *info = add_section(&file, ".debug_info"), *abbrev = add_section(&file, ".debug_abbrev");
	struct buffer *ranges = add_section(&file, ".debug_ranges");

	put_root_abbrev(abbrev, 1);
	put_uleb(abbrev, 2);
	put_uleb(abbrev, DW_TAG_subprogram);
	put(abbrev, 0, 1);
	put_attribute(abbrev, DW_AT_ranges, DW_FORM_sec_offset);
	put_attribute(abbrev, 0, 0);
	put(abbrev, 0, 1);
	for (size_t i = 0; i < UNITS; i++) {
		size_t start = begin_unit(info, 0);

		put_root(info, 1, i);
		for (size_t k = 0; k < FUNCTIONS; k++) {
			put_uleb(info, 2);
			put(info, 0, 4);
		}
		put(info, 0, 1);
		end_unit(info, start);
	}
	for (size_t i = 0; i < RANGES; i++) {
		put(ranges, (uint64_t)1 << 40, 8);
		put(ranges, (uint64_t)2 << 40, 8);
	}
	resolve(&file, UNITS, true);
}

/* Nothing but zeros is no unit of each four bytes. */
static void zeros_are_no_units(void **state)
{
	enum { BYTES = 16 << 20 };
	struct file file = { 0 };
	struct buffer *info = add_section(&file, ".debug_info");

	memset(buffer_reserve(info, BYTES), 0, BYTES);
	buffer_commit(info, BYTES);
	resolve(&file, 1, false);
}

/* Symbols of one address, whose names are the ends of one string of 4 MB. */
static void symbols_may_share_a_giant_name(void **state)
{
	enum { SYMBOLS = 200000, STRING_BYTES = 4 << 20 };
	const uint64_t address = BASE;
	struct file file = { 0 };
	struct buffer *table = add_section(&file, ".symtab"), *names = add_section(&file, ".strtab"), bytes;
	struct symbols *symbols;
	struct elf_image *image;
	struct symbol_hit hit;
	struct error err;

	for (uint32_t i = 0; i < SYMBOLS; i++) {
		const Elf64_Sym symbol = { .st_name = i + 1,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = BASE,
			.st_size = STEP };

		buffer_append(table, &symbol, sizeof(symbol));
	}
	memset(buffer_reserve(names, STRING_BYTES), 'x', STRING_BYTES);
	buffer_commit(names, STRING_BYTES);
	names->data[0] = names->data[STRING_BYTES - 1] = '\0';
	make_elf(&file, &bytes);
	for (size_t i = 0; i < file.count; i++)
		buffer_deinit(&file.sections[i].bytes);
	assert_true(elf_image_open_memory(bytes.data, bytes.size, "made", &image, &err));
	assert_true(symbols_create(image, image, &symbols, &err));
	alarm(WATCHDOG_SECONDS);
	assert_true(symbols_match(symbols, &address, 1, &hit, &err));
	alarm(0);
	assert_int_equal(strlen(hit.name), STRING_BYTES - 2);
	symbols_destroy(symbols);
	elf_image_unref(image);
	buffer_deinit(&bytes);
}

/* Functions that begin at each byte of the code and all end with it. */
static void code_of_functions_that_overlap_is_not_read_for_each(void **state)
{
	enum { MOST_READS = 8, LEAST_READS = 32 };
	struct fingerprinter *fingerprinter;
	uint64_t offered = 0, read = 0;
	struct elf_section text;
	struct elf_image *image;
	struct error err;

	assert_true(elf_image_open_path(PROGRAMS "/cxx-gcc-5", &image, &err));
	assert_true(elf_image_section(image, ".text", &text));
	fingerprinter = fingerprinter_create(image);
	assert_non_null(fingerprinter);
	for (uint64_t i = 0; i < text.size; i++) {
		const struct dwarf_extent extent = { text.address + i, text.address + text.size };
		uint64_t bytes = extent.high - extent.low;

		offered += bytes;
		read += fingerprint_code(fingerprinter, &extent, 1) ? bytes : 0;
	}
	assert_true(offered > LEAST_READS * text.size);
	assert_true(read >= text.size && read < MOST_READS * text.size);
	fingerprinter_destroy(fingerprinter);
	elf_image_unref(image);
}

/* Symbols that unpack to thousands of times their size are not there; a few bytes may unpack to a megabyte. */
static void symbols_of_zeros_are_not_unpacked(void **state)
{
	enum { ZERO_BYTES = 64 << 20, PACKED_BYTES = 1 << 16 };
	struct file file = { 0 };
	struct buffer *packed = add_section(&file, ".gnu_debugdata"), bytes;
	uint8_t *zeros = calloc(1, ZERO_BYTES), *room = buffer_reserve(packed, PACKED_BYTES);
	struct elf_image *image, *mini;
	struct error err;
	size_t size = 0;
	long before;

	assert_non_null(zeros);
	make_elf(&file, &bytes);
	memcpy(zeros, bytes.data, bytes.size);
	buffer_deinit(&bytes);
	assert_int_equal(
		lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, zeros, ZERO_BYTES, room, &size, PACKED_BYTES),
		LZMA_OK);
	buffer_commit(packed, size);
	free(zeros);
	make_elf(&file, &bytes);
	buffer_deinit(packed);
	assert_true(elf_image_open_memory(bytes.data, bytes.size, "made", &image, &err));
	before = peak_kib();
	assert_true(minidebug_open(image, &mini, &err));
	assert_null(mini);
	assert_true(peak_kib() - before < ZERO_BYTES / 1024);
	elf_image_unref(image);
	buffer_deinit(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_abbreviations_that_overlap_are_refused),
		cmocka_unit_test(a_table_of_lines_is_kept_once),
		cmocka_unit_test(lists_of_ranges_that_are_shared_are_refused),
		cmocka_unit_test(zeros_are_no_units),
		cmocka_unit_test(symbols_may_share_a_giant_name),
		cmocka_unit_test(symbols_of_zeros_are_not_unpacked),
		cmocka_unit_test(code_of_functions_that_overlap_is_not_read_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
