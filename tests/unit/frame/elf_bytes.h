/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/frame/frame.h"
#include "binary/machine/x86_64.h"

/*
 * A shared object in memory that is nothing but call frame information: its file offsets are its addresses. Its code,
 * of which no byte exists, lies from ELF_BYTES_CODE on; its FDE describes ELF_BYTES_CODE_SIZE bytes of it.
 */
enum { ELF_BYTES_EH_FRAME = 0x400, ELF_BYTES_CODE = 0x10000, ELF_BYTES_CODE_SIZE = 0x100 };

struct elf_bytes {
	const uint8_t *cie_instructions, *fde_instructions;
	size_t cie_size, fde_size;
	bool has_header; /* .eh_frame_hdr's search table */
	bool is_signal_frame;
	uint16_t machine; /* EM_*; 0: that of x86-64 */
	/* The whole of .eh_frame, which lies at ELF_BYTES_EH_FRAME, in place of a CIE and an FDE; NULL: these. */
	const uint8_t *eh_frame;
	size_t eh_frame_size;
};

/* Its table, to be destroyed. */
COMMON_MUST_CHECK
bool elf_bytes_table(const struct elf_bytes *wanted, struct frame_table **table, struct error *err);
