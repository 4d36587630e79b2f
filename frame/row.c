/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame/frame.h"

#include "frame/entry.h"
#include "frame/expression.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1 << 24, MAX_REMEMBERED = 8, SEARCH_ENTRY_BYTES = 8 };

/* A frame description entry by where its code starts. */
struct fde_start {
	uint64_t address;
	uint64_t offset; /* of the FDE in .eh_frame */
};

struct fde_index {
	struct fde_start *starts; /* owned, by address */
	size_t count, capacity;
};

struct frame_table {
	const struct machine *machine; /* NULL: not known, and nothing is found */
	struct elf_image *image;       /* a reference: the tables and expressions are read from its bytes */
	struct elf_section eh_frame;
	struct elf_section header; /* .eh_frame_hdr; its search table is used where it lies */
	size_t search_offset, search_count;
	struct fde_index eh_index;      /* made only where there is no search table */
	struct elf_section debug_frame; /* asked for what .eh_frame says nothing of */
	struct fde_index debug_index;
};

static bool add_start(struct fde_index *index, uint64_t address, uint64_t offset, struct error *err)
{
	if (!ARRAY_RESERVE(&index->starts, &index->capacity, index->count + 1, MAX_ENTRIES, err))
		return false;
	index->starts[index->count++] = (struct fde_start){ address, offset };
	return true;
}

/*
 * The binary search table of .eh_frame_hdr: 4-byte pairs relative to the header, as every linker writes it. That it is
 * sorted is not checked: an entry that is found in a wrong place does not hold the address, and then there is no rule.
 */
static void find_search_table(struct frame_table *table)
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

