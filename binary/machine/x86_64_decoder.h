/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/machine/x86_64.h"

#include <Zydis/Zydis.h>

struct x86_64_shape;

/*
 * Zydis, loaded when the first decoder is made: most programs are named and unwound without it. Of an instruction it
 * tells the length and where its fields lie without making text or operands of them, in a quarter of the time that
 * capstone takes.
 */
struct x86_64_decoder {
	struct machine_decoder decoder; /* the first member */
	ZydisDecoder zydis;
	ZyanStatus (*decode)(const ZydisDecoder *decoder, ZydisDecoderContext *context, const void *bytes,
		ZyanUSize size, ZydisDecodedInstruction *instruction);
	/* Formats an instruction; `decode_full` NULL: it is not there. */
	ZyanStatus (*decode_full)(const ZydisDecoder *decoder, const void *bytes, ZyanUSize size,
		ZydisDecodedInstruction *instruction, ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]);
	ZyanStatus (*format)(const ZydisFormatter *formatter, const ZydisDecodedInstruction *instruction,
		const ZydisDecodedOperand *operands, ZyanU8 operand_count, char *text, ZyanUSize size, ZyanU64 address,
		void *context);
	ZyanStatus (*init_formatter)(ZydisFormatter *formatter, ZydisFormatterStyle style);
	ZyanStatus (*set_property)(ZydisFormatter *formatter, ZydisFormatterProperty property, ZyanUPointer value);
	ZydisFormatter *formatter;   /* owned; made when the first text is asked for (x86_64_format.c) */
	struct x86_64_shape *shapes; /* owned; made when the first fields are asked for (x86_64_fields.c) */
};

/* Makes the library's decoder and finds its functions. False when the library is not installed, or is another version.
 */
bool x86_64_load_zydis(struct x86_64_decoder *decoder);

struct machine_decoder *x86_64_create_decoder(void);
void x86_64_destroy_decoder(struct machine_decoder *decoder);

/* False when the bytes do not begin with an instruction. */
bool x86_64_decode(
	const struct machine_decoder *decoder, const uint8_t *bytes, size_t size, ZydisDecodedInstruction *instruction);

/* These do what struct machine says. */
bool x86_64_step(struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_frame *frame,
	struct machine_step *step);
bool x86_64_find_fields(
	struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_fields *fields);
bool x86_64_format(struct machine_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
	struct machine_text *text);

/* Relative to the instruction pointer (Intel 64 manual, volume 2, table 2-7). */
static inline bool x86_64_is_relative(const ZydisDecodedInstruction *in)
{
	return (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.modrm.mod == 0 && in->raw.modrm.rm == 5;
}
