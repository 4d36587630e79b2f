/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This file stands in place of x86_64_zydis_shared.c where the archive is linked (KELVIN_ZYDIS_ARCHIVE). */
#include "binary/machine/x86_64_decoder.h"

bool x86_64_load_zydis(struct x86_64_decoder *decoder)
{
	decoder->decode = ZydisDecoderDecodeInstruction;
	decoder->decode_full = ZydisDecoderDecodeFull;
	decoder->format = ZydisFormatterFormatInstruction;
	decoder->init_formatter = ZydisFormatterInit;
	decoder->set_property = ZydisFormatterSetProperty;
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}
