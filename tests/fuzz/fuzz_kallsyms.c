/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy of /proc/kallsyms, which --kallsyms names. Input: eight addresses, then the text. */

enum { ADDRESSES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(const struct symbol_map *map, uint64_t address)
{
	struct symbol_map_symbol hit;

	if (symbol_map_find(map, address, &hit) && (!hit.name || !hit.module || hit.start > address))
		abort();
}

static bool read_text(
	const void *text, size_t size, const uint64_t *addresses, struct symbol_map **map, struct error *err)
{
	static char name[] = "kallsyms";
	const struct file_opened file = { name, memfd_create(name, MFD_CLOEXEC) };
	bool restricted, ok;

	if (file.fd < 0 || write(file.fd, text, size) != (ssize_t)size)
		abort();
	ok = kallsyms_read(&file, addresses, ADDRESSES, map, &restricted, err);
	close(file.fd);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	uint64_t addresses[ADDRESSES];
	struct symbol_map *map;
	struct error err;

	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || !read_text(r.pos, byte_reader_left(&r), addresses, &map, &err))
		return 0;
	for (size_t i = 0; i < ADDRESSES; i++)
		find(map, addresses[i]);
	symbol_map_destroy(map);
	return 0;
}
