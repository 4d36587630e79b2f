/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/* The output of GNU binutils' `addr2line -a -f -i -C`, byte for byte. */
struct addr2line_style {
	bool pretty;      /* -p: a line for each frame */
	bool basenames;   /* -s */
	bool mangled;     /* names as the linker knows them: without -C */
	bool wide;        /* of a 64-bit file: addresses have 16 digits, else 8 */
	bool is_terminal; /* control characters in names are replaced */
};

/* `notes` (NULL: none): [frame] a text to put behind its line, "" for nothing. */
void addr2line_print(FILE *stream, const struct addr2line_style *style, uint64_t address,
	const struct symbolize_frames *frames, char *const *notes);
