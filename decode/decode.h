/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>

/*
 * Zydis, loaded when the first instruction is to be decoded: most programs are named and unwound without it. Of an instruction it
 * tells the length and where its parts lie without making text or operands of them, in a quarter of the time that capstone takes.
 */
struct decoder {
	void *library; /* owned; NULL: none */
	ZydisDecoder zydis;
	ZyanStatus (*decode)(const ZydisDecoder *decoder, ZydisDecoderContext *context, const void *bytes, ZyanUSize size,
		ZydisDecodedInstruction *instruction);
};

/* For 64-bit code. False where the library is not installed. */
bool decoder_init(struct decoder *decoder);
void decoder_deinit(struct decoder *decoder);

/* False when the bytes do not begin with an instruction. */
bool decoder_decode(const struct decoder *decoder, const uint8_t *bytes, size_t size, ZydisDecodedInstruction *instruction);
