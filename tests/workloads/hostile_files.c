/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a file that costs its reader far more than its size:
 *
 *   workload_hostile_files KIND FILE [ARGUMENT]
 *
 * `workload_hostile_files` alone lists the kinds. Files of ELF have code that `workload_hostile run` executes.
 */
#include "hostile.h"
#include "hostile_elf.h"

#include <dwarf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CODE = HOSTILE_CODE_OFFSET };

static const struct hostile_bytes nothing;

static void make_sparse(const char *path, const struct hostile_bytes *head, off_t size)
{
	hostile_write(path, head);
	if (truncate(path, size) != 0)
		hostile_lacks("a file system with files of that size");
}

/* ---- Call frame tables ---- */

/* A table of 17 million descriptions of code, each 13 bytes, in 300 kB. */
static void write_frames(const char *path, const char *argument)
{
	static const uint8_t entry[] = { 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0 };
	enum { AT_ONCE = 8192, TIMES = 17000000 / AT_ONCE };
	struct hostile_bytes head = { 0 }, pattern = { 0 };
	struct hostile_elf elf;

	(void)argument;
	hostile_add_number(&head, 15, 4);
	hostile_add_number(&head, UINT32_MAX, 4);
	hostile_add_number(&head, 1, 1);
	hostile_add_string(&head, "zR");
	hostile_add(&head, "\x01\x78\x10\x01\x02\x00\x00", 7); /* two-byte pointers */
	for (int i = 0; i < AT_ONCE; i++)
		hostile_add(&pattern, entry, sizeof(entry));
	hostile_elf_init(&elf);
	hostile_elf_add_packed(&elf, ".debug_frame", &head, &pattern, TIMES);
	hostile_elf_write(&elf, path);
}

/* A section of zeros; the argument is its name and how many megabytes it has, as in `.debug_info=4000`. */
static void write_zeros(const char *path, const char *argument)
{
	const char *equals = argument ? strchr(argument, '=') : NULL;
	struct hostile_bytes pattern = { 0 };
	struct hostile_elf elf;
	char name[64];

	if (!equals)
		hostile_fail("zeros needs NAME=MEGABYTES");
	snprintf(name, sizeof(name), "%.*s", (int)(equals - argument), argument);
	hostile_add_zeros(&pattern, 1 << 20);
	hostile_elf_init(&elf);
	hostile_elf_add_packed(&elf, name, &nothing, &pattern, strtoull(equals + 1, NULL, 10));
	hostile_elf_write(&elf, path);
}

/* ---- DWARF ---- */

/* An abbreviation without children; `attributes` ends with two zeros. */
static void add_abbreviation(struct hostile_bytes *bytes, uint64_t code, uint64_t tag, const uint8_t *attributes)
{
	hostile_add_leb128(bytes, code);
	hostile_add_leb128(bytes, tag);
	hostile_add_zeros(bytes, 1);
	do
		hostile_add(bytes, attributes, 2);
	while (attributes[0] != 0 && (attributes += 2));
}

/* A unit of DWARF 4 that claims all code; `dwo` is what its split file is called, or NULL. */
static void add_unit(struct hostile_bytes *bytes, uint64_t code, const char *dwo)
{
	size_t start = bytes->size;
	uint32_t length;

	hostile_add_number(bytes, 0, 4);
	hostile_add_number(bytes, 4, 2);
	hostile_add_number(bytes, 0, 4); /* the abbreviations' offset */
	hostile_add_number(bytes, 8, 1);
	hostile_add_leb128(bytes, code);
	hostile_add_number(bytes, CODE, 8);
	hostile_add_number(bytes, HOSTILE_CODE_BYTES, 4);
	if (dwo) {
		hostile_add_string(bytes, dwo);
		hostile_add_string(bytes, ".");
		hostile_add_number(bytes, 1, 8);
	}
	length = (uint32_t)(bytes->size - start - 4);
	memcpy(bytes->data + start, &length, sizeof(length));
}

