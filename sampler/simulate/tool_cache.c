/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulate/tool_cache.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>

struct tool_cache tool_cache_instructions, tool_cache_data;
static struct tool_cache last;

static void cache_init(struct tool_cache *cache, const struct simulate_cache *geometry)
{
	uint64_t sets = geometry->bytes / geometry->line_bytes / geometry->ways;

	cache->set_mask = sets - 1;
	cache->ways = geometry->ways;
	while (1u << cache->line_bits < geometry->line_bytes)
		cache->line_bits++;
	cache->lines = VG_(malloc)("kelvin.cache", sets * cache->ways * sizeof(*cache->lines));
}

/* No line has this number. */
static void cache_flush(struct tool_cache *cache)
{
	VG_(memset)(cache->lines, 0xff, (cache->set_mask + 1) * cache->ways * sizeof(*cache->lines));
}

void tool_cache_init(void)
{
	cache_init(&tool_cache_instructions, &tool_options.first_instructions);
	cache_init(&tool_cache_data, &tool_options.first_data);
	cache_init(&last, &tool_options.last);
	tool_cache_flush();
}

void tool_cache_flush(void)
{
	cache_flush(&tool_cache_instructions);
	cache_flush(&tool_cache_data);
	cache_flush(&last);
}

/* Uses a line: true where it was there. */
static bool cache_use(struct tool_cache *cache, uint64_t line)
{
	uint64_t *set = &cache->lines[(line & cache->set_mask) * cache->ways], before = line;

	for (unsigned i = 0; i < cache->ways; i++) {
		uint64_t here = set[i];

		set[i] = before;
		if (here == line)
			return true;
		before = here;
	}
	return false;
}

/* Uses the lines of an access: true where all of them were there. */
static bool cache_access(struct tool_cache *cache, uint64_t address, unsigned span)
{
	uint64_t first = address >> cache->line_bits, end = (address + span) >> cache->line_bits;
	bool is_hit = cache_use(cache, first);

	if (end != first && !cache_use(cache, end))
		is_hit = false;
	return is_hit;
}

/* Counts an access that missed the first level. */
static void miss(struct tool_record *record, unsigned instruction, uint64_t address, unsigned span)
{
	tool_add(record, SIMULATE_FIRST_MISSES, instruction, 1);
	if (!cache_access(&last, address, span))
		tool_add(record, SIMULATE_LAST_MISSES, instruction, 1);
}

void tool_cache_data_slow(struct tool_record *record, unsigned instruction, uint64_t address, unsigned span)
{
	/* The address of an access whose condition was false. */
	if (address == 0)
		return;
	if (cache_access(&tool_cache_data, address, span))
		return;
	miss(record, instruction, address, span);
}

void tool_cache_fetch_slow(struct tool_record *record, const struct tool_fetch *fetch)
{
	unsigned bits = tool_cache_instructions.line_bits, span = fetch->other != 0;
	uint64_t address = fetch->line << bits;

	/* An instruction on two lines is an access to the last byte of one and the first byte of the other. */
	if (fetch->other < 0)
		address--;
	else if (fetch->other > 0)
		address += (1u << bits) - 1;
	if (cache_access(&tool_cache_instructions, address, span))
		return;
	miss(record, fetch->instruction, address, span);
}
