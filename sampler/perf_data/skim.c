/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/skim.h"

#include "sampler/records/record.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_KEPT_BYTES = 1024, WORD_BYTES = 8, SIZE_OFFSET = 6 };

/* The kept size is decided after so many stacks, in steps of so many bytes; one in so many stacks may be read twice. */
enum { RATED_STACKS = 256, STEP_BYTES = 256, READ_TWICE = 16 };

/* Bytes read beyond a sample's need, since small records may precede it. */
enum { SPARE_BYTES = 64 };

/* Reading so many bytes takes as long as a new read after them. */
enum { MIN_LEFT_OUT_BYTES = 8192 };

void perf_data_skim_init(struct perf_data_skim *skim)
{
	*skim = (struct perf_data_skim){ .kept_bytes = FIRST_KEPT_BYTES };
}

void perf_data_skim_deinit(struct perf_data_skim *skim)
{
	free(skim->whole);
	*skim = (struct perf_data_skim){ 0 };
}

static uint64_t skim_word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* A partial record of the feed. */
struct partial {
	uint8_t *bytes;
	size_t available;
	uint16_t size;
	size_t stack_offset, stack_room;
};

/* Finds a partial record; false if it cannot be shortened. */
static bool find_partial(const struct perf_data_events *events, struct feed *feed, struct partial *partial)
{
	struct partial found = { .bytes = feed->block->bytes + feed->read, .available = feed_left(feed) };
	struct byte_reader r = byte_reader_over(found.bytes, found.available);
	uint32_t event;
	uint64_t room;

	byte_reader_skip(&r, SIZE_OFFSET);
	found.size = byte_reader_u16(&r);
	if (!byte_reader_ok(&r) || found.bytes[0] != PERF_RECORD_SAMPLE || found.size <= found.available)
		return false;
	event = perf_data_events_find(events, found.bytes, found.available);
	if (event >= events->count || !record_find_stack(&events->items[event].layout, found.bytes, found.available,
					      &found.stack_offset, &room))
		return false;
	/* The size of the copied stack follows the stack. */
	if (!checked_range(found.stack_offset + WORD_BYTES, room, found.size - WORD_BYTES))
		return false;
	found.stack_room = (size_t)room;
	*partial = found;
	return true;
}

/* Returns how many bytes of its stack to keep of the partial record; 0: it is not shortened. */
static size_t decide(struct perf_data_skim *skim, const struct partial *partial)
{
	size_t stack_at = partial->stack_offset + WORD_BYTES, kept = skim->kept_bytes, have;

	if (partial->stack_offset > skim->before_bytes)
		skim->before_bytes = partial->stack_offset;
	if (partial->available < stack_at || partial->available >= stack_at + partial->stack_room)
		return 0;
	have = (partial->available - stack_at) / WORD_BYTES * WORD_BYTES;
	/* Skipping few bytes gains nothing. */
	if (partial->stack_room < MIN_LEFT_OUT_BYTES || kept > partial->stack_room - MIN_LEFT_OUT_BYTES ||
		have + SPARE_BYTES < kept)
		return 0;
	return have < kept ? have : kept;
}

static void shorten(struct partial *partial, size_t kept)
{
	uint16_t size = (uint16_t)(partial->size - (partial->stack_room - kept));
	uint64_t room = kept;

	memcpy(partial->bytes + SIZE_OFFSET, &size, sizeof(size));
	memcpy(partial->bytes + partial->stack_offset, &room, sizeof(room));
}

void perf_data_skim_step(struct perf_data_skim *skim, struct perf_data_gap *gap, const struct perf_data_events *events,
	struct feed *feed, struct record_input *input, uint64_t *left)
{
	struct partial partial;
	size_t kept = 0, behind, moved;

	if (!feed->block || gap->bytes > 0)
		return;
	if (find_partial(events, feed, &partial))
		kept = decide(skim, &partial);
	behind = kept ? partial.stack_offset + WORD_BYTES + partial.stack_room : 0;
	moved = kept ? behind - partial.available : 0;
	if (moved == 0 || partial.size - partial.available > *left) {
		/* While other records follow, each read is larger. */
		gap->next_bytes = 2 * gap->next_bytes < FEED_BLOCK_BYTES ? 2 * gap->next_bytes : 0;
		return;
	}
	gap->bytes = partial.stack_room - kept;
	gap->record = input->offset - partial.available;
	gap->stack_offset = partial.stack_offset;
	gap->next_bytes = partial.size - behind + skim->before_bytes + WORD_BYTES + skim->kept_bytes + SPARE_BYTES;
	shorten(&partial, kept);
	feed->written = feed->read + partial.stack_offset + WORD_BYTES + kept;
	input->offset += moved;
	*left -= moved;
}

size_t perf_data_skim_close(struct perf_data_gap *gap, uint8_t *record, size_t size)
{
	size_t left_out = gap->bytes, at = gap->stack_offset;
	uint64_t kept, copied;

	if (left_out == 0 || !checked_range(at, 2 * (uint64_t)WORD_BYTES, size))
		return 0;
	gap->bytes = 0;
	kept = skim_word_at(record + at);
	if (!checked_range(at + WORD_BYTES, kept, size - WORD_BYTES))
		return 0;
	copied = skim_word_at(record + at + WORD_BYTES + kept);
	/* A record whose size exceeds its room stays malformed. */
	if (copied > kept && copied <= kept + left_out)
		memcpy(record + at + WORD_BYTES + kept, &kept, sizeof(kept));
	return left_out;
}

void perf_data_skim_describe(struct perf_data_skim *skim, uint64_t stack_bytes)
{
	uint64_t step = stack_bytes / STEP_BYTES;
	uint32_t above = 0;
	size_t at = PERF_DATA_SKIM_STEPS;

	skim->uses[step < PERF_DATA_SKIM_STEPS ? step : PERF_DATA_SKIM_STEPS]++;
	if (++skim->counted < RATED_STACKS)
		return;
	while (at > 0 && above + skim->uses[at] <= RATED_STACKS / READ_TWICE)
		above += skim->uses[at--];
	skim->kept_bytes = at < PERF_DATA_SKIM_STEPS ? (at + 1) * STEP_BYTES : SIZE_MAX;
	skim->counted = 0;
	memset(skim->uses, 0, sizeof(skim->uses));
}

bool perf_data_skim_read_whole(struct perf_data_skim *skim, const struct record_input *input, uint64_t offset,
	size_t size, const uint8_t **bytes, struct error *err)
{
	struct record_input at = *input;
	size_t done = 0, got;

	if (!skim->whole)
		skim->whole = malloc(RECORD_MAX_BYTES);
	if (!skim->whole)
		return error_set_memory(err);
	at.offset = offset;
	while (done < size) {
		if (!record_input_read(&at, skim->whole + done, size - done, &got, err))
			return false;
		if (got == 0)
			return error_set(err, ERROR_FORMAT,
				"it became shorter while it was read: it ends at offset %llu",
				(unsigned long long)at.offset);
		done += got;
	}
	*bytes = skim->whole;
	return true;
}