/* Units that share one table of abbreviations and name its last one, so that each has to read all of it. */
static void write_units(const char *path, unsigned int abbreviations, unsigned int units, bool is_packed)
{
	static const uint8_t attributes[] = { DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0 };
	struct hostile_bytes abbrev = { 0 }, unit = { 0 }, info = { 0 };
	struct hostile_elf elf;

	for (unsigned int i = 1; i <= abbreviations; i++)
		add_abbreviation(&abbrev, i, i == abbreviations ? DW_TAG_compile_unit : DW_TAG_base_type,
			i == abbreviations ? attributes : attributes + 4);
	hostile_add_zeros(&abbrev, 1);
	add_unit(&unit, abbreviations, NULL);
	hostile_elf_init(&elf);
	hostile_elf_add(&elf, ".debug_abbrev", SHT_PROGBITS, &abbrev);
	if (is_packed) {
		for (int i = 0; i < 1000; i++)
			hostile_add(&info, unit.data, unit.size);
		hostile_elf_add_packed(&elf, ".debug_info", &nothing, &info, units / 1000);
	} else {
		for (unsigned int i = 0; i < units; i++)
			hostile_add(&info, unit.data, unit.size);
		hostile_elf_add(&elf, ".debug_info", SHT_PROGBITS, &info);
	}
	hostile_elf_write(&elf, path);
}

static void write_abbreviations(const char *path, const char *argument)
{
	(void)argument;
	write_units(path, 103000, 2000000, true); /* 720 kB */
}

static void write_many_units(const char *path, const char *argument)
{
	(void)argument;
	write_units(path, 5000, 20000, false); /* 500 kB */
}

/* A unit whose split file is called as the argument says. */
static void write_dwo(const char *path, const char *argument)
{
	static const uint8_t attributes[] = { DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4 };
	struct hostile_bytes abbrev = { 0 }, info = { 0 };
	struct hostile_elf elf;

	hostile_add(&abbrev, "\x01\x11\x00", 3);
	hostile_add(&abbrev, attributes, sizeof(attributes));
	hostile_add_leb128(&abbrev, DW_AT_GNU_dwo_name);
	hostile_add_leb128(&abbrev, DW_FORM_string);
	hostile_add_leb128(&abbrev, DW_AT_comp_dir);
	hostile_add_leb128(&abbrev, DW_FORM_string);
	hostile_add_leb128(&abbrev, DW_AT_GNU_dwo_id);
	hostile_add_leb128(&abbrev, DW_FORM_data8);
	hostile_add_zeros(&abbrev, 3);
	add_unit(&info, 1, argument ? argument : "/dev/zero");
	hostile_elf_init(&elf);
	hostile_elf_add(&elf, ".debug_abbrev", SHT_PROGBITS, &abbrev);
	hostile_elf_add(&elf, ".debug_info", SHT_PROGBITS, &info);
	hostile_elf_write(&elf, path);
}

/* ---- Links to debug files, symbols ---- */

/* A file whose debug file is FILE.debug beside it: an ELF file of one sparse terabyte. */
static void write_link(const char *path, const char *argument)
{
	const char *slash = strrchr(path, '/');
	struct hostile_bytes link = { 0 };
	struct hostile_elf elf;
	char name[4096];

	(void)argument;
	snprintf(name, sizeof(name), "%s.debug", path);
	hostile_elf_init(&elf);
	hostile_elf_write(&elf, name);
	if (truncate(name, (off_t)1 << 40) != 0)
		hostile_lacks("a file system with files of a terabyte");
	hostile_add_string(&link, slash ? strrchr(name, '/') + 1 : name);
	hostile_add_zeros(&link, -link.size % 4);
	hostile_add_number(&link, 0x12345678, 4);
	hostile_elf_init(&elf);
	hostile_elf_add(&elf, ".gnu_debuglink", SHT_PROGBITS, &link);
	hostile_elf_write(&elf, path);
}

