/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* An ELF file of one section, laid out by hand. */
struct made_section {
	const char *name;
	const void *bytes;
	size_t size;
	uint32_t type;
	uint64_t alignment;
	uint32_t copies; /* how many headers describe the same bytes; 0 means 1 */
	uint64_t flags;  /* SHF_* */
};

/* `file` is initialised here and owned by the caller. */
void made_elf(const struct made_section *section, struct buffer *file);
