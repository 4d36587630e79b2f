/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf.h"

/*
 * A hash over a function's code that is blind to where things lie: equal for the same function in another build or at
 * another address, different when an instruction changes. For the processors that binary/machine/ knows.
 *
 * Left out are: padding and no-operations; displacements of calls, of jumps out of the function
 * and relative to the instruction pointer; and, in images with fixed addresses, numbers that are addresses of the
 * image. A jump within the function counts by the instruction that it leads to.
 */
struct fingerprinter;

/* NULL if the image's architecture is not supported or memory runs out: there are no fingerprints then. */
struct fingerprinter *fingerprinter_create(const struct elf_image *image);
void fingerprinter_destroy(struct fingerprinter *fingerprinter);

/*
 * The fingerprint of the code in `extents`; 0 if it is not in the file, cannot be decoded, or if functions
 * overlap so much that more was read than some times all code. Results are cached by the first address.
 */
uint64_t fingerprint_code(struct fingerprinter *fingerprinter, const struct dwarf_extent *extents, size_t count);
