/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

/* Where functions begin and end that have no name: the search table of .eh_frame_hdr (LSB, "The .eh_frame_hdr section"). */
struct fde_table {
	struct elf_section header, frame; /* .eh_frame_hdr, .eh_frame */
	size_t count;
	uint64_t first; /* offset of the first entry in the header */
};

/* Borrows the image. Without a table, or with one in another encoding than linkers write, there are no entries. */
void fde_table_init(struct fde_table *table, struct elf_image *image);

/* The function [start, end) that holds the address; false when none does. */
COMMON_MUST_CHECK
bool fde_table_find(const struct fde_table *table, uint64_t address, uint64_t *start, uint64_t *end);
