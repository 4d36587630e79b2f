/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <string.h>

/* A text that is read in pieces of so many bytes at most, which must make no difference to what is read of it. */
struct pieces {
	const uint8_t *at, *end; /* what is left; borrowed */
	size_t most;             /* at least 1 */
};

/* As `read` of struct text_source; the context is a struct pieces. */
static inline bool next_piece(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	struct pieces *pieces = context;
	size_t size = (size_t)(pieces->end - pieces->at);

	(void)err;
	size = size < room ? size : room;
	size = size < pieces->most ? size : pieces->most;
	memcpy(into, pieces->at, size);
	pieces->at += size;
	*got = size;
	return true;
}
