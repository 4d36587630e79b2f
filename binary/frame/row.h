/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/frame/entry.h"
#include "binary/frame/frame.h"

/*
 * Runs the instructions of an FDE and of its CIE up to an image address that the FDE covers (DWARF 5, 6.4.2). `section`
 * holds the FDE; the expressions of the rule are offsets into it. False where an instruction is damaged or not known,
 * and for an FDE of another machine.
 */
COMMON_MUST_CHECK
bool row_make(const struct entry_section *section, const struct machine *machine, const struct fde *fde,
	uint64_t address, struct frame_rule *rule);