/* The table of symbols packed: `head` of them, then `count` of one kind. */
static void add_symbols(struct hostile_elf *elf, const Elf64_Sym *symbol, uint64_t count, const char *name)
{
	struct hostile_bytes symbols = { 0 }, names = { 0 }, head = { 0 };
	size_t table;

	hostile_add_zeros(&head, sizeof(*symbol));
	for (int i = 0; i < 1000; i++)
		hostile_add(&symbols, symbol, sizeof(*symbol));
	table = hostile_elf_add_packed(elf, ".symtab", &head, &symbols, count / 1000);
	elf->sections[table].sh_type = SHT_SYMTAB;
	elf->sections[table].sh_entsize = sizeof(*symbol);
	elf->sections[table].sh_link = (uint32_t)table + 1;
	hostile_add_zeros(&names, 1);
	hostile_add_string(&names, name);
	hostile_elf_add(elf, ".strtab", SHT_STRTAB, &names);
}

/* A table of symbols that are all the same; the argument is their number. */
static void write_symbols(const char *path, const char *argument)
{
	const Elf64_Sym symbol = { .st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = CODE,
		.st_size = HOSTILE_CODE_BYTES };
	struct hostile_elf elf;

	hostile_elf_init(&elf);
	add_symbols(&elf, &symbol, argument ? strtoull(argument, NULL, 10) : 1000000, "equal");
	hostile_elf_write(&elf, path);
}

/* Functions of DWARF, one in the other, all named by the string table at `name`. */
static void add_inlined(struct hostile_elf *elf, uint64_t name)
{
	enum { DEPTH = 60, UNIT = 1, FUNCTION, INLINED };
	static const uint8_t attributes[] = { DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
		DW_FORM_data4, 0, 0 };
	struct hostile_bytes abbrev = { 0 }, info = { 0 };
	uint32_t length;

	add_abbreviation(&abbrev, UNIT, DW_TAG_compile_unit, attributes);
	add_abbreviation(&abbrev, FUNCTION, DW_TAG_subprogram, attributes);
	add_abbreviation(&abbrev, INLINED, DW_TAG_inlined_subroutine, attributes);
	hostile_add_zeros(&abbrev, 1);
	/* All three have children. */
	for (size_t i = 0; i < abbrev.size / 11; i++)
		abbrev.data[i * 11 + 2] = 1;
	hostile_add_number(&info, 0, 4);
	hostile_add_number(&info, 4, 2);
	hostile_add_number(&info, 0, 4);
	hostile_add_number(&info, 8, 1);
	for (int i = 0; i < DEPTH; i++) {
		hostile_add_number(&info, i == 0 ? UNIT : i == 1 ? FUNCTION : INLINED, 1);
		hostile_add_number(&info, name - (uint64_t)i, 4);
		hostile_add_number(&info, CODE, 8);
		hostile_add_number(&info, HOSTILE_CODE_BYTES, 4);
	}
	hostile_add_zeros(&info, DEPTH);
	length = (uint32_t)info.size - 4;
	memcpy(info.data, &length, sizeof(length));
	hostile_elf_add(elf, ".debug_abbrev", SHT_PROGBITS, &abbrev);
	hostile_elf_add(elf, ".debug_info", SHT_PROGBITS, &info);
}

/*
 * A hundred symbols whose names end with the file, where a page ends, as those of its DWARF: a name that goes on is
 * read past the file. A note gives the build id, by which a reader sees that the file is still the same.
 */
