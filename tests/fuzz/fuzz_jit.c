/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ADDRESSES = 64, STEP = 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* perf's map or a jitdump, with lines: what a profiled process wrote. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct file_opened file = { (char *)"fuzz", memfd_create("fuzz", MFD_CLOEXEC) };
	/* Some of what is read was written while events were recorded, at times that the file's size tells or its own.
	 */
	struct profile_growth_step steps[] = { { 0, 1, 64 }, { 1, 50, 128 }, { 60, 70, 256 } };
	const struct profile_growth growth = { steps, sizeof(steps) / sizeof(*steps) };
	const struct jit_clock clock = { 1, &growth };
	uint64_t addresses[ADDRESSES];
	struct symbol_map *map;
	struct error err;

	if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size)
		abort();
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = 0x1000 + i * STEP;
	if (!jit_read(&file, &clock, addresses, ADDRESSES, &map, &err)) {
		close(file.fd);
		return 0;
	}
	for (size_t i = 0; i < ADDRESSES; i++) {
		struct symbol_map_symbol hit;
		size_t count;
		const struct symbol_map_symbol *symbols = symbol_map_starting_at(map, addresses[i], &count);

		for (size_t k = 0; k < count; k++)
			if (!symbols[k].name || symbols[k].start != addresses[i])
				abort();
		if (symbol_map_find(map, addresses[i], &hit) && (!hit.name || !hit.file))
			abort();
	}
	symbol_map_destroy(map);
	close(file.fd);
	return 0;
}
