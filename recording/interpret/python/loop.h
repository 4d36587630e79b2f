/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/interpret/python/symbols.h"

/*
 * The code of the interpreter's loop. What compilers have moved away from a function (`.cold`) has symbols in .symtab
 * only, which most files lack. There it is found by what a jump means: one that leaves the frame as it is stays in its
 * function. So code that the loop jumps to is a part of it if call frame information begins with a frame there, and has
 * the same rules at both ends of the jump.
 *
 * `*loop` is sorted and owned by the caller; none: the symbol of the loop is missing. Fails for want of memory.
 */
COMMON_MUST_CHECK
bool python_loop_read(struct elf_image *elf, const struct python_symbols *symbols, struct python_range **loop,
	size_t *count, struct error *err);
