/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/file.h"

#define DWARF_NO_UNIT UINT32_MAX
#define DWARF_NO_CODE (UINT32_MAX - 1) /* not to be claimed by anybody */

/*
 * Which unit holds which address. `units[i]` is set for each of the rising addresses that still has DWARF_NO_UNIT; the
 * first unit to claim an address gets it.
 */

/*
 * How many bytes of .debug_info the units take that .debug_aranges names for the addresses, with the header of the unit
 * behind them; UINT64_MAX: all of it, or not to be told from there. `units` as below; it is left with what means
 * nothing.
 */
uint64_t dwarf_claim_extent(struct elf_image *image, const uint64_t *addresses, size_t count, uint32_t *units);

/* By .debug_aranges (DWARF 5, 6.1.2): quick, where compilers write it. `listed[unit]` is set for units that have a set
 * there. */
void dwarf_claim_by_aranges(
	const struct dwarf_file *file, const uint64_t *addresses, size_t count, bool *listed, uint32_t *units);

/*
 * By the ranges of units' root entries, save those `listed` (NULL: none). `asked` (NULL: none): [address] a unit that
 * was asked already and is not to claim again.
 */
COMMON_MUST_CHECK
bool dwarf_claim_by_roots(const struct dwarf_file *file, const uint64_t *addresses, size_t count, const bool *listed,
	const uint32_t *asked, uint32_t *units, struct error *err);
