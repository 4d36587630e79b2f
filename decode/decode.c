/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decode/decode.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find(struct decoder *decoder, const char *name, void *into, size_t size)
{
	void *found = dlsym(decoder->library, name);

	if (found)
		memcpy(into, &found, size);
	return found;
}

bool decoder_init(struct decoder *decoder)
{
	ZyanStatus (*init)(ZydisDecoder * zydis, ZydisMachineMode mode, ZydisStackWidth width);
	char name[64];

	/* Versions that differ in the second number differ in their structures; once loaded it stays, for the next image. */
	snprintf(name, sizeof(name), "libZydis.so.%u.%u", (unsigned int)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
		(unsigned int)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
	*decoder = (struct decoder){ .library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) };
	if (decoder->library && find(decoder, "ZydisDecoderInit", &init, sizeof(init)) &&
		find(decoder, "ZydisDecoderDecodeInstruction", &decoder->decode, sizeof(decoder->decode)) &&
		ZYAN_SUCCESS(init(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return true;
	decoder_deinit(decoder);
	return false;
}

void decoder_deinit(struct decoder *decoder)
{
	if (decoder->library)
		dlclose(decoder->library);
	*decoder = (struct decoder){ 0 };
}

bool decoder_decode(const struct decoder *decoder, const uint8_t *bytes, size_t size, ZydisDecodedInstruction *instruction)
{
	return ZYAN_SUCCESS(decoder->decode(&decoder->zydis, NULL, bytes, size, instruction));
}
