/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/fuzz/mutation.h"

/*
 * Changes a section of a 64-bit ELF file, packed ones too, or a header (mutation_format). What is not loaded is laid
 * out anew, so that its size may change.
 */
void mutate_elf(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out);
