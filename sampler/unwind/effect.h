/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decode/decode.h"
#include "sampler/unwind/rules.h"

/* What instructions do to a stack frame, as far as a walk up the stack needs it. Encodings: Intel 64 manual, volume 2. */

/* A stack address, relative to what a register holds at the first instruction. */
struct effect_place {
	uint8_t base;   /* CFI_RSP or CFI_RBP; 0: not known */
	int32_t offset; /* bytes */
};

/* What is known behind some instructions. */
struct effect_frame {
	struct effect_place rsp, rbp;
	int32_t top; /* the highest stack pointer so far: what lies below was pushed on the way, or is left over */
	struct effect_place saved[RULES_SAVED]; /* of rules_saved_registers: where they were taken back from */
};

/* What is known before the first instruction. */
struct effect_frame effect_none(void);
bool effect_is_none(const struct effect_frame *frame);

/* Takes in one more instruction that is no jump. False when nothing is known of the stack behind it. */
bool effect_apply(struct effect_frame *frame, const ZydisDecodedInstruction *in);

/* Whether functions begin with such an instruction: with the push of a register that they must keep, or with room for variables. */
bool effect_begins_function(const ZydisDecodedInstruction *in);
