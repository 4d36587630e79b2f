/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>

/*
 * Zydis, loaded when the first fingerprint is wanted: a program that only names addresses starts without it. Of an instruction it
 * tells the length and where its parts lie without making text or operands of them, in a quarter of the time that capstone takes.
 */
struct zydis {
	void *library; /* owned */
	ZyanStatus (*init)(ZydisDecoder *decoder, ZydisMachineMode mode, ZydisStackWidth width);
	ZyanStatus (*decode)(const ZydisDecoder *decoder, ZydisDecoderContext *context, const void *bytes, ZyanUSize size,
		ZydisDecodedInstruction *instruction);
};

/* False where the library is not installed: there are no fingerprints then. */
bool zydis_init(struct zydis *zydis);
void zydis_deinit(struct zydis *zydis);