static void write_bending(const char *path, const char *argument)
{
	enum { PAGE_BYTES = 4096, NAME_BYTES = 40, COUNT = 100 };
	struct hostile_bytes symbols = { 0 }, note = { 0 };
	struct hostile_elf elf;
	size_t table;

	(void)argument;
	hostile_add_zeros(&symbols, sizeof(Elf64_Sym));
	for (int i = 0; i < COUNT; i++) {
		const Elf64_Sym symbol = { .st_name = (uint32_t)(PAGE_BYTES - NAME_BYTES - i % 8),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = CODE + (uint64_t)(i % 4),
			.st_size = HOSTILE_CODE_BYTES };

		hostile_add(&symbols, &symbol, sizeof(symbol));
	}
	hostile_add_number(&note, 4, 4);
	hostile_add_number(&note, 8, 4);
	hostile_add_number(&note, NT_GNU_BUILD_ID, 4);
	hostile_add(&note, "GNU\0hostile!", 12);
	hostile_elf_init(&elf);
	hostile_elf_add(&elf, ".note.gnu.build-id", SHT_NOTE, &note);
	add_inlined(&elf, PAGE_BYTES - NAME_BYTES);
	table = hostile_elf_add(&elf, ".symtab", SHT_SYMTAB, &symbols);
	elf.sections[table].sh_entsize = sizeof(Elf64_Sym);
	elf.sections[table].sh_link = (uint32_t)table + 2;
	hostile_elf_add(&elf, ".debug_str", SHT_PROGBITS, &nothing);
	elf.tail_bytes = PAGE_BYTES;
	hostile_elf_add(&elf, ".strtab", SHT_STRTAB, &nothing);
	hostile_elf_write(&elf, path);
}

/* The small symbol table that an image may carry (.gnu_debugdata), which unpacks to the argument's megabytes of zeros.
 */
static void write_minidebug(const char *path, const char *argument)
{
	size_t size = (argument ? strtoull(argument, NULL, 10) : 200) << 20, room, packed = 0;
	struct hostile_bytes bytes = { 0 };
	uint8_t *zeros = calloc(size, 1);
	struct hostile_elf elf;

	room = lzma_stream_buffer_bound(size);
	hostile_add_zeros(&bytes, room);
	if (!zeros ||
		lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, zeros, size, bytes.data, &packed, room) != LZMA_OK)
		hostile_fail("lzma_easy_buffer_encode");
	bytes.size = packed;
	hostile_elf_init(&elf);
	hostile_elf_add(&elf, ".gnu_debugdata", SHT_PROGBITS, &bytes);
	hostile_elf_write(&elf, path);
	free(zeros);
}

/* ---- What names code that is made at run time ---- */

/* A jitdump of a sparse gigabyte, or with the argument `dense` of as many records as fit into one. */
static void write_jitdump(const char *path, const char *argument)
{
	enum { SKIPPED = 99, SPARSE_BYTES = (1 << 30) - 4096 };
	struct hostile_bytes bytes = { 0 };

	hostile_add_number(&bytes, 0x4a695444, 4);
	hostile_add_number(&bytes, 1, 4);
	hostile_add_number(&bytes, 40, 4);
	hostile_add_number(&bytes, EM_X86_64, 4);
	hostile_add_zeros(&bytes, 24);
	if (argument && strcmp(argument, "dense") == 0) {
		while (bytes.size < SPARSE_BYTES) {
			hostile_add_number(&bytes, SKIPPED, 4);
			hostile_add_number(&bytes, 16, 4);
			hostile_add_zeros(&bytes, 8);
		}
		hostile_write(path, &bytes);
		return;
	}
	hostile_add_number(&bytes, SKIPPED, 4);
	hostile_add_number(&bytes, SPARSE_BYTES - bytes.size - 4, 4);
	make_sparse(path, &bytes, SPARSE_BYTES);
}

/* A perf map with a line of no use, and sparse bytes after it as many gigabytes as the argument says. */
static void write_perf_map(const char *path, const char *argument)
{
	struct hostile_bytes line = { 0 };

	hostile_add(&line, "10 10 nowhere\n", 14);
	make_sparse(path, &line, (off_t)(argument ? strtoull(argument, NULL, 10) : 200) << 30);
}

/* ---- What readers are given ---- */

