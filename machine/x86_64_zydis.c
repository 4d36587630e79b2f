/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/x86_64_decoder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)MACHINE_MAX_INSTRUCTION_BYTES >= (int)ZYDIS_MAX_INSTRUCTION_LENGTH, "no instruction is longer");

static bool find_function(void *library, const char *name, void *into, size_t size)
{
	void *found = dlsym(library, name);

	if (found)
		memcpy(into, &found, size);
	return found;
}

static bool load_zydis(struct x86_64_decoder *decoder)
{
	ZyanStatus (*init)(ZydisDecoder * zydis, ZydisMachineMode mode, ZydisStackWidth width);
	char name[64];
	void *library;
	bool is_loaded;

	/* Versions that differ in the second number differ in their structures; once loaded it stays, for the next
	 * decoder. */
	snprintf(name, sizeof(name), "libZydis.so.%u.%u", (unsigned int)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
		(unsigned int)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return false;
	is_loaded =
		find_function(library, "ZydisDecoderInit", &init, sizeof(init)) &&
		find_function(library, "ZydisDecoderDecodeInstruction", &decoder->decode, sizeof(decoder->decode)) &&
		ZYAN_SUCCESS(init(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
	dlclose(library);
	return is_loaded;
}

struct machine_decoder *x86_64_create_decoder(void)
{
	struct x86_64_decoder *made = calloc(1, sizeof(*made));

	if (made && load_zydis(made)) {
		made->decoder.machine = &machine_x86_64;
		return &made->decoder;
	}
	free(made);
	return NULL;
}

void x86_64_destroy_decoder(struct machine_decoder *decoder)
{
	struct x86_64_decoder *destroyed = (struct x86_64_decoder *)decoder;

	free(destroyed->shapes);
	free(destroyed);
}

bool x86_64_decode(
	const struct machine_decoder *decoder, const uint8_t *bytes, size_t size, ZydisDecodedInstruction *instruction)
{
	const struct x86_64_decoder *x86_64 = (const struct x86_64_decoder *)decoder;

	return ZYAN_SUCCESS(x86_64->decode(&x86_64->zydis, NULL, bytes, size, instruction));
}
