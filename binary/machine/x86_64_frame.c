/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of instructions on a stack frame, as far as a walk needs them. Encodings: Intel 64 manual, volume 2. */
#include "binary/machine/x86_64_decoder.h"

enum {
	MOST_FRAME_BYTES = 1 << 20,
	WORD_BYTES = 8,
	RBX_CODE = 3, /* registers as instructions encode them */
	RSP_CODE = 4,
	RBP_CODE = 5,
	MOV_TO_RM = 0x89,
	MOV_TO_REG = 0x8b,
};

static const struct machine_stack_address unknown_address = { 0 };

static struct machine_stack_address moved(struct machine_stack_address address, int64_t bytes)
{
	int64_t offset = address.offset + bytes;

	if (address.base == 0 || offset > MOST_FRAME_BYTES || offset < -MOST_FRAME_BYTES)
		return unknown_address;
	address.offset = (int32_t)offset;
	return address;
}

/* False when nothing is known of the stack from there on. */
static bool set_stack_pointer(struct machine_frame *frame, struct machine_stack_address address)
{
	if (address.base != frame->stack_pointer.base || address.offset > frame->top)
		frame->top = address.offset;
	frame->stack_pointer = address;
	return address.base != 0;
}

/* Lowers the stack pointer by so many bytes; up where they are negative. */
static bool x86_64_frame_lower(struct machine_frame *frame, int64_t bytes)
{
	return set_stack_pointer(frame, moved(frame->stack_pointer, -bytes));
}

static void note_saved(struct machine_frame *frame, uint8_t encoded, struct machine_stack_address from)
{
	static const uint8_t numbers[16] = { 0, 2, 1, X86_64_RBX, X86_64_RSP, X86_64_RBP, 4, 5, 8, 9, 10, 11, 12, 13,
		14, 15 };
	uint8_t index = machine_x86_64.saved_index[numbers[encoded]];

	if (from.base == frame->stack_pointer.base && from.offset < frame->top)
		return;
	if (index != MACHINE_NOT_SAVED)
		frame->saved[index] = from;
}

static bool x86_64_frame_pop(struct machine_frame *frame, uint8_t encoded)
{
	note_saved(frame, encoded, frame->stack_pointer);
	if (encoded == RBP_CODE)
		frame->frame_pointer = unknown_address;
	return encoded != RSP_CODE && x86_64_frame_lower(frame, -WORD_BYTES);
}

/* Registers as instructions encode them: three bits in the opcode or the ModR/M byte, the fourth in a prefix (Intel 64
 * manual, volume 2, 2.2.1). */
static uint8_t opcode_register(const ZydisDecodedInstruction *in)
{
	return (uint8_t)((in->opcode & 7) | (in->raw.rex.B << 3));
}

static uint8_t reg_register(const ZydisDecodedInstruction *in)
{
	return (uint8_t)(in->raw.modrm.reg | (in->raw.rex.R << 3));
}

static uint8_t rm_register(const ZydisDecodedInstruction *in)
{
	return (uint8_t)(in->raw.modrm.rm | (in->raw.rex.B << 3));
}

static bool has_modrm(const ZydisDecodedInstruction *in)
{
	return in->attributes & ZYDIS_ATTRIB_HAS_MODRM;
}

/*
 * Returns whether an operation between a register and another or memory writes the register, and not the other (bit 1
 * of the opcode).
 */
static bool writes_reg(const ZydisDecodedInstruction *in)
{
	return in->opcode & 2;
}

static bool is_between_registers(const ZydisDecodedInstruction *in)
{
	return in->raw.modrm.mod == 3;
}

static struct machine_stack_address x86_64_frame_value_of(const struct machine_frame *frame, uint8_t encoded)
{
	if (encoded == RSP_CODE)
		return frame->stack_pointer;
	return encoded == RBP_CODE ? frame->frame_pointer : unknown_address;
}

/* Returns the address of a memory operand that is given by the stack or the frame pointer alone. */
static struct machine_stack_address address_of(const struct machine_frame *frame, const ZydisDecodedInstruction *in)
{
	enum { NO_INDEX = 4, NO_DISPLACEMENT = 0 };
	const ZydisDecodedInstructionRaw *raw = &in->raw;
	bool has_sib = raw->modrm.rm == RSP_CODE;

	if ((raw->modrm.mod == NO_DISPLACEMENT && !has_sib) || raw->rex.B)
		return unknown_address;
	if (!has_sib)
		return moved(x86_64_frame_value_of(frame, raw->modrm.rm), raw->disp.value);
	if (raw->sib.index != NO_INDEX || raw->rex.X ||
		(raw->modrm.mod == NO_DISPLACEMENT && raw->sib.base == RBP_CODE))
		return unknown_address;
	return moved(x86_64_frame_value_of(frame, raw->sib.base), raw->disp.value);
}

static bool assign(struct machine_frame *frame, uint8_t encoded, struct machine_stack_address value)
{
	if (encoded == RBP_CODE)
		frame->frame_pointer = value;
	return encoded != RSP_CODE || set_stack_pointer(frame, value);
}

