/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call frame tables of an image: the rule of an address, by .eh_frame_hdr or an index that is made. */
#include "binary/frame/entry.h"
#include "binary/frame/expression.h"
#include "binary/frame/frame.h"
#include "binary/frame/row.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1 << 24 };

/* A frame description entry by its code. */
struct fde_entry {
	uint64_t start, size;
	uint64_t offset; /* of the FDE in its section */
};

struct fde_index {
	struct fde_entry *entries; /* owned, by start */
	size_t count, capacity;
};

struct frame_table {
	const struct machine *machine; /* NULL: not known, and no rule is found */
	struct elf_image *image;       /* a reference: the tables and expressions are read from its bytes */
	struct entry_section eh_frame;
	struct entry_section header;      /* .eh_frame_hdr; its search table is used where it lies */
	struct frame_search search;       /* the search table; count 0: there is none */
	struct fde_index eh_index;        /* made only where there is no search table */
	struct entry_section debug_frame; /* asked for what .eh_frame says nothing of */
	struct fde_index debug_index;
};

/* ---- Pair ---- */

static bool frame_table_add_entry(struct fde_index *index, const struct fde *fde, uint64_t offset, struct error *err)
{
	if (!ARRAY_RESERVE(&index->entries, &index->capacity, index->count + 1, MAX_ENTRIES, err))
		return false;
	index->entries[index->count++] = (struct fde_entry){ fde->start, fde->size, offset };
	return true;
}

/*
 * The binary search table of .eh_frame_hdr: 4-byte pairs relative to the header, as every linker writes it. That it is
 * sorted is not checked: an entry that is found in a wrong position does not hold the address, and then there is no
 * rule.
 */
