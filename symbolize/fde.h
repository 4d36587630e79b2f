/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

/* The code [start, end) that an entry of .eh_frame is of. */
struct fde_extent {
	uint64_t start, end;
};

/*
 * Where functions begin and end that have no name: the search table of .eh_frame_hdr (LSB, "The .eh_frame_hdr
 * section"); where there is none, as in programs that are linked statically by GCC, the entries of .eh_frame (LSB,
 * "Exception Frames") in order.
 */
struct fde_table {
	struct elf_section header, frame; /* .eh_frame_hdr, .eh_frame */
	size_t count;                     /* of entries, in either */
	uint64_t first;                   /* offset of the first entry in the header */
	struct fde_extent *extents;       /* owned, rising; NULL: there is a search table */
};

/* Borrows the image. Entries in encodings that linkers do not write are left out. Fails for want of memory. */
COMMON_MUST_CHECK
bool fde_table_init(struct fde_table *table, struct elf_image *image, struct error *err);
void fde_table_deinit(struct fde_table *table);

/* The function [start, end) that holds the address; false when none does. */
COMMON_MUST_CHECK
bool fde_table_find(const struct fde_table *table, uint64_t address, uint64_t *start, uint64_t *end);
