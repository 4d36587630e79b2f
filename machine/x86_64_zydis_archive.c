/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/x86_64_decoder.h"

/* In place of x86_64_zydis_shared.c where the archive is linked (KELVIN_ZYDIS_ARCHIVE). */
bool x86_64_load_zydis(struct x86_64_decoder *decoder)
{
	decoder->decode = ZydisDecoderDecodeInstruction;
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}
