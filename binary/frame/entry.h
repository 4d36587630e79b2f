/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"

/*
 * The entries of .eh_frame and the pointers in them and in .eh_frame_hdr (LSB, "Exception Frames" and "DWARF Exception
 * Header Encoding"), and the entries of .debug_frame (DWARF 5, 6.4.1; its 32-bit form).
 */
enum entry_format { ENTRY_EH_FRAME, ENTRY_EH_FRAME_HDR, ENTRY_DEBUG_FRAME };

/* A section's bytes, and what its pointers count from. */
struct entry_section {
	struct elf_section elf;
	enum entry_format format;
	uint8_t address_bytes; /* of a pointer that is written as it is (DW_EH_PE_absptr): 4 or 8 */
};

/* Common information entry. */
struct cie {
	uint64_t offset; /* in its section */
	bool is_known;   /* whether the entry at `offset` could be read */
	uint8_t return_register;
	uint8_t pointer_encoding; /* DW_EH_PE_* of addresses in its FDEs */
	bool is_signal_frame;
	bool has_augmentation_data;
	uint64_t code_alignment;
	int64_t data_alignment;
	struct byte_reader instructions;
};

/* Frame description entry. */
struct fde {
	struct cie cie;
	uint64_t start, size; /* of the code, from this image address on */
	struct byte_reader instructions;
};

/* A reader over the whole section, which stands at `offset`; a failed one behind the section's end. */
struct byte_reader entry_reader(const struct entry_section *section, uint64_t offset);

/*
 * A pointer in one of the DW_EH_PE_* encodings, as an image address; `r` is a reader over the whole section. An omitted
 * pointer is 0. Fails the reader on encodings that need a process.
 */
uint64_t entry_read_pointer(const struct entry_section *section, struct byte_reader *r, uint8_t encoding);

/*
 * Reads the FDE at `offset`. False for a CIE, and for what is damaged; `next` is the offset of the next entry, 0 when
 * there is none or the entry's length is not believable.
 *
 * `fde` is zeroed before its first use. Given back as it is, it spares reading the CIE again where the FDE has the same
 * one: entries that follow each other mostly do.
 */
COMMON_MUST_CHECK
bool entry_read_fde(const struct entry_section *section, uint64_t offset, struct fde *fde, uint64_t *next);
