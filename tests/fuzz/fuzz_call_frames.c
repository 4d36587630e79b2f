/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/frame.h"

#include "tests/fuzz/mutate_section.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

/* The search table of .eh_frame_hdr and the lists of .eh_frame and .debug_frame, in a file that is put together around
 * them. */

enum { ADDRESSES = 64, STEP = 13, REGISTERS = 64 };

static const struct elf_around_section sections[] = { { ".eh_frame_hdr", ELF_AROUND_IN_PLACE },
	{ ".eh_frame", ELF_AROUND_IN_PLACE }, { .name = ".debug_frame" }, { .name = ".gopclntab" } };
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static bool read_word(const void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	*value = address * 3;
	return address % 2 == 0;
}

static void evaluate(const struct frame_table *table, struct frame_register_rule rule)
{
	static const struct frame_memory memory = { .read = read_word };
	static const uint64_t registers[REGISTERS];
	uint64_t value;

	if (rule.kind != FRAME_EXPRESSION && rule.kind != FRAME_VAL_EXPRESSION)
		return;
	if (!frame_evaluate(table, rule, registers, &memory, ELF_AROUND_TEXT, &value))
		return;
}

static void ask(const struct frame_table *table, uint64_t address)
{
	uint64_t start, end;
	struct frame_rule rule;

	if (frame_table_find_bounds(table, address, &start, &end) && !(start <= address && address < end))
		abort();
	if (!frame_table_machine(table) || !frame_table_find_rule(table, address, &rule))
		return;
	if (address - rule.start >= rule.size)
		abort();
	evaluate(table, rule.cfa);
	for (size_t i = 0; i < MACHINE_MAX_REGISTERS; i++)
		evaluate(table, rule.registers[i]);
}

/* Every pair is within the file. */
static void read_search(const struct frame_table *table)
{
	struct frame_search search;
	volatile uint8_t last = 0;

	if (frame_table_search(table, &search))
		for (size_t i = 0; i < search.count * FRAME_SEARCH_ENTRY_BYTES; i++)
			last = last ^ search.entries[i];
}

/* Returns whether the table has an entry that can be asked for. */
static bool use(struct elf_image *image, enum frame_use wanted)
{
	struct frame_table *table;
	struct error err;

	bool has_entries;

	if (!frame_table_create(image, wanted, &table, &err))
		return false;
	read_search(table);
	has_entries = !frame_table_is_empty(table);
	if (has_entries)
		for (size_t i = 0; i < ADDRESSES; i++)
			ask(table, ELF_AROUND_TEXT + i * STEP);
	ask(table, 0);
	ask(table, UINT64_MAX);
	frame_table_destroy(table);
	return has_entries;
}

bool fuzz_take(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct buffer file;
	struct error err;
	bool has_entries = false;

	buffer_init(&file, (size_t)1 << 20);
	elf_around(byte_reader_over(data, size), sections, SECTIONS, &file);
	if (!file.failed && elf_image_open_memory(file.data, file.size, "fuzz", &image, &err)) {
		has_entries = use(image, FRAME_BOUNDS);
		has_entries |= use(image, FRAME_RULES);
		elf_image_unref(image);
	}
	buffer_deinit(&file);
	return has_entries;
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
