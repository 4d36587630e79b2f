/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

#include <jansson.h>

/* An address and its frames in the schema kelvin.symbolize/1 (docs/json.md). */
struct address_json {
	const struct elf_image *image;
	const struct symbolize_options *options;
	bool with_origin; /* --explain-origin */
};

/* Text of any bytes as a JSON string; U+FFFD replaces what is not UTF-8. A new reference; NULL if memory runs out. */
json_t *address_json_text(const char *text);

/* Returns a new reference; NULL if memory runs out. */
json_t *address_json_create(const struct address_json *json, const struct symbolize_result *result, uint64_t address,
	const struct symbolize_frames *frames);