/* A profile of one sample, whose stack has the argument's millions of frames; gzip. */
static void write_pprof(const char *path, const char *argument)
{
	/* sample_type { type: 1 unit: 2 }; string_table "", "cpu", "nanoseconds"; location { id: 1 } */
	static const uint8_t tables[] = "\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x03"
					"cpu\x32\x0b"
					"nanoseconds\x22\x02\x08\x01";
	uint64_t frames = (argument ? strtoull(argument, NULL, 10) : 100) * 1000000;
	struct hostile_bytes out = { 0 }, pattern = { 0 }, head = { 0 }, stack = { 0 };

	hostile_add(&stack, "\x10\x01\x0a", 3); /* value: 1; location_id */
	hostile_add_leb128(&stack, frames);
	hostile_add(&head, tables, sizeof(tables) - 1);
	hostile_add(&head, "\x12", 1);
	hostile_add_leb128(&head, stack.size + frames);
	hostile_add(&head, stack.data, stack.size);
	for (int i = 0; i < 1000000; i++)
		hostile_add(&pattern, "\x01", 1);
	hostile_pack(&out, HOSTILE_GZIP, &head, &pattern, frames / 1000000);
	hostile_write(path, &out);
}

/* A gzip file of the argument's gigabytes of zeros. */
static void write_gzip(const char *path, const char *argument)
{
	struct hostile_bytes out = { 0 }, pattern = { 0 };

	hostile_add_zeros(&pattern, 1 << 20);
	hostile_pack(&out, HOSTILE_GZIP, &nothing, &pattern, (argument ? strtoull(argument, NULL, 10) : 10) << 10);
	hostile_write(path, &out);
}

/* A perf.data whose names of events claim 2^32 ids and end within the first (linux, perf.data-file-format.txt). */
static void write_perf_data(const char *path, const char *argument)
{
	enum { HEADER_BYTES = 104, ATTR_BYTES = 64, FEATURE_EVENT_DESC = 12, ROOM = 6000 };
	struct hostile_bytes bytes = { 0 };
	uint64_t data = HEADER_BYTES + ATTR_BYTES + 16;

	(void)argument;
	hostile_add(&bytes, "PERFILE2", 8);
	hostile_add_number(&bytes, HEADER_BYTES, 8);
	hostile_add_number(&bytes, ATTR_BYTES + 16, 8);
	hostile_add_number(&bytes, HEADER_BYTES, 8); /* attributes */
	hostile_add_number(&bytes, ATTR_BYTES + 16, 8);
	hostile_add_number(&bytes, data, 8);
	hostile_add_number(&bytes, 8, 8);
	hostile_add_zeros(&bytes, 16);
	hostile_add_number(&bytes, 1 << FEATURE_EVENT_DESC, 8);
	hostile_add_zeros(&bytes, 24);
	hostile_add_number(&bytes, 1, 4); /* an event of software: the clock of the CPU */
	hostile_add_number(&bytes, ATTR_BYTES, 4);
	hostile_add_zeros(&bytes, ATTR_BYTES + 8);
	hostile_add(&bytes, "\x44\0\0\0\0\0\x08\0", 8); /* a record without meaning */
	hostile_add_number(&bytes, bytes.size + 16, 8); /* the feature's section */
	hostile_add_number(&bytes, ROOM, 8);
	hostile_add_number(&bytes, 1, 4);
	hostile_add_number(&bytes, ROOM - 24, 4);
	hostile_add_zeros(&bytes, ROOM - 24);
	hostile_add_number(&bytes, UINT32_MAX, 4); /* ids */
	hostile_add_number(&bytes, 4, 4);
	hostile_add_zeros(&bytes, 8);
	hostile_write(path, &bytes);
}

static const struct {
	const char *name;
	void (*write)(const char *path, const char *argument);
} kinds[] = {
	{ "frames", write_frames },
	{ "zeros", write_zeros },
	{ "abbreviations", write_abbreviations },
	{ "units", write_many_units },
	{ "dwo", write_dwo },
	{ "link", write_link },
	{ "symbols", write_symbols },
	{ "bending", write_bending },
	{ "minidebug", write_minidebug },
	{ "jitdump", write_jitdump },
	{ "perf-map", write_perf_map },
	{ "pprof", write_pprof },
	{ "gzip", write_gzip },
	{ "perf-data", write_perf_data },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0) {
			kinds[i].write(argv[2], argc > 3 ? argv[3] : NULL);
			return 0;
		}
	fprintf(stderr, "usage: workload_hostile_files KIND FILE [ARGUMENT]; the kinds are:");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr, "\n");
	return 2;
}
