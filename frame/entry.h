/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

/*
 * The entries of .eh_frame and the pointers in them (LSB, "Exception Frames" and "DWARF Exception Header Encoding"),
 * and those of .debug_frame (DWARF 5, 6.4.1; its 32-bit form).
 */
enum entry_format { ENTRY_EH_FRAME, ENTRY_DEBUG_FRAME };

/* Common information entry. */
struct cie {
	uint64_t code_alignment;
	int64_t data_alignment;
	uint8_t return_register;
	uint8_t pointer_encoding; /* DW_EH_PE_* of addresses in its FDEs */
	bool is_signal_frame;
	bool has_augmentation_data;
	struct byte_reader instructions;
};

struct fde {
	struct cie cie;
	uint64_t start, size;
	struct byte_reader instructions;
};

/* Image address of what the reader, which started at the section's start, reads next. */
uint64_t entry_address(const struct elf_section *section, const struct byte_reader *r);

/*
 * A pointer in one of the DW_EH_PE_* encodings; `here` is its own image address, `data_base` what DW_EH_PE_datarel
 * counts from. Fails the reader on encodings that need a process.
 */
uint64_t entry_read_pointer(struct byte_reader *r, uint8_t encoding, uint64_t here, uint64_t data_base);

/* False for a CIE, and for what is damaged; `next` is the offset of the next entry, 0 when the entry's length is not
 * believable. */
COMMON_MUST_CHECK
bool entry_read_fde(
	const struct elf_section *section, enum entry_format format, uint64_t offset, struct fde *fde, uint64_t *next);
