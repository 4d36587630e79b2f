/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Creates the decoder of x86-64 instructions, and decodes one by Zydis. */
#include "binary/machine/x86_64_decoder.h"

#include <stdlib.h>

_Static_assert((int)MACHINE_MAX_INSTRUCTION_BYTES >= (int)ZYDIS_MAX_INSTRUCTION_LENGTH, "no instruction is longer");

struct machine_decoder *x86_64_create_decoder(void)
{
	struct x86_64_decoder *made = calloc(1, sizeof(*made));

	if (made && x86_64_load_zydis(made)) {
		made->decoder.machine = &machine_x86_64;
		return &made->decoder;
	}
	free(made);
	return NULL;
}

void x86_64_destroy_decoder(struct machine_decoder *decoder)
{
	struct x86_64_decoder *destroyed = (struct x86_64_decoder *)decoder;

	free(destroyed->formatter);
	free(destroyed->shapes);
	free(destroyed);
}

bool x86_64_decode(
	const struct machine_decoder *decoder, const uint8_t *bytes, size_t size, ZydisDecodedInstruction *instruction)
{
	const struct x86_64_decoder *x86_64 = (const struct x86_64_decoder *)decoder;

	return ZYAN_SUCCESS(x86_64->decode(&x86_64->zydis, NULL, bytes, size, instruction));
}
