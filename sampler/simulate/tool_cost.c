/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulate/tool_cost.h"

#include <stdbool.h>

enum {
	COST_MULTIPLY = 2, /* one a cycle */
	COST_MULTIPLY_WIDE = 4,
	COST_DIVIDE_32 = 22,  /* 6 cycles */
	COST_DIVIDE_64 = 38,  /* 10 */
	COST_DIVIDE_128 = 46, /* 12: a dividend of 128 bits */
	COST_DIVIDE_F32 = 12,
	COST_DIVIDE_F64 = 16,
	COST_DIVIDE_VECTOR = 18,
	COST_DIVIDE_WIDE_VECTOR = 30,
	COST_ROOT_F32 = 14,
	COST_ROOT_F64 = 22,
	COST_ROOT_WIDE_VECTOR = 38,
	COST_X87_FUNCTION = 240,
	COST_ATOMIC = 70,
	COST_FENCE = 120,
	COST_HELPER = 60, /* cpuid, rdtsc, fxsave and their like */
};

static unsigned cost_of_division(IROp op)
{
	switch ((int)op) {
	case Iop_DivU32:
	case Iop_DivS32:
	case Iop_DivModU32to32:
	case Iop_DivModS32to32:
	case Iop_DivModU64to32:
	case Iop_DivModS64to32:
		return COST_DIVIDE_32;
	case Iop_DivU64:
	case Iop_DivS64:
	case Iop_DivModS64to64:
	case Iop_DivModU64to64:
		return COST_DIVIDE_64;
	case Iop_DivModU128to64:
	case Iop_DivModS128to64:
		return COST_DIVIDE_128;
	case Iop_DivF32:
	case Iop_Div32F0x4:
		return COST_DIVIDE_F32;
	case Iop_DivF64:
	case Iop_Div64F0x2:
		return COST_DIVIDE_F64;
	case Iop_Div32Fx4:
	case Iop_Div64Fx2:
		return COST_DIVIDE_VECTOR;
	case Iop_Div32Fx8:
	case Iop_Div64Fx4:
		return COST_DIVIDE_WIDE_VECTOR;
	default:
		return 0;
	}
}

static unsigned cost_of_op(IROp op)
{
	switch ((int)op) {
	case Iop_Mul16:
	case Iop_Mul32:
	case Iop_Mul64:
	case Iop_MullS32:
	case Iop_MullU32:
	case Iop_Mul32x4:
	case Iop_Mul32x8:
		return COST_MULTIPLY;
	case Iop_MullS64:
	case Iop_MullU64:
		return COST_MULTIPLY_WIDE;
	case Iop_SqrtF32:
	case Iop_Sqrt32F0x4:
		return COST_ROOT_F32;
	case Iop_SqrtF64:
	case Iop_Sqrt64F0x2:
	case Iop_Sqrt32Fx4:
	case Iop_Sqrt64Fx2:
		return COST_ROOT_F64;
	case Iop_Sqrt32Fx8:
	case Iop_Sqrt64Fx4:
		return COST_ROOT_WIDE_VECTOR;
	case Iop_SinF64:
	case Iop_CosF64:
	case Iop_TanF64:
	case Iop_AtanF64:
	case Iop_2xm1F64:
	case Iop_Yl2xF64:
	case Iop_Yl2xp1F64:
	case Iop_PRemF64:
	case Iop_PRem1F64:
		return COST_X87_FUNCTION;
	default:
		return cost_of_division(op);
	}
}

unsigned tool_cost(const IRStmt *statement)
{
	const IRExpr *data;

	switch ((int)statement->tag) {
	case Ist_WrTmp:
		data = statement->Ist.WrTmp.data;
		if (data->tag == Iex_Unop)
			return cost_of_op(data->Iex.Unop.op);
		if (data->tag == Iex_Binop)
			return cost_of_op(data->Iex.Binop.op);
		if (data->tag == Iex_Triop)
			return cost_of_op(data->Iex.Triop.details->op);
		return 0;
	case Ist_CAS:
		return COST_ATOMIC;
	case Ist_MBE:
		return COST_FENCE;
	case Ist_Dirty:
		return COST_HELPER;
	default:
		return 0;
	}
}

unsigned tool_string_bytes(const uint8_t *code, unsigned bytes)
{
	enum { REPEATED = 0xf3, NARROW = 0x66, REX = 0x40, REX_WIDE = 8 };
	unsigned at = 0, rex = 0;
	bool is_repeated = false, is_narrow = false;

	for (; at < bytes && (code[at] == REPEATED || code[at] == NARROW || code[at] == 0x67 || code[at] == 0x2e ||
				     code[at] == 0x36 || code[at] == 0x3e || code[at] == 0x26 || code[at] == 0x64 ||
				     code[at] == 0x65);
		at++) {
		is_repeated |= code[at] == REPEATED;
		is_narrow |= code[at] == NARROW;
	}
	if (at < bytes && (code[at] & 0xf0) == REX)
		rex = code[at++];
	if (!is_repeated || at + 1 != bytes)
		return 0;
	switch (code[at]) {
	case 0xa4: /* movsb */
	case 0xaa: /* stosb */
		return 1;
	case 0xa5: /* movsw, movsd, movsq */
	case 0xab: /* stosw, ... */
		return rex & REX_WIDE ? 8 : is_narrow ? 2 : 4;
	default:
		return 0;
	}
}
