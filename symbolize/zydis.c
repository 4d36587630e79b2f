/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/zydis.h"

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
	char name[64];

	/* Versions that differ in the second number differ in their structures. */
	snprintf(name, sizeof(name), "libZydis.so.%u.%u", (unsigned int)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
		(unsigned int)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
	*zydis = (struct zydis){ .library = dlopen(name, RTLD_LAZY | RTLD_LOCAL) };
	if (zydis->library && find(zydis, "ZydisDecoderInit", &zydis->init, sizeof(zydis->init)) &&
		find(zydis, "ZydisDecoderDecodeInstruction", &zydis->decode, sizeof(zydis->decode)))
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
