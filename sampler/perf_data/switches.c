/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/switches.h"

#include <stdlib.h>
#include <string.h>

/* A wait has at most a record; with copies of stacks, a thousand threads have 64 MB. */
enum { MAX_KEPT_BYTES = 256 << 20, MAX_SWITCHED_THREADS = 1 << 22 };

void switches_init(struct switches *switches)
{
	*switches = (struct switches){ 0 };
	hash_map_init(&switches->by_tid, sizeof(int32_t));
}

void switches_deinit(struct switches *switches)
{
	for (size_t i = 0; i < switches->count; i++)
		free((void *)switches->items[i].record.bytes);
	free(switches->items);
	hash_map_deinit(&switches->by_tid);
	*switches = (struct switches){ 0 };
}

static bool find_or_add(struct switches *switches, int32_t tid, struct switch_wait **wait, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!hash_map_add(&switches->by_tid, &tid, (uint32_t)switches->count, &value, &added, err))
		return false;
	if (added) {
		if (!ARRAY_RESERVE(
			    &switches->items, &switches->capacity, switches->count + 1, MAX_SWITCHED_THREADS, err))
			return false;
		switches->items[switches->count++] = (struct switch_wait){ 0 };
	}
	*wait = &switches->items[*value];
	return true;
}

bool switches_begin(struct switches *switches, int32_t tid, uint64_t begin_ns, uint32_t state,
	const struct queued_record *record, struct error *err)
{
	struct switch_wait *wait;
	uint8_t *bytes;

	if (!find_or_add(switches, tid, &wait, err))
		return false;
	if (wait->record.bytes) {
		free((void *)wait->record.bytes);
		switches->bytes -= wait->record.size;
		switches->unended++;
		*wait = (struct switch_wait){ 0 };
	}
	if (switches->bytes + record->size > MAX_KEPT_BYTES) {
		switches->dropped++;
		return true;
	}
	bytes = malloc(record->size);
	if (!bytes)
		return error_set_memory(err);
	memcpy(bytes, record->bytes, record->size);
	*wait = (struct switch_wait){ *record, begin_ns, tid, state };
	wait->record.bytes = bytes;
	wait->record.feed = NULL;
	wait->record.block = NULL;
	switches->bytes += record->size;
	return true;
}

struct switch_wait *switches_find(struct switches *switches, int32_t tid)
{
	uint32_t at = hash_map_get(&switches->by_tid, &tid);

	return at != HASH_MAP_NONE && switches->items[at].record.bytes ? &switches->items[at] : NULL;
}

struct switch_wait switches_take(struct switches *switches, struct switch_wait *wait)
{
	struct switch_wait taken = *wait;

	switches->bytes -= taken.record.size;
	switches->ended++;
	*wait = (struct switch_wait){ 0 };
	return taken;
}
