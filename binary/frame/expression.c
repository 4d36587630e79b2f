/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/expression.h"

#include <dwarf.h>

enum { STACK_DEPTH = 32, MAX_STEPS = 256 };

struct evaluator {
	const struct expression_input *input;
	uint64_t stack[STACK_DEPTH];
	size_t depth;
	bool failed;
};

static void frame_expression_push(struct evaluator *e, uint64_t value)
{
	if (e->depth == STACK_DEPTH)
		e->failed = true;
	else
		e->stack[e->depth++] = value;
}

static uint64_t frame_expression_pop(struct evaluator *e)
{
	if (e->depth == 0) {
		e->failed = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static void binary(struct evaluator *e, uint8_t op)
{
	uint64_t b = frame_expression_pop(e), a = frame_expression_pop(e);

	switch (op) {
	case DW_OP_and:
		return frame_expression_push(e, a & b);
	case DW_OP_or:
		return frame_expression_push(e, a | b);
	case DW_OP_xor:
		return frame_expression_push(e, a ^ b);
	case DW_OP_plus:
		return frame_expression_push(e, a + b);
	case DW_OP_minus:
		return frame_expression_push(e, a - b);
	case DW_OP_mul:
		return frame_expression_push(e, a * b);
	case DW_OP_shl:
		return frame_expression_push(e, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return frame_expression_push(e, b < 64 ? a >> b : 0);
	case DW_OP_eq:
		return frame_expression_push(e, a == b);
	case DW_OP_ne:
		return frame_expression_push(e, a != b);
	case DW_OP_ge:
		return frame_expression_push(e, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return frame_expression_push(e, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return frame_expression_push(e, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return frame_expression_push(e, (int64_t)a < (int64_t)b);
	default:
		e->failed = true;
	}
}

static void dereference(struct evaluator *e)
{
	uint64_t value = 0;

	if (!e->input->memory->read(e->input->memory->context, frame_expression_pop(e), &value))
		e->failed = true;
	frame_expression_push(e, value);
}

static void step(struct evaluator *e, struct byte_reader *r)
{
	uint8_t op = byte_reader_u8(r);

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return frame_expression_push(e, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31 && op - DW_OP_breg0 < (int)e->input->register_count)
		return frame_expression_push(
			e, e->input->registers[op - DW_OP_breg0] + (uint64_t)byte_reader_sleb128(r));
	switch (op) {
	case DW_OP_const1u:
		return frame_expression_push(e, byte_reader_u8(r));
	case DW_OP_const1s:
		return frame_expression_push(e, (uint64_t)(int64_t)(int8_t)byte_reader_u8(r));
	case DW_OP_const2u:
		return frame_expression_push(e, byte_reader_u16(r));
	case DW_OP_const2s:
		return frame_expression_push(e, (uint64_t)(int64_t)(int16_t)byte_reader_u16(r));
	case DW_OP_const4u:
		return frame_expression_push(e, byte_reader_u32(r));
	case DW_OP_const4s:
		return frame_expression_push(e, (uint64_t)(int64_t)(int32_t)byte_reader_u32(r));
	case DW_OP_const8u:
	case DW_OP_const8s:
		return frame_expression_push(e, byte_reader_u64(r));
	case DW_OP_constu:
		return frame_expression_push(e, byte_reader_uleb128(r));
	case DW_OP_consts:
		return frame_expression_push(e, (uint64_t)byte_reader_sleb128(r));
	case DW_OP_plus_uconst:
		return frame_expression_push(e, frame_expression_pop(e) + byte_reader_uleb128(r));
	case DW_OP_dup: {
		uint64_t top = frame_expression_pop(e);

		frame_expression_push(e, top);
		return frame_expression_push(e, top);
	}
	case DW_OP_drop:
		frame_expression_pop(e);
		return;
	case DW_OP_deref:
		return dereference(e);
	case DW_OP_nop:
		return;
	default:
		return binary(e, op);
	}
}

bool expression_evaluate(struct byte_reader program, const struct expression_input *input, uint64_t *value)
{
	struct evaluator e = { .input = input };

	frame_expression_push(&e, input->initial);
	for (unsigned int steps = 0; byte_reader_left(&program) > 0 && byte_reader_ok(&program) && !e.failed; steps++) {
		if (steps == MAX_STEPS)
			return false;
		step(&e, &program);
	}
	*value = frame_expression_pop(&e);
	return !e.failed && byte_reader_ok(&program);
}
