/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/maps.h"

/*
 * Finds the kernel's functions at `addresses` from a text of lines `address type name [module]` (/proc/kallsyms, or a
 * copy of it). Of 200,000 lines only those are kept that name one of the addresses; for other addresses the map gives
 * no answer, or a wrong one. The file is borrowed and read from its start. `restricted` is set when all addresses in it
 * are 0. Of several names of one place the first counts, as in the kernel's own messages. Free the map with
 * symbol_map_destroy().
 */
COMMON_MUST_CHECK
bool kallsyms_read(const struct file_opened *file, const uint64_t *addresses, size_t count, struct symbol_map **map,
	bool *restricted, struct error *err);
