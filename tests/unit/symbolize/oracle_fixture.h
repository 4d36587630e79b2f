/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"

/* The oracle of the tests: the same question as symbolize/dwarf.h, answered by elfutils' libdw. */

/* A function at an address. Strings are in the caller's arena; "" where nothing is known. */
struct oracle_frame {
	const char *linkage_name;
	const char *name; /* without its scopes */
	const char *file; /* of the line that was executing, or of the call */
	const char *decl_file;
	uint32_t line, decl_line;
};

struct oracle_answer {
	struct oracle_frame *frames; /* in the arena; innermost first */
	size_t count;                /* 0: not covered */
};

/*
 * Answers for `count` image addresses in rising order without repetition. `debug` carries the debug information, `alt`
 * may be NULL.
 */
COMMON_MUST_CHECK
bool oracle_resolve(struct elf_image *debug, struct elf_image *alt, const uint64_t *addresses, size_t count,
	struct arena *arena, struct oracle_answer *answers, const char **directory, struct error *err);
