/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/cfi.h"

#include "sampler/unwind/entry.h"
#include "sampler/unwind/expression.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1 << 24, MAX_REMEMBERED = 8, SEARCH_ENTRY_BYTES = 8 };

/* A frame description entry by where its code starts. */
struct fde_start {
	uint64_t address;
	uint64_t offset; /* of the FDE in .eh_frame */
};

struct cfi_table {
	struct elf_image *image; /* a reference: the tables and expressions are read from its bytes */
	struct elf_section eh_frame;
	struct elf_section header; /* .eh_frame_hdr; its search table is used where it lies */
	size_t search_offset, search_count;
	struct fde_start *starts; /* owned, by address: made only where there is no search table */
	size_t count, capacity;
};

static bool add_start(struct cfi_table *table, uint64_t address, uint64_t offset, struct error *err)
{
	if (!ARRAY_RESERVE(&table->starts, &table->capacity, table->count + 1, MAX_ENTRIES, err))
		return false;
	table->starts[table->count++] = (struct fde_start){ address, offset };
	return true;
}

/*
 * The binary search table of .eh_frame_hdr: 4-byte pairs relative to the header, as every linker writes it. That it is sorted is
 * not checked: an entry that is found in a wrong place does not hold the address, and then there is no rule.
 */
static void find_search_table(struct cfi_table *table)
{
	const struct elf_section *hdr = &table->header;
	struct byte_reader r = byte_reader_over(hdr->bytes, hdr->size);
	uint8_t version = byte_reader_u8(&r), pointer = byte_reader_u8(&r), counting = byte_reader_u8(&r),
		encoding = byte_reader_u8(&r);
	uint64_t count;

	if (version != 1 || encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return;
	entry_read_pointer(&r, pointer, entry_address(hdr, &r), hdr->address);
	count = entry_read_pointer(&r, counting, entry_address(hdr, &r), hdr->address);
	if (!byte_reader_ok(&r) || count > byte_reader_left(&r) / SEARCH_ENTRY_BYTES)
		return;
	table->search_offset = byte_reader_offset(&r);
	table->search_count = (size_t)count;
}

static bool scan(struct cfi_table *table, struct error *err)
{
	uint64_t offset = 0, next;
	struct fde fde;

	while (offset < table->eh_frame.size) {
		bool found = entry_read_fde(&table->eh_frame, offset, &fde, &next);

		if (found && fde.size > 0 && !add_start(table, fde.start, offset, err))
			return false;
		if (next <= offset)
			return true;
		offset = next;
	}
	return true;
}

static int compare_starts(const void *left, const void *right)
{
	const struct fde_start *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

bool cfi_table_create(struct elf_image *image, struct cfi_table **table, struct error *err)
{
	struct cfi_table *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->image = elf_image_ref(image);
	elf_image_eh_frame(image, &made->eh_frame, &made->header);
	find_search_table(made);
	if (made->search_count == 0) {
		if (!scan(made, err))
			goto fail;
		if (made->count)
			qsort(made->starts, made->count, sizeof(*made->starts), compare_starts);
	}
	*table = made;
	return true;
fail:
	cfi_table_destroy(made);
	return false;
}

void cfi_table_destroy(struct cfi_table *table)
{
	if (!table)
		return;
	elf_image_unref(table->image);
	free(table->starts);
	free(table);
}

static int32_t search_word(const struct cfi_table *table, size_t entry, size_t word)
{
	int32_t value;

	memcpy(&value, table->header.bytes + table->search_offset + entry * SEARCH_ENTRY_BYTES + word * sizeof(value),
		sizeof(value));
	return value;
}

static uint64_t start_address(const struct cfi_table *table, size_t index)
{
	if (table->search_count)
		return table->header.address + (uint64_t)(int64_t)search_word(table, index, 0);
	return table->starts[index].address;
}

/* Where in .eh_frame the description of the code at `address` would be; false when all code described lies above it. */
static bool find_start(const struct cfi_table *table, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = table->search_count ? table->search_count : table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (start_address(table, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	if (table->search_count)
		*offset = table->header.address + (uint64_t)(int64_t)search_word(table, low - 1, 1) - table->eh_frame.address;
	else
		*offset = table->starts[low - 1].offset;
	return true;
}

/* The machine of DWARF 5, 6.4.2. */
struct machine {
	const struct elf_section *section;
	const struct cie *cie;
	struct cfi_rule rule, initial;
	struct cfi_rule remembered[MAX_REMEMBERED];
	size_t remembered_count;
	uint64_t location, wanted;
	bool failed;
};

static void set_register(struct machine *m, uint64_t number, enum cfi_place place, int64_t offset)
{
	/* Vector and other registers lead to no caller. */
	if (number >= CFI_REGISTERS)
		return;
	if (offset != (int32_t)offset)
		m->failed = true;
	m->rule.registers[number] = (struct cfi_register_rule){ .offset = (int32_t)offset, .place = (uint16_t)place };
}

static struct cfi_register_rule read_expression(struct machine *m, struct byte_reader *r, enum cfi_place place)
{
	uint64_t size = byte_reader_uleb128(r);
	const uint8_t *bytes = byte_reader_bytes(r, size);

	if (!bytes || size > UINT16_MAX || bytes - m->section->bytes > INT32_MAX) {
		m->failed = true;
		return (struct cfi_register_rule){ 0 };
	}
	return (struct cfi_register_rule){ (int32_t)(bytes - m->section->bytes), (uint16_t)place, (uint16_t)size };
}

static void set_expression(struct machine *m, struct byte_reader *r, enum cfi_place place)
{
	uint64_t number = byte_reader_uleb128(r);
	struct cfi_register_rule rule = read_expression(m, r, place);

	if (number < CFI_REGISTERS)
		m->rule.registers[number] = rule;
}

/* An offset in units of the data alignment; what does not fit cannot be meant. */
static int64_t scaled(struct machine *m, int64_t units)
{
	int64_t offset;

	if (!__builtin_mul_overflow(units, m->cie->data_alignment, &offset))
		return offset;
	m->failed = true;
	return 0;
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	if (number >= CFI_REGISTERS || offset != (int32_t)offset) {
		m->failed = true;
		return;
	}
	m->rule.cfa = (struct cfi_register_rule){ .offset = (int32_t)offset, .place = CFI_REGISTER };
	m->rule.cfa_register = (uint8_t)number;
}

static void remember(struct machine *m)
{
	if (m->remembered_count == MAX_REMEMBERED)
		m->failed = true;
	else
		m->remembered[m->remembered_count++] = m->rule;
}

static void restore_remembered(struct machine *m)
{
	if (m->remembered_count == 0)
		m->failed = true;
	else
		m->rule = m->remembered[--m->remembered_count];
}

static void restore_register(struct machine *m, uint64_t number)
{
	if (number < CFI_REGISTERS)
		m->rule.registers[number] = m->initial.registers[number];
}

static void execute_cfa(struct machine *m, struct byte_reader *r, uint8_t op)
{
	uint64_t number;

	switch (op) {
	case DW_CFA_def_cfa:
		number = byte_reader_uleb128(r);
		set_cfa(m, number, (int64_t)byte_reader_uleb128(r));
		break;
	case DW_CFA_def_cfa_sf:
		number = byte_reader_uleb128(r);
		set_cfa(m, number, scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa(m, byte_reader_uleb128(r), m->rule.cfa.offset);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa(m, m->rule.cfa_register, (int64_t)byte_reader_uleb128(r));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(m, m->rule.cfa_register, scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_def_cfa_expression:
		m->rule.cfa = read_expression(m, r, CFI_VAL_EXPRESSION);
		break;
	default:
		m->failed = true;
	}
}

static void execute_register(struct machine *m, struct byte_reader *r, uint8_t op)
{
	uint64_t number = op == DW_CFA_expression || op == DW_CFA_val_expression ? 0 : byte_reader_uleb128(r);

	switch (op) {
	case DW_CFA_offset_extended:
		set_register(m, number, CFI_AT_CFA, scaled(m, (int64_t)byte_reader_uleb128(r)));
		break;
	case DW_CFA_offset_extended_sf:
		set_register(m, number, CFI_AT_CFA, scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_register(m, number, CFI_AT_CFA, scaled(m, (int64_t)(0 - byte_reader_uleb128(r))));
		break;
	case DW_CFA_val_offset:
		set_register(m, number, CFI_VAL_OFFSET, scaled(m, (int64_t)byte_reader_uleb128(r)));
		break;
	case DW_CFA_val_offset_sf:
		set_register(m, number, CFI_VAL_OFFSET, scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_restore_extended:
		restore_register(m, number);
		break;
	case DW_CFA_undefined:
		set_register(m, number, CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_register(m, number, CFI_SAME, 0);
		break;
	case DW_CFA_register: {
		uint64_t other = byte_reader_uleb128(r);

		if (other < CFI_REGISTERS)
			set_register(m, number, CFI_REGISTER, (int64_t)other);
		else
			m->failed = true;
		break;
	}
	case DW_CFA_expression:
		set_expression(m, r, CFI_EXPRESSION);
		break;
	case DW_CFA_val_expression:
		set_expression(m, r, CFI_VAL_EXPRESSION);
		break;
	default:
		m->failed = true;
	}
}

/* True while the wanted address lies further on. */
static bool advance(struct machine *m, uint64_t delta)
{
	uint64_t location = m->location + delta * m->cie->code_alignment;

	if (location > m->wanted || location < m->location)
		return false;
	m->location = location;
	return true;
}

/* Runs one instruction; false when the wanted row is complete. */
static bool execute(struct machine *m, struct byte_reader *r)
{
	uint8_t op = byte_reader_u8(r);
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, low);
	case DW_CFA_offset:
		set_register(m, low, CFI_AT_CFA, scaled(m, (int64_t)byte_reader_uleb128(r)));
		return true;
	case DW_CFA_restore:
		restore_register(m, low);
		return true;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		m->failed = true;
		return false;
	case DW_CFA_advance_loc1:
		return advance(m, byte_reader_u8(r));
	case DW_CFA_advance_loc2:
		return advance(m, byte_reader_u16(r));
	case DW_CFA_advance_loc4:
		return advance(m, byte_reader_u32(r));
	case DW_CFA_remember_state:
		remember(m);
		return true;
	case DW_CFA_restore_state:
		restore_remembered(m);
		return true;
	case DW_CFA_GNU_args_size:
		byte_reader_uleb128(r);
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		execute_cfa(m, r, op);
		return true;
	default:
		execute_register(m, r, op);
		return true;
	}
}

static bool run(struct machine *m, struct byte_reader r)
{
	while (byte_reader_left(&r) > 0 && !m->failed && byte_reader_ok(&r))
		if (!execute(m, &r))
			break;
	return !m->failed && byte_reader_ok(&r);
}

bool cfi_table_find(const struct cfi_table *table, uint64_t address, struct cfi_rule *rule)
{
	struct machine m = { .section = &table->eh_frame, .wanted = address };
	struct fde fde;
	uint64_t offset, next;

	if (!find_start(table, address, &offset) || !entry_read_fde(&table->eh_frame, offset, &fde, &next) || address < fde.start ||
		address - fde.start >= fde.size)
		return false;
	m.cie = &fde.cie;
	m.location = 0;
	if (!run(&m, fde.cie.instructions))
		return false;
	m.initial = m.rule;
	m.location = fde.start;
	if (!run(&m, fde.instructions))
		return false;
	*rule = m.rule;
	rule->is_signal_frame = fde.cie.is_signal_frame;
	return rule->cfa.place == CFI_REGISTER || rule->cfa.place == CFI_VAL_EXPRESSION;
}

bool cfi_evaluate(const struct cfi_table *table, struct cfi_register_rule expression, const uint64_t *registers,
	const struct cfi_memory *memory, uint64_t initial, uint64_t *value)
{
	struct byte_reader r = byte_reader_over(table->eh_frame.bytes, table->eh_frame.size);

	byte_reader_seek(&r, (size_t)expression.offset);
	return expression_evaluate(byte_reader_split(&r, expression.size), registers, memory, initial, value);
}
