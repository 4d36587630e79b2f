/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/memory.h"

#include "sampler/process/reader.h"

#include <errno.h>
#include <string.h>

static size_t memory_read_pieces(
	const struct hotspot_memory *memory, const struct iovec *pieces, size_t count, void *into)
{
	size_t got;

	errno = 0;
	got = interpreter_read(memory->host, memory->pid, pieces, count, into);
	memory->costs->late += got == 0 && errno == EAGAIN;
	return got;
}

static bool account_pays(const struct hotspot_memory *memory)
{
	return !memory->costs->table || process_table_pay_reads(memory->costs->table, memory->pid,
						(uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE), 1);
}

size_t hotspot_read_together(const struct hotspot_memory *memory, const struct iovec *pieces, size_t count, void *into)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += pieces[i].iov_len;
	if (count > READER_MOST_PIECES || size > READER_MOST_BYTES)
		return 0;
	if (memory->costs->reads_left == 0 || !account_pays(memory)) {
		memory->costs->late++;
		return 0;
	}
	memory->costs->reads_left--;
	return memory_read_pieces(memory, pieces, count, into);
}

size_t hotspot_read_some(const struct hotspot_memory *memory, uint64_t address, void *into, size_t size)
{
	const struct iovec piece = interpreter_piece(address, size);

	return size <= READER_MOST_BYTES ? memory_read_pieces(memory, &piece, 1, into) : 0;
}

bool hotspot_read(const struct hotspot_memory *memory, uint64_t address, void *into, size_t size)
{
	return hotspot_read_some(memory, address, into, size) == size;
}

void hotspot_read_words(const struct hotspot_memory *memory, const uint64_t *addresses, size_t count, uint64_t *words)
{
	size_t done = 0;

	while (done < count) {
		size_t most = count - done < READER_MOST_PIECES ? count - done : READER_MOST_PIECES, got;
		struct iovec pieces[READER_MOST_PIECES];

		for (size_t i = 0; i < most; i++)
			pieces[i] = interpreter_piece(addresses[done + i], sizeof(*words));
		got = hotspot_read_together(memory, pieces, most, words + done) / sizeof(*words);
		done += got;
		if (got < most)
			words[done++] = 0;
	}
}

static size_t collect_unchecked(
	struct hotspot_watch *const *watches, size_t *next, size_t count, uint32_t round, struct hotspot_watch **some)
{
	size_t found = 0;

	for (; *next < count && found < READER_MOST_PIECES / HOTSPOT_WATCHED; (*next)++)
		if (watches[*next]->checked != round)
			some[found++] = watches[*next];
	return found;
}

static bool memory_is_readable(const uint64_t *words)
{
	for (size_t i = 0; i < HOTSPOT_WATCHED; i++)
		if (words[i] != 0)
			return true;
	return false;
}

void hotspot_watch_check(
	const struct hotspot_memory *memory, struct hotspot_watch *const *watches, size_t count, uint32_t round)
{
	enum { TOGETHER = READER_MOST_PIECES / HOTSPOT_WATCHED };
	struct hotspot_watch *some[TOGETHER];
	uint64_t addresses[READER_MOST_PIECES], words[READER_MOST_PIECES];
	size_t next = 0, found;

	while ((found = collect_unchecked(watches, &next, count, round, some)) > 0) {
		for (size_t i = 0; i < found; i++)
			memcpy(addresses + i * HOTSPOT_WATCHED, some[i]->addresses, sizeof(some[i]->addresses));
		hotspot_read_words(memory, addresses, found * HOTSPOT_WATCHED, words);
		for (size_t i = 0; i < found; i++) {
			const uint64_t *now = words + i * HOTSPOT_WATCHED;

			some[i]->checked = round;
			if (memory_is_readable(now) && memcmp(now, some[i]->words, sizeof(some[i]->words)) != 0) {
				memcpy(some[i]->words, now, sizeof(some[i]->words));
				some[i]->version++;
			}
		}
	}
}
