/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/commits/lines.h"

/*
 * The macros of their file that functions use: the lines of a definition (C17, 6.10.3) are code of every function that
 * names the macro, and no debug information tells of them. Names in comments and texts are taken for uses as well, and
 * what a header defines is not known.
 */

struct macro {
	const char *name; /* borrowed from the text */
	size_t name_size;
	const char *begin, *end; /* of its definition, likewise; one that is defined twice is there twice */
	uint32_t first, last;    /* lines of it */
};

struct macros {
	struct macro *items; /* owned; by name */
	size_t count, capacity;
};

/* Finds the definitions of macros in a text, the first 65,536 at most. Fails if memory runs out. */
COMMON_MUST_CHECK
bool macros_find(const char *text, size_t size, struct macros *macros, struct error *err);
void macros_deinit(struct macros *macros);

/* Adds the definitions that the lines of the range name, also by way of each other, to its uses: 256 at most. */
COMMON_MUST_CHECK
bool macros_add_uses(
	const struct macros *macros, const char *text, size_t size, struct line_range *range, struct error *err);
