/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The model of the caches: a first-level cache of instructions, one of data, and a last-level cache that both share;
 * the least recently used line is replaced, a write allocates, and nothing is fetched ahead. An access that lies on two
 * lines is one access, and one miss where either line misses. It is the model of callgrind and cachegrind, so that
 * their figures can be compared with ours.
 *
 * Lines are known by their number, address / bytes of a line. A set's lines stand in the order of their use. Most
 * accesses find theirs first in its set, and this is all that is looked at here.
 */
#include "sampler/simulate/tool.h"

struct tool_cache {
	uint64_t *lines; /* ways of set 0, ways of set 1, ... */
	uint64_t set_mask;
	uint32_t ways, line_bits;
};

extern struct tool_cache tool_cache_instructions, tool_cache_data;

/* Counts an access to data that does not find its line first in its set. */
void tool_cache_data_slow(struct tool_record *record, unsigned instruction, uint64_t address, unsigned span);

/* Counts a fetch of the same kind. */
void tool_cache_fetch_slow(struct tool_record *record, const struct tool_fetch *fetch);

/* Returns the first line of a set. Where the usual geometry is simulated, its constants are. */
static inline uint64_t tool_cache_first(const struct tool_cache *cache, uint64_t line, bool is_usual)
{
	return is_usual ? cache->lines[(line & 63) * 8] : cache->lines[(line & cache->set_mask) * cache->ways];
}

/* Counts the accesses and the fetches of a block that was left at `exit`. */
static inline void tool_cache_run(
	struct tool_record *record, const struct tool_exit *exit, const struct tool_log *log, bool is_usual)
{
	const struct tool_fetch *fetches = record->block->fetches;
	const struct tool_access *accesses = record->block->accesses;
	unsigned bits = is_usual ? 6 : tool_cache_data.line_bits, count = exit->fetches;

	for (unsigned i = 0; i < count; i++) {
		if (tool_cache_first(&tool_cache_instructions, fetches[i].line, is_usual) != fetches[i].line)
			tool_cache_fetch_slow(record, &fetches[i]);
	}
	count = exit->accesses;
	for (unsigned i = 0; i < count; i++) {
		uint64_t address = log->address[i], end = (address + accesses[i].span) >> bits;

		/* The set is the one of the access's beginning: a line that does not lie in it is never found there. */
		if (tool_cache_first(&tool_cache_data, address >> bits, is_usual) != end)
			tool_cache_data_slow(record, accesses[i].instruction, address, accesses[i].span);
	}
}
