/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes x86-64 instructions as text, in Intel's notation, by Zydis. */
#include "binary/machine/x86_64_decoder.h"

#include <stdlib.h>
#include <string.h>

/* Short numbers in lower case, as people read addresses everywhere else. */
static bool make_formatter(struct x86_64_decoder *decoder)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, (ZyanUPointer)ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_IMM_PADDING, (ZyanUPointer)ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_DISP_PADDING, (ZyanUPointer)ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
	};
	ZydisFormatter *made = calloc(1, sizeof(*made));

	if (!made || !ZYAN_SUCCESS(decoder->init_formatter(made, ZYDIS_FORMATTER_STYLE_INTEL))) {
		free(made);
		return false;
	}
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		(void)decoder->set_property(made, properties[i].property, properties[i].value);
	decoder->formatter = made;
	return true;
}

bool x86_64_format(
	struct machine_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address, struct machine_text *text)
{
	struct x86_64_decoder *x86_64 = (struct x86_64_decoder *)decoder;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	*text = (struct machine_text){ 0 };
	if (!x86_64->decode_full || (!x86_64->formatter && !make_formatter(x86_64)) ||
		!ZYAN_SUCCESS(x86_64->decode_full(&x86_64->zydis, bytes, size, &in, operands)))
		return false;
	text->size = in.length;
	/* The longest text that there is, with prefixes and a mask, is half of the room. */
	if (!ZYAN_SUCCESS(x86_64->format(x86_64->formatter, &in, operands, in.operand_count_visible, text->text,
		    sizeof(text->text), address, NULL)))
		strcpy(text->text, "(an instruction without text)");
	if (in.raw.imm[0].is_relative) {
		text->has_target = true;
		text->target = address + in.length + (uint64_t)in.raw.imm[0].value.s;
	}
	return true;
}
