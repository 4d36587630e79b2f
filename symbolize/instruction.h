/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decode/decode.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Where the parts of x86-64 instructions lie, by Zydis, which is asked once for each shape: what follows prefixes, opcode, ModRM
 * and SIB decides nothing any more (Intel SDM 2, 2.1), so that whatever begins with the same bytes has the same parts. Of a
 * large program's instructions nine in ten are of a shape at hand, which takes a tenth of the time.
 */

/* A number within an instruction. */
struct instruction_number {
	uint8_t offset, size; /* size 0: there is none */
	bool is_signed;
};

struct instruction {
	uint8_t size;
	uint8_t opcode;
	bool is_two_byte; /* 0F came before the opcode */
	bool is_padding;  /* does nothing, or traps where nobody comes */
	bool is_jump;     /* or a call; the first immediate says how far */
	bool is_relative; /* the displacement counts from the instruction pointer */
	struct instruction_number displacement, immediates[2];
};

struct instruction_decoder;

/* NULL without Zydis, or for want of memory. One thread at a time. */
struct instruction_decoder *instruction_decoder_create(void);
void instruction_decoder_destroy(struct instruction_decoder *decoder);

/* False when the bytes do not begin with an instruction. */
bool instruction_decode(struct instruction_decoder *decoder, const uint8_t *bytes, size_t size, struct instruction *instruction);

/* The value of a number, extended by its sign if it has one. */
uint64_t instruction_value(const uint8_t *bytes, const struct instruction_number *number);