static void find_search_table(struct frame_table *table)
{
	const struct entry_section *header = &table->header;
	struct byte_reader r = entry_reader(header, 0);
	uint8_t version = byte_reader_u8(&r), pointer = byte_reader_u8(&r), counting = byte_reader_u8(&r),
		encoding = byte_reader_u8(&r);
	uint64_t count;

	if (version != 1 || encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return;
	entry_read_pointer(header, &r, pointer);
	count = entry_read_pointer(header, &r, counting);
	if (!byte_reader_ok(&r) || count > byte_reader_left(&r) / FRAME_SEARCH_ENTRY_BYTES)
		return;
	table->search = (struct frame_search){ .base = header->elf.address,
		.address = header->elf.address + byte_reader_offset(&r),
		.entries = r.pos,
		.count = (size_t)count };
}

/* The order of equal starts is that of the section, so that it is the same each time. */
static int frame_table_compare_entries(const void *left, const void *right)
{
	const struct fde_entry *a = left, *b = right;

	return a->start != b->start ? ORDER(a->start, b->start) : ORDER(a->offset, b->offset);
}

/*
 * All FDEs of a section, as far as the file really is that large: in a hole of it, each word would be an entry. Of code
 * that the linker left out, they begin at 0.
 */
static bool list_entries(
	const struct elf_image *image, const struct entry_section *section, struct fde_index *index, struct error *err)
{
	uint64_t most_bytes = elf_image_most_bytes(image);
	struct fde fde = { 0 };

	for (uint64_t offset = 0, next; offset < section->elf.size && offset < most_bytes; offset = next) {
		bool found = entry_read_fde(section, offset, &fde, &next);

		if (found && fde.start != 0 && fde.size > 0 && !frame_table_add_entry(index, &fde, offset, err))
			return false;
		if (next <= offset)
			break;
	}
	if (index->count)
		qsort(index->entries, index->count, sizeof(*index->entries), frame_table_compare_entries);
	return true;
}

/* Go's describes only some instructions of its functions rightly; its frame pointers can be relied on. */
static bool has_debug_frame(struct frame_table *table)
{
	struct elf_section ignored;

	return elf_image_section(table->image, ".debug_frame", &table->debug_frame.elf) &&
	       !elf_image_section(table->image, ".gopclntab", &ignored);
}

static bool frame_table_read_sections(struct frame_table *table, enum frame_use use, struct error *err)
{
	uint8_t address_bytes = elf_image_is_64bit(table->image) ? sizeof(uint64_t) : sizeof(uint32_t);

	table->eh_frame = (struct entry_section){ .format = ENTRY_EH_FRAME, .address_bytes = address_bytes };
	table->header = (struct entry_section){ .format = ENTRY_EH_FRAME_HDR, .address_bytes = address_bytes };
	table->debug_frame = (struct entry_section){ .format = ENTRY_DEBUG_FRAME, .address_bytes = address_bytes };
	elf_image_eh_frame(table->image, &table->eh_frame.elf, &table->header.elf);
	find_search_table(table);
	if (table->search.count == 0 && !list_entries(table->image, &table->eh_frame, &table->eh_index, err))
		return false;
	return use != FRAME_RULES || !table->machine || !has_debug_frame(table) ||
	       list_entries(table->image, &table->debug_frame, &table->debug_index, err);
}

bool frame_table_create(struct elf_image *image, enum frame_use use, struct frame_table **table, struct error *err)
{
	struct frame_table *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->image = elf_image_ref(image);
	made->machine = machine_of(elf_image_machine(image));
	if (!frame_table_read_sections(made, use, err)) {
		frame_table_destroy(made);
		return false;
	}
	*table = made;
	return true;
}

void frame_table_destroy(struct frame_table *table)
{
	if (!table)
		return;
	elf_image_unref(table->image);
	free(table->eh_index.entries);
	free(table->debug_index.entries);
	free(table);
}

const struct machine *frame_table_machine(const struct frame_table *table)
{
	return table->machine;
}

bool frame_table_is_empty(const struct frame_table *table)
{
	return table->search.count + table->eh_index.count + table->debug_index.count == 0;
}

size_t frame_table_bytes(const struct frame_table *table)
{
	return (table->eh_index.capacity + table->debug_index.capacity) * sizeof(struct fde_entry) + sizeof(*table);
}

bool frame_table_search(const struct frame_table *table, struct frame_search *search)
{
	*search = table->search;
	return search->count > 0;
}

/* ---- Looking up ---- */

static int32_t search_word(const struct frame_search *search, size_t entry, size_t word)
{
	int32_t value;

	memcpy(&value, search->entries + entry * FRAME_SEARCH_ENTRY_BYTES + word * sizeof(value), sizeof(value));
	return value;
}

/*
 * Finds in the header where in .eh_frame the code at `address` would be described; false when all code described lies
 * above it.
 */
static bool find_by_header(const struct frame_table *table, uint64_t address, uint64_t *offset)
{
	const struct frame_search *search = &table->search;
	size_t low = BISECT(search->count, i, search->base + (uint64_t)(int64_t)search_word(search, i, 0) <= address);

	if (low == 0)
		return false;
	*offset = search->base + (uint64_t)(int64_t)search_word(search, low - 1, 1) - table->eh_frame.elf.address;
	return true;
}

/* NULL: no entry that was listed covers the address. */
static const struct fde_entry *find_by_index(const struct fde_index *index, uint64_t address)
{
	size_t low = ARRAY_COUNT_UP_TO(index->entries, index->count, start, address);

	if (low == 0 || address - index->entries[low - 1].start >= index->entries[low - 1].size)
		return NULL;
	return &index->entries[low - 1];
}

static bool read_by_header(const struct frame_table *table, uint64_t address, struct fde *fde)
{
	uint64_t offset, next;

	fde->cie.is_known = false;
	return find_by_header(table, address, &offset) && entry_read_fde(&table->eh_frame, offset, fde, &next) &&
	       address >= fde->start && address - fde->start < fde->size;
}

static bool read_by_index(
	const struct entry_section *section, const struct fde_index *index, uint64_t address, struct fde *fde)
{
	const struct fde_entry *entry = find_by_index(index, address);
	uint64_t next;

	fde->cie.is_known = false;
	return entry && entry_read_fde(section, entry->offset, fde, &next);
}

/* Reads the FDE of .eh_frame that covers the address. */
static bool read_eh_frame(const struct frame_table *table, uint64_t address, struct fde *fde)
{
	return table->search.count ? read_by_header(table, address, fde)
				   : read_by_index(&table->eh_frame, &table->eh_index, address, fde);
}

static bool has_expression(const struct frame_rule *rule)
{
	bool found = rule->cfa.kind == FRAME_VAL_EXPRESSION;

	for (size_t i = 0; i < MACHINE_MAX_REGISTERS; i++)
		found |= rule->registers[i].kind == FRAME_EXPRESSION || rule->registers[i].kind == FRAME_VAL_EXPRESSION;
	return found;
}

bool frame_table_find_rule(const struct frame_table *table, uint64_t address, struct frame_rule *rule)
{
	const struct machine *machine = table->machine;
	struct fde fde;

	if (!machine)
		return false;
	if (read_eh_frame(table, address, &fde) && row_make(&table->eh_frame, machine, &fde, address, rule))
		return true;
	/* Expressions are kept as offsets in .eh_frame: elsewhere, where compilers write none, they cannot be used. */
	return read_by_index(&table->debug_frame, &table->debug_index, address, &fde) &&
	       row_make(&table->debug_frame, machine, &fde, address, rule) && !has_expression(rule);
}

/* Finds the entry that covers the address: listed entries have their bounds with them. */
static bool frame_table_find_entry(const struct frame_table *table, uint64_t address, struct fde_entry *entry)
{
	const struct fde_entry *listed = find_by_index(&table->eh_index, address);
	struct fde fde;

	if (table->search.count && read_by_header(table, address, &fde)) {
		*entry = (struct fde_entry){ .start = fde.start, .size = fde.size };
		return true;
	}
	if (!listed)
		listed = find_by_index(&table->debug_index, address);
	if (listed)
		*entry = *listed;
	return listed;
}

bool frame_table_find_bounds(const struct frame_table *table, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct fde_entry entry;

	if (!frame_table_find_entry(table, address, &entry) || !checked_add(entry.start, entry.size, end))
		return false;
	*start = entry.start;
	return true;
}

bool frame_evaluate(const struct frame_table *table, struct frame_register_rule expression, const uint64_t *registers,
	const struct frame_memory *memory, uint64_t initial, uint64_t *value)
{
	struct byte_reader r = entry_reader(&table->eh_frame, (uint64_t)expression.offset);

	return table->machine &&
	       expression_evaluate(byte_reader_split(&r, expression.size),
		       &(struct expression_input){ registers, table->machine->register_count, memory, initial }, value);
}
