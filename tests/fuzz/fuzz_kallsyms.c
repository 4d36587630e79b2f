/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"

#include "tests/fuzz/scratch.h"

#include <stdlib.h>

/* A copy of /proc/kallsyms, which --kallsyms names. Input: eight addresses, then the text. */

enum { ADDRESSES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(const struct symbol_map *map, uint64_t address)
{
	struct symbol_map_symbol hit;

	if (symbol_map_find(map, address, &hit) && (!hit.name || !hit.module || hit.start > address))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	uint64_t addresses[ADDRESSES];
	struct symbol_map *map;
	char path[PATH_MAX];
	struct error err;
	bool restricted;

	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = byte_reader_u64(&r);
	if (!byte_reader_ok(&r))
		return 0;
	scratch_write("kallsyms", r.pos, byte_reader_left(&r));
	scratch_path("kallsyms", path);
	if (!kallsyms_read(path, addresses, ADDRESSES, &map, &restricted, &err))
		return 0;
	for (size_t i = 0; i < ADDRESSES; i++)
		find(map, addresses[i]);
	symbol_map_destroy(map);
	return 0;
}
