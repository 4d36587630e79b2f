/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/name.h"

#include <stdio.h>
#include <string.h>

enum { MARK_BYTES = 64 }; /* at most */

const char *name_copy(struct arena *arena, const char *name, size_t size)
{
	char mark[MARK_BYTES];
	size_t kept = NAME_MAX_BYTES - MARK_BYTES;
	char *copy;
	int mark_size;

	if (size <= NAME_MAX_BYTES)
		return arena_copy_string(arena, name, size);
	/* A cut must not divide a character of several bytes. */
	while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80)
		kept--;
	mark_size =
		snprintf(mark, sizeof(mark), "... [cut: %zu bytes, %08x]", size, (unsigned int)hash_bytes(name, size));
	copy = ARENA_ARRAY(arena, char, kept + (size_t)mark_size + 1);
	if (!copy)
		return NULL;
	memcpy(copy, name, kept);
	memcpy(copy + kept, mark, (size_t)mark_size + 1);
	return copy;
}
