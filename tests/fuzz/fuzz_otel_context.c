/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/otel_context.h"

#include <stdlib.h>
#include <string.h>

/* The memory of a process from MEMORY_AT on, which begins with the header of a context. */

enum { MEMORY_AT = 0x1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzzed_memory {
	const uint8_t *bytes;
	size_t size;
};

static bool read_fuzzed(void *context, uint64_t address, void *into, size_t size)
{
	const struct fuzzed_memory *memory = context;

	if (address < MEMORY_AT || address - MEMORY_AT > memory->size ||
		size > memory->size - (size_t)(address - MEMORY_AT))
		return false;
	memcpy(into, memory->bytes + (address - MEMORY_AT), size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed_memory bytes = { data, size };
	const struct otel_context_memory memory = { read_fuzzed, &bytes };
	struct otel_context context;
	struct error err;

	if (!otel_context_at(&memory, MEMORY_AT, &context))
		return 0;
	/* What is handed on can be a label. */
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		if (context.values[i][0] && !profile_label_check(otel_context_labels[i], context.values[i], &err))
			abort();
	return 0;
}
