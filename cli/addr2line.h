/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/* Prints frames as GNU binutils' `addr2line -a -f -i -C` does, byte for byte. */
struct addr2line_style {
	bool pretty;      /* -p: one line for each frame */
	bool basenames;   /* -s */
	bool mangled;     /* without -C: names as the linker has them */
	bool wide;        /* the file is 64-bit: addresses have 16 digits, else 8 */
	bool is_terminal; /* control characters in names are replaced */
};

/* Prints as addr2line does; `notes` (NULL: none): [frame] a text to append to its line, "" for none. */
void addr2line_print(FILE *stream, const struct addr2line_style *style, uint64_t address,
	const struct symbolize_frames *frames, char *const *notes);
