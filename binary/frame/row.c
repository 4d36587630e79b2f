/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/row.h"

#include <dwarf.h>

enum { MAX_REMEMBERED = 8 };

/* The abstract machine of DWARF 5, 6.4.2, which makes the row of an address. */
struct row_maker {
	const uint8_t *bytes; /* of the section */
	size_t register_count;
	const struct cie *cie;
	struct frame_rule rule, initial;
	struct frame_rule *remembered; /* room for MAX_REMEMBERED, which is set as far as it is used */
	size_t remembered_count;
	uint64_t location, wanted, end; /* the row at hand; of the function */
	bool failed;
};

static void set_register(struct row_maker *m, uint64_t number, enum frame_rule_kind kind, int64_t offset)
{
	/* Vector and other registers lead to no caller. */
	if (number >= m->register_count)
		return;
	if (offset != (int32_t)offset)
		m->failed = true;
	m->rule.registers[number] = (struct frame_register_rule){ .offset = (int32_t)offset, .kind = (uint16_t)kind };
}

static struct frame_register_rule read_expression(struct row_maker *m, struct byte_reader *r, enum frame_rule_kind kind)
{
	uint64_t size = byte_reader_uleb128(r);
	const uint8_t *bytes = byte_reader_bytes(r, size);

	if (!bytes || size > UINT16_MAX || bytes - m->bytes > INT32_MAX) {
		m->failed = true;
		return (struct frame_register_rule){ 0 };
	}
	return (struct frame_register_rule){ (int32_t)(bytes - m->bytes), (uint16_t)kind, (uint16_t)size };
}

static void set_expression(struct row_maker *m, struct byte_reader *r, enum frame_rule_kind kind)
{
	uint64_t number = byte_reader_uleb128(r);
	struct frame_register_rule rule = read_expression(m, r, kind);

	if (number < m->register_count)
		m->rule.registers[number] = rule;
}

/* An offset in units of the data alignment; what does not fit cannot be meant. */
static int64_t frame_row_scaled(struct row_maker *m, int64_t units)
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
	m->rule.cfa = (struct frame_register_rule){ .offset = (int32_t)offset, .kind = FRAME_REGISTER };
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
		set_cfa(m, number, frame_row_scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa(m, byte_reader_uleb128(r), m->rule.cfa.offset);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa(m, m->rule.cfa_register, (int64_t)byte_reader_uleb128(r));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(m, m->rule.cfa_register, frame_row_scaled(m, byte_reader_sleb128(r)));
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
		set_register(m, number, FRAME_AT_CFA, frame_row_scaled(m, (int64_t)byte_reader_uleb128(r)));
		break;
	case DW_CFA_offset_extended_sf:
		set_register(m, number, FRAME_AT_CFA, frame_row_scaled(m, byte_reader_sleb128(r)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_register(m, number, FRAME_AT_CFA, frame_row_scaled(m, (int64_t)(0 - byte_reader_uleb128(r))));
		break;
	case DW_CFA_val_offset:
		set_register(m, number, FRAME_VAL_OFFSET, frame_row_scaled(m, (int64_t)byte_reader_uleb128(r)));
		break;
	case DW_CFA_val_offset_sf:
		set_register(m, number, FRAME_VAL_OFFSET, frame_row_scaled(m, byte_reader_sleb128(r)));
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
static bool frame_row_advance(struct row_maker *m, uint64_t delta)
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
		return frame_row_advance(m, low);
	case DW_CFA_offset:
		set_register(m, low, FRAME_AT_CFA, frame_row_scaled(m, (int64_t)byte_reader_uleb128(r)));
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
		return frame_row_advance(m, byte_reader_u8(r));
	case DW_CFA_advance_loc2:
		return frame_row_advance(m, byte_reader_u16(r));
	case DW_CFA_advance_loc4:
		return frame_row_advance(m, byte_reader_u32(r));
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

static bool execute_all(struct row_maker *m, struct byte_reader r)
{
	while (byte_reader_left(&r) > 0 && !m->failed && byte_reader_ok(&r))
		if (!execute(m, &r))
			break;
	return !m->failed && byte_reader_ok(&r);
}

bool row_make(const struct entry_section *section, const struct machine *machine, const struct fde *fde,
	uint64_t address, struct frame_rule *rule)
{
	struct frame_rule remembered[MAX_REMEMBERED];
	struct row_maker m = { .bytes = section->elf.bytes,
		.remembered = remembered,
		.register_count = machine->register_count,
		.cie = &fde->cie,
		.wanted = address };

	if (fde->cie.return_register != machine->return_column || !execute_all(&m, fde->cie.instructions))
		return false;
	m.initial = m.rule;
	m.location = fde->start;
	m.end = fde->start + fde->size;
	if (!execute_all(&m, fde->instructions))
		return false;
	*rule = m.rule;
	rule->is_signal_frame = fde->cie.is_signal_frame;
	rule->start = m.location;
	rule->size = m.end - m.location;
	rule->function_start = fde->start;
	rule->function_size = fde->size;
	return rule->cfa.kind == FRAME_REGISTER || rule->cfa.kind == FRAME_VAL_EXPRESSION;
}
