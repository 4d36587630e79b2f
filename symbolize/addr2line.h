/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct elf_image;
struct symbolize_frames;
struct symbolize_options;
struct symbolize_result;

/* Frames of addresses as GNU binutils' `addr2line -a -f -i -C` prints them, byte for byte. */
struct addr2line_style {
	bool pretty;      /* -p: one line for each frame */
	bool basenames;   /* -s */
	bool mangled;     /* without -C: names as the linker has them */
	bool wide;        /* the file is 64-bit: addresses have 16 digits, else 8 */
	bool is_terminal; /* control characters in names are replaced */
};

/* What origins of frames are decided by. All members are borrowed. */
struct addresses_asked {
	const struct elf_image *image;
	const struct symbolize_options *options;
};

/* `notes` (NULL: none): [frame] a text to append to its line, "" for none. */
void addr2line_append(struct buffer *out, const struct addr2line_style *style, uint64_t address,
	const struct symbolize_frames *frames, char *const *notes);

/* Does the same with the origin of each frame, and why: " (library: source of a standard library)". */
COMMON_MUST_CHECK
bool addr2line_append_explained(struct buffer *out, const struct addr2line_style *style,
	const struct addresses_asked *asked, const struct symbolize_result *result, uint64_t address,
	const struct symbolize_frames *frames, struct error *err);

/*
 * Frames in the schema kelvin.symbolize/1 (docs/json.md), without an end of the line; `with_origin`: also the origin of
 * each.
 */
COMMON_MUST_CHECK
bool address_json_append(struct buffer *out, bool with_origin, const struct addresses_asked *asked,
	const struct symbolize_result *result, uint64_t address, const struct symbolize_frames *frames,
	struct error *err);

/* Appends text of any bytes as a JSON string; U+FFFD replaces what is not UTF-8. */
COMMON_MUST_CHECK
bool address_json_append_text(struct buffer *out, const char *text, struct error *err);
