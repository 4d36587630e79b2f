/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/zydis.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find(struct zydis *zydis, const char *name, void *into, size_t size)
{
	void *found = dlsym(zydis->library, name);

	if (found)
		memcpy(into, &found, size);
	return found;
}

bool zydis_init(struct zydis *zydis)
{
	ZyanStatus (*init)(ZydisDecoder * decoder, ZydisMachineMode mode, ZydisStackWidth width);
	char name[64];

	/* Versions that differ in the second number differ in their structures; once loaded it stays, for the next image. */
	snprintf(name, sizeof(name), "libZydis.so.%u.%u", (unsigned int)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
		(unsigned int)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
	*zydis = (struct zydis){ .library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) };
	if (zydis->library && find(zydis, "ZydisDecoderInit", &init, sizeof(init)) &&
		find(zydis, "ZydisDecoderDecodeInstruction", &zydis->decode, sizeof(zydis->decode)) &&
		ZYAN_SUCCESS(init(&zydis->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return true;
	zydis_deinit(zydis);
	return false;
}

void zydis_deinit(struct zydis *zydis)
{
	if (zydis->library)
		dlclose(zydis->library);
	*zydis = (struct zydis){ 0 };
}

bool zydis_decode(const struct zydis *zydis, const uint8_t *bytes, size_t size, ZydisDecodedInstruction *instruction)
{
	return ZYAN_SUCCESS(zydis->decode(&zydis->decoder, NULL, bytes, size, instruction));
}