static int compare_starts(const void *left, const void *right)
{
	const struct fde_start *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static bool scan(
	const struct elf_section *section, enum entry_format format, struct fde_index *index, struct error *err)
{
	uint64_t offset = 0, next = 0;
	struct fde fde;

	for (; offset < section->size; offset = next) {
		bool found = entry_read_fde(section, format, offset, &fde, &next);

		if (found && fde.size > 0 && !add_start(index, fde.start, offset, err))
			return false;
		if (next <= offset)
			break;
	}
	if (index->count)
		qsort(index->starts, index->count, sizeof(*index->starts), compare_starts);
	return true;
}

/* Go's describes only some instructions of its functions rightly; its frame pointers can be relied on. */
static bool has_debug_frame(struct frame_table *table)
{
	struct elf_section ignored;

	return elf_image_section(table->image, ".debug_frame", &table->debug_frame) &&
	       !elf_image_section(table->image, ".gopclntab", &ignored);
}

bool frame_table_create(struct elf_image *image, struct frame_table **table, struct error *err)
{
	struct frame_table *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->image = elf_image_ref(image);
	made->machine = machine_of(elf_image_machine(image));
	if (!made->machine) {
		*table = made;
		return true;
	}
	elf_image_eh_frame(image, &made->eh_frame, &made->header);
	find_search_table(made);
	if ((made->search_count == 0 && !scan(&made->eh_frame, ENTRY_EH_FRAME, &made->eh_index, err)) ||
		(has_debug_frame(made) && !scan(&made->debug_frame, ENTRY_DEBUG_FRAME, &made->debug_index, err))) {
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
	free(table->eh_index.starts);
	free(table->debug_index.starts);
	free(table);
}

const struct machine *frame_table_machine(const struct frame_table *table)
{
	return table->machine;
}

static int32_t search_word(const struct frame_table *table, size_t entry, size_t word)
{
	int32_t value;

	memcpy(&value, table->header.bytes + table->search_offset + entry * SEARCH_ENTRY_BYTES + word * sizeof(value),
		sizeof(value));
	return value;
}

/* By the header: where in .eh_frame the code at `address` would be described; false when all code described lies above
 * it. */
static bool find_by_header(const struct frame_table *table, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = table->search_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->header.address + (uint64_t)(int64_t)search_word(table, middle, 0) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*offset = table->header.address + (uint64_t)(int64_t)search_word(table, low - 1, 1) - table->eh_frame.address;
	return true;
}

static bool find_by_index(const struct fde_index *index, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->starts[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*offset = index->starts[low - 1].offset;
	return true;
}

/* The abstract machine of DWARF 5, 6.4.2, which makes the row of an address. */
struct row_maker {
	const struct elf_section *section;
	size_t register_count;
	const struct cie *cie;
	struct frame_rule rule, initial;
	struct frame_rule remembered[MAX_REMEMBERED];
	size_t remembered_count;
	uint64_t location, wanted, end; /* the row at hand; of the function */
	bool failed;
};

static void set_register(struct row_maker *m, uint64_t number, enum frame_place place, int64_t offset)
{
	/* Vector and other registers lead to no caller. */
	if (number >= m->register_count)
		return;
	if (offset != (int32_t)offset)
		m->failed = true;
	m->rule.registers[number] = (struct frame_register_rule){ .offset = (int32_t)offset, .place = (uint16_t)place };
}

static struct frame_register_rule read_expression(struct row_maker *m, struct byte_reader *r, enum frame_place place)
{
	uint64_t size = byte_reader_uleb128(r);
	const uint8_t *bytes = byte_reader_bytes(r, size);

	if (!bytes || size > UINT16_MAX || bytes - m->section->bytes > INT32_MAX) {
		m->failed = true;
		return (struct frame_register_rule){ 0 };
	}
	return (struct frame_register_rule){ (int32_t)(bytes - m->section->bytes), (uint16_t)place, (uint16_t)size };
}

static void set_expression(struct row_maker *m, struct byte_reader *r, enum frame_place place)
{
	uint64_t number = byte_reader_uleb128(r);
	struct frame_register_rule rule = read_expression(m, r, place);

	if (number < m->register_count)
		m->rule.registers[number] = rule;
}

/* An offset in units of the data alignment; what does not fit cannot be meant. */
static int64_t scaled(struct row_maker *m, int64_t units)
{
	int64_t offset;

	if (!__builtin_mul_overflow(units, m->cie->data_alignment, &offset))
		return offset;
	m->failed = true;
	return 0;
}

static void set_cfa(struct row_maker *m, uint64_t number, int64_t offset)
{
	if (number >= m->register_count || offset != (int32_t)offset) {
		m->failed = true;
		return;
	}
	m->rule.cfa = (struct frame_register_rule){ .offset = (int32_t)offset, .place = FRAME_REGISTER };
	m->rule.cfa_register = (uint8_t)number;
}

static void remember(struct row_maker *m)
{
	if (m->remembered_count == MAX_REMEMBERED)
		m->failed = true;
	else
		m->remembered[m->remembered_count++] = m->rule;
}

static void restore_remembered(struct row_maker *m)
{
	if (m->remembered_count == 0)
		m->failed = true;
	else
		m->rule = m->remembered[--m->remembered_count];
}

static void restore_register(struct row_maker *m, uint64_t number)
{
	if (number < m->register_count)
		m->rule.registers[number] = m->initial.registers[number];
}

static void execute_cfa(struct row_maker *m, struct byte_reader *r, uint8_t op)
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
		m->rule.cfa = read_expression(m, r, FRAME_VAL_EXPRESSION);
		break;
	default:
		m->failed = true;
	}
}

static void execute_register(struct row_maker *m, struct byte_reader *r, uint8_t op)
{
	uint64_t number = op == DW_CFA_expression || op == DW_CFA_val_expression ? 0 : byte_reader_uleb128(r);

	switch (op) {
	case DW_CFA_offset_extended:
		set_register(m, number, FRAME_AT_CFA, scaled(m, (int64_t)byte_reader_uleb128(r)));
		break;
	case DW_CFA_offset_extended_sf:
		set_register(m, number, FRAME_AT_CFA, scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_register(m, number, FRAME_AT_CFA, scaled(m, (int64_t)(0 - byte_reader_uleb128(r))));
		break;
	case DW_CFA_val_offset:
		set_register(m, number, FRAME_VAL_OFFSET, scaled(m, (int64_t)byte_reader_uleb128(r)));
		break;
	case DW_CFA_val_offset_sf:
		set_register(m, number, FRAME_VAL_OFFSET, scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_restore_extended:
		restore_register(m, number);
		break;
	case DW_CFA_undefined:
		set_register(m, number, FRAME_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_register(m, number, FRAME_SAME, 0);
		break;
	case DW_CFA_register: {
		uint64_t other = byte_reader_uleb128(r);

		if (other < m->register_count)
			set_register(m, number, FRAME_REGISTER, (int64_t)other);
		else
			m->failed = true;
		break;
	}
	case DW_CFA_expression:
		set_expression(m, r, FRAME_EXPRESSION);
		break;
	case DW_CFA_val_expression:
		set_expression(m, r, FRAME_VAL_EXPRESSION);
		break;
	default:
		m->failed = true;
	}
}

/* True while the wanted address lies further on. */
static bool advance(struct row_maker *m, uint64_t delta)
{
	uint64_t location = m->location + delta * m->cie->code_alignment;

	if (location >= m->location && location <= m->wanted) {
		m->location = location;
		return true;
	}
	if (location > m->wanted && location < m->end)
		m->end = location;
	return false;
}

/* Runs one instruction; false when the wanted row is complete. */
static bool execute(struct row_maker *m, struct byte_reader *r)
{
	uint8_t op = byte_reader_u8(r);
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, low);
	case DW_CFA_offset:
		set_register(m, low, FRAME_AT_CFA, scaled(m, (int64_t)byte_reader_uleb128(r)));
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

static bool run(struct row_maker *m, struct byte_reader r)
{
	while (byte_reader_left(&r) > 0 && !m->failed && byte_reader_ok(&r))
		if (!execute(m, &r))
			break;
	return !m->failed && byte_reader_ok(&r);
}

/* What the FDE at `offset` says of the address. */
static bool read_rule(const struct frame_table *table, enum entry_format format, uint64_t offset, uint64_t address,
	struct frame_rule *rule)
{
	const struct elf_section *section = format == ENTRY_EH_FRAME ? &table->eh_frame : &table->debug_frame;
	struct row_maker m = {
		.section = section, .register_count = table->machine->register_count, .wanted = address
	};
	struct fde fde;
	uint64_t next;

	if (!entry_read_fde(section, format, offset, &fde, &next) ||
		fde.cie.return_register != table->machine->return_column || address < fde.start ||
		address - fde.start >= fde.size)
		return false;
	m.cie = &fde.cie;
	m.location = 0;
	if (!run(&m, fde.cie.instructions))
		return false;
	m.initial = m.rule;
	m.location = fde.start;
	m.end = fde.start + fde.size;
	if (!run(&m, fde.instructions))
		return false;
	*rule = m.rule;
	rule->is_signal_frame = fde.cie.is_signal_frame;
	rule->start = m.location;
	rule->size = m.end - m.location;
	rule->function_start = fde.start;
	rule->function_size = fde.size;
	return rule->cfa.place == FRAME_REGISTER || rule->cfa.place == FRAME_VAL_EXPRESSION;
}

static bool has_expression(const struct frame_rule *rule)
{
	bool found = rule->cfa.place == FRAME_VAL_EXPRESSION;

	for (size_t i = 0; i < MACHINE_MAX_REGISTERS; i++)
		found |= rule->registers[i].place == FRAME_EXPRESSION ||
			 rule->registers[i].place == FRAME_VAL_EXPRESSION;
	return found;
}

bool frame_table_find_rule(const struct frame_table *table, uint64_t address, struct frame_rule *rule)
{
	uint64_t offset;
	bool is_listed = table->search_count ? find_by_header(table, address, &offset)
					     : find_by_index(&table->eh_index, address, &offset);

	if (is_listed && read_rule(table, ENTRY_EH_FRAME, offset, address, rule))
		return true;
	/* Expressions are kept as places in .eh_frame: elsewhere, where compilers write none, they cannot be used. */
	return find_by_index(&table->debug_index, address, &offset) &&
	       read_rule(table, ENTRY_DEBUG_FRAME, offset, address, rule) && !has_expression(rule);
}

bool frame_evaluate(const struct frame_table *table, struct frame_register_rule expression, const uint64_t *registers,
	const struct frame_memory *memory, uint64_t initial, uint64_t *value)
{
	struct byte_reader r = byte_reader_over(table->eh_frame.bytes, table->eh_frame.size);

	byte_reader_seek(&r, (size_t)expression.offset);
	return table->machine &&
	       expression_evaluate(byte_reader_split(&r, expression.size),
		       &(struct expression_input){ registers, table->machine->register_count, memory, initial }, value);
}
