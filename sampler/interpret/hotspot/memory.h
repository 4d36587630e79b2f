/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/memory.h"
#include "sampler/interpret/names.h"

/* The costs that a process may still cause: its owner decides how much there is to read. */
struct hotspot_costs {
	uint32_t reads_left;
	uint32_t late; /* how many reads gave nothing, and may give something later */
	struct interpreter_giver giver;
	struct shares *debug_bytes;  /* of debug information that is kept of all processes; borrowed */
	uint64_t account;            /* that pays for it */
	struct process_table *table; /* borrowed: of the account that pays for reads; NULL: none does */
};

/* The memory of a process. */
struct hotspot_memory {
	const struct process_host *host; /* borrowed */
	int32_t pid;
	struct hotspot_costs *costs; /* borrowed; nothing is readable while there are no reads left */
};

/* Reads up to `size` bytes, at most READER_MOST_BYTES: the number of those before the first that is not readable. */
size_t hotspot_read_some(const struct hotspot_memory *memory, uint64_t address, void *into, size_t size);

/* False: not all of it is readable. */
bool hotspot_read(const struct hotspot_memory *memory, uint64_t address, void *into, size_t size);

/* Reads as interpreter_read() does, at most READER_MOST_PIECES of READER_MOST_BYTES in all. */
size_t hotspot_read_together(const struct hotspot_memory *memory, const struct iovec *pieces, size_t count, void *into);

/* Reads words of 8 bytes from several places together; those that are not readable are 0. */
void hotspot_read_words(const struct hotspot_memory *memory, const uint64_t *addresses, size_t count, uint64_t *words);

/*
 * Words that stay as they are as long as a thing is at its place: another one that takes its place has others. They are
 * looked at again in each round, which is about a second: those that were used lately together. Where none
 * can be read any more, as of a process that has ended, the thing is taken to be what it was.
 */
enum { HOTSPOT_WATCHED = 4 };
struct hotspot_watch {
	uint64_t addresses[HOTSPOT_WATCHED], words[HOTSPOT_WATCHED];
	uint32_t checked, used; /* the rounds in which it was looked at and used last */
	uint32_t version;       /* changes when the words have changed */
};

/* The word at an offset of what was read; 0 outside of it. */
static inline uint64_t hotspot_word(const void *bytes, size_t size, uint64_t offset)
{
	uint64_t word = 0;

	if (checked_range(offset, sizeof(word), size))
		memcpy(&word, (const uint8_t *)bytes + offset, sizeof(word));
	return word;
}

/* Looks at the words of several things, unless they were looked at in this round. */
void hotspot_watch_check(
	const struct hotspot_memory *memory, struct hotspot_watch *const *watches, size_t count, uint32_t round);
