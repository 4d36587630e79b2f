/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads Zydis as a shared library when the first decoder is created. */
#include "binary/machine/x86_64_decoder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool x86_64_zydis_shared_find_function(void *library, const char *name, void *into, size_t size)
{
	void *found = dlsym(library, name);

	if (found)
		memcpy(into, &found, size);
	return found;
}

/* A library without these would still do for lengths. */
static void find_formatter(struct x86_64_decoder *decoder, void *library)
{
	if (!x86_64_zydis_shared_find_function(
		    library, "ZydisFormatterFormatInstruction", &decoder->format, sizeof(decoder->format)) ||
		!x86_64_zydis_shared_find_function(
			library, "ZydisFormatterInit", &decoder->init_formatter, sizeof(decoder->init_formatter)) ||
		!x86_64_zydis_shared_find_function(
			library, "ZydisFormatterSetProperty", &decoder->set_property, sizeof(decoder->set_property)) ||
		!x86_64_zydis_shared_find_function(
			library, "ZydisDecoderDecodeFull", &decoder->decode_full, sizeof(decoder->decode_full)))
		decoder->decode_full = NULL;
}

bool x86_64_load_zydis(struct x86_64_decoder *decoder)
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
	is_loaded = x86_64_zydis_shared_find_function(library, "ZydisDecoderInit", &init, sizeof(init)) &&
		    x86_64_zydis_shared_find_function(
			    library, "ZydisDecoderDecodeInstruction", &decoder->decode, sizeof(decoder->decode)) &&
		    ZYAN_SUCCESS(init(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
	if (is_loaded)
		find_formatter(decoder, library);
	dlclose(library);
	return is_loaded;
}