static bool x86_64_frame_copy(struct machine_frame *frame, const ZydisDecodedInstruction *in)
{
	uint8_t reg = reg_register(in), rm = rm_register(in);
	struct machine_stack_address address;

	if (is_between_registers(in))
		return writes_reg(in) ? assign(frame, reg, x86_64_frame_value_of(frame, rm))
				      : assign(frame, rm, x86_64_frame_value_of(frame, reg));
	if (!writes_reg(in))
		return true;
	address = address_of(frame, in);
	if (address.base != 0)
		note_saved(frame, reg, address);
	return assign(frame, reg, unknown_address);
}

static bool calculate(struct machine_frame *frame, const ZydisDecodedInstruction *in)
{
	bool by_number = in->raw.imm[0].size > 0, is_to_rm = by_number || !writes_reg(in);
	uint8_t to = is_to_rm ? rm_register(in) : reg_register(in);
	int64_t number = in->raw.imm[0].value.s;

	if (!has_modrm(in) || (is_to_rm && !is_between_registers(in)) || to != RSP_CODE)
		return true;
	if (!by_number || in->mnemonic == ZYDIS_MNEMONIC_AND)
		return set_stack_pointer(frame, unknown_address);
	return x86_64_frame_lower(frame, in->mnemonic == ZYDIS_MNEMONIC_SUB ? number : -number);
}

static bool exchange(const ZydisDecodedInstruction *in)
{
	return !has_modrm(in) ||
	       (reg_register(in) != RSP_CODE && (!is_between_registers(in) || rm_register(in) != RSP_CODE));
}

/* Takes in one more instruction that is no jump. False when nothing is known of the stack behind it. */
static bool apply(struct machine_frame *frame, const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return x86_64_frame_lower(frame, WORD_BYTES);
	case ZYDIS_MNEMONIC_POPFQ:
		return x86_64_frame_lower(frame, -WORD_BYTES);
	case ZYDIS_MNEMONIC_POP:
		return has_modrm(in) ? x86_64_frame_lower(frame, -WORD_BYTES)
				     : x86_64_frame_pop(frame, opcode_register(in));
	case ZYDIS_MNEMONIC_LEAVE:
		return set_stack_pointer(frame, frame->frame_pointer) && x86_64_frame_pop(frame, RBP_CODE);
	case ZYDIS_MNEMONIC_LEA:
		return assign(frame, reg_register(in), address_of(frame, in));
	case ZYDIS_MNEMONIC_MOV:
		return (in->opcode != MOV_TO_RM && in->opcode != MOV_TO_REG) || x86_64_frame_copy(frame, in);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
		return calculate(frame, in);
	case ZYDIS_MNEMONIC_XCHG:
		return exchange(in);
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_IRETQ:
		return false;
	default:
		return true;
	}
}

/*
 * Returns whether a function begins here: with the push of a register that a callee must keep, or with room for
 * variables.
 */
static bool begins_function(const ZydisDecodedInstruction *in)
{
	static const uint16_t pushed = 1 << RBX_CODE | 1 << RBP_CODE | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15;

	if (in->mnemonic == ZYDIS_MNEMONIC_PUSH && !has_modrm(in) && in->raw.imm[0].size == 0)
		return pushed >> opcode_register(in) & 1;
	return in->mnemonic == ZYDIS_MNEMONIC_SUB && has_modrm(in) && in->raw.imm[0].size > 0 &&
	       is_between_registers(in) && rm_register(in) == RSP_CODE;
}

static bool x86_64_frame_is_padding(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_NOP || in->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static enum machine_flow flow_of_jump(const ZydisDecodedInstruction *in)
{
	if (in->raw.imm[0].size > 0)
		return MACHINE_FLOW_JUMP;
	/* Through a slot of a procedure linkage table: the callee returns for the function that jumps. */
	return x86_64_is_relative(in) ? MACHINE_FLOW_RETURN : MACHINE_FLOW_UNKNOWN;
}

static enum machine_flow flow_of_next(struct machine_frame *frame, const ZydisDecodedInstruction *in)
{
	if (!apply(frame, in))
		return MACHINE_FLOW_UNKNOWN;
	if (x86_64_frame_is_padding(in))
		return MACHINE_FLOW_PADDING;
	return in->meta.category == ZYDIS_CATEGORY_CALL ? MACHINE_FLOW_CALL : MACHINE_FLOW_NEXT;
}

static enum machine_flow flow_of(struct machine_frame *frame, const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_RET:
		/* One that takes arguments off the stack as well, or switches segments, is none of compiled code. */
		return in->mnemonic == ZYDIS_MNEMONIC_RET && in->raw.imm[0].size == 0 ? MACHINE_FLOW_RETURN
										      : MACHINE_FLOW_UNKNOWN;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return flow_of_jump(in);
	case ZYDIS_CATEGORY_COND_BR:
		return MACHINE_FLOW_BRANCH;
	default:
		return flow_of_next(frame, in);
	}
}

bool x86_64_step(struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_frame *frame,
	struct machine_step *step)
{
	ZydisDecodedInstruction in;

	if (!x86_64_decode(decoder, bytes, size, &in))
		return false;
	*step = (struct machine_step){
		.size = in.length,
		.flow = (uint8_t)flow_of(frame, &in),
		.begins_function = begins_function(&in),
		.distance = in.raw.imm[0].value.s,
	};
	return true;
}
