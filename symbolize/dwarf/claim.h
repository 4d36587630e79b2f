/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/file.h"

#define DWARF_NO_UNIT UINT32_MAX
#define DWARF_NO_CODE (UINT32_MAX - 1) /* no unit may claim the address */

/*
 * Finds the unit of each address. `units[i]` is set for each of the rising addresses that still has DWARF_NO_UNIT; the
 * first unit that claims an address gets it.
 */

/*
 * The size of .debug_info up to the end of the units that .debug_aranges gives for the addresses, and of the header
 * after them; UINT64_MAX: all of it, or not known. `units` as below; its contents are undefined afterwards.
 */
uint64_t dwarf_claim_extent(struct elf_image *image, const uint64_t *addresses, size_t count, uint32_t *units);

/*
 * Claims by .debug_aranges (DWARF 5, 6.1.2), which is fast, but not written by all compilers. `listed[unit]` is set for
 * units with a set there.
 */
void dwarf_claim_by_aranges(
	const struct dwarf_file *file, const uint64_t *addresses, size_t count, bool *listed, uint32_t *units);

/*
 * Claims by the ranges of units' root entries, except for those `listed` (NULL: none). `asked` (NULL: none): [address]
 * a unit that has already been tried and must not claim again.
 */
COMMON_MUST_CHECK
bool dwarf_claim_by_roots(const struct dwarf_file *file, const uint64_t *addresses, size_t count, const bool *listed,
	const uint32_t *asked, uint32_t *units, struct error *err);
