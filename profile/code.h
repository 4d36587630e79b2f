/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * The code of sampled functions, as it was when the program was recorded: from it come the instructions below a line of
 * source. It is kept since the next deploy replaces the binary. Bytes are foreign: whoever decodes them checks them.
 */

/* Code of one function, or as much of it as is kept. */
struct profile_code {
	uint32_t mapping;
	uint16_t machine; /* e_machine of the binary: what the bytes are instructions of */
	uint32_t size;    /* in bytes, of at least 1 */
	uint64_t address; /* of the first byte, where an instruction begins, as locations of the mapping have it */
	/* Owned; NULL: the profile is of two binaries that differ here, which nothing else tells apart. */
	uint8_t *bytes;
};

enum {
	PROFILE_MAX_CODES = 1 << 12,
	PROFILE_MAX_FUNCTION_CODE_BYTES = 16 << 10,
	PROFILE_MAX_CODE_BYTES = 512 << 10,      /* of all code of one recording */
	PROFILE_MAX_MERGED_CODE_BYTES = 4 << 20, /* of all code of a profile */
};

/*
 * Adds a copy of some code. Code of which a part is there already is left out, and what is there counts as that of two
 * binaries if that part differs. Nothing is added beyond the limits above. ERROR_FORMAT if there is no such mapping, or
 * address.
 */
COMMON_MUST_CHECK
bool profile_add_code(struct profile *profile, const struct profile_code *code, struct error *err);

/* Returns the code that holds an address, borrowed; NULL: it is not kept, or not known which it is. */
const struct profile_code *profile_find_code(const struct profile *profile, uint32_t mapping, uint64_t address);
