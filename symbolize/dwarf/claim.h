/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/file.h"

#define DWARF_NO_UNIT UINT32_MAX

/*
 * Which unit holds which address. `units[i]` is set for each of the rising addresses that still has DWARF_NO_UNIT; the first unit
 * to claim an address gets it.
 */

/* By .debug_aranges (DWARF 5, 6.1.2): quick, where compilers write it. */
void dwarf_claim_by_aranges(const struct dwarf_file *file, const uint64_t *addresses, size_t count, uint32_t *units);

/*
 * By the ranges of all units' root entries. `not` (may be NULL): [address] a unit that was asked already and is not to claim again.
 */
COMMON_MUST_CHECK
bool dwarf_claim_by_roots(const struct dwarf_file *file, const uint64_t *addresses, size_t count, const uint32_t * not,
	uint32_t *units, struct error *err);
