/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/maps.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ADDRESSES = 64, STEP = 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* perf's map or a jitdump, with lines: what a profiled process wrote. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(cleanup_close) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct symbol_map *map;
	struct error err;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!symbol_map_read_jit(path, &map, &err))
		return 0;
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		struct symbol_map_hit hit;

		if (symbol_map_find(map, 0x1000 + i * STEP, &hit) && (!hit.name || !hit.file))
			abort();
	}
	symbol_map_destroy(map);
	return 0;
}
