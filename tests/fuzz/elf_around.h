/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Puts an x86-64 ELF file together around an input, so that what a fuzzer changes is always the bytes of sections. The
 * input begins with the sizes of the sections, 16 bits each, in the order of the list; then come their bytes. A section
 * of size 0 is left out. The file has code at ELF_AROUND_TEXT, and is loaded as a whole at ELF_AROUND_BASE.
 */
enum { ELF_AROUND_TEXT = 0x1000, ELF_AROUND_TEXT_BYTES = 0x1000, ELF_AROUND_BASE = 0x100000, ELF_AROUND_MOST = 16 };

/* The address of a section that lies where the file is loaded. */
static const uint64_t ELF_AROUND_IN_PLACE = UINT64_MAX;

struct elf_around_section {
	const char *name; /* .eh_frame_hdr gets its PT_GNU_EH_FRAME */
	uint64_t address; /* image address; 0: it is not loaded */
};

/* Appends the file to `out`, which fails if it has no room for it. `count` is at most ELF_AROUND_MOST. */
void elf_around(struct byte_reader input, const struct elf_around_section *sections, size_t count, struct buffer *out);
