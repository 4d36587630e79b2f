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
	uint64_t addresses[ADDRESSES];
	struct symbol_map *map;
	struct error err;

	if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size)
		abort();
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = 0x1000 + i * STEP;
	if (!jit_read(&file, addresses, ADDRESSES, &map, &err)) {
		close(file.fd);
		return 0;
	}
	for (size_t i = 0; i < ADDRESSES; i++) {
		struct symbol_map_symbol hit;

		if (symbol_map_find(map, addresses[i], &hit) && (!hit.name || !hit.file))
			abort();
	}
	symbol_map_destroy(map);
	close(file.fd);
	return 0;
}
