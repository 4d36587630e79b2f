/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * The names that libdw (libdwfl) gives to an address of an image. Use it in a child process (common/child/isolated.h):
 * the library reads the file itself, which may be damaged, hostile, or change meanwhile.
 */
struct libdw;

enum { LIBDW_MAX_FRAMES = 64 };

struct libdw_frame {
	const char *name, *linkage_name; /* borrowed from the library; NULL: none */
	uint32_t line;                   /* 0: not known */
};

/* Innermost first. */
struct libdw_frames {
	struct libdw_frame frames[LIBDW_MAX_FRAMES];
	size_t count;            /* 0: libdw does not know the address */
	bool is_symbol;          /* without debug information: the only frame is that of the symbol table */
	uint64_t symbol_address; /* start of the symbol around the address; 0: none */
};

/* NULL if libdw rejects the image, and for images that are in memory. */
struct libdw *libdw_open(struct elf_image *image, const struct elf_debug_options *options);
void libdw_close(struct libdw *libdw);

void libdw_frames(struct libdw *libdw, uint64_t address, struct libdw_frames *out);

/* Returns whether the symbol table has this name too at the start of the symbol around the address. */
bool libdw_has_alias(struct libdw *libdw, const struct libdw_frames *frames, const char *name);
