/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/perf_data.h"

#include <stdlib.h>
#include <string.h>

/* A sample waits while its thread is in the kernel, so there are few; with 64 MB, some 150,000. */
enum { MAX_DEFERRED_BYTES = 64 << 20, MAX_DEFERRED_THREADS = 1 << 22 };

struct deferred_sample {
	struct deferred_sample *next;
	size_t bytes; /* of all of it */
	uint64_t cookie;
	struct record record;
	uint8_t borrowed[]; /* what the record borrows: the call chain first */
};

void deferred_init(struct deferred *deferred)
{
	*deferred = (struct deferred){ 0 };
	hash_map_init(&deferred->by_tid, sizeof(int32_t));
	buffer_init(&deferred->joined, 2 * (size_t)RECORD_MAX_BYTES);
}

void deferred_deinit(struct deferred *deferred)
{
	for (size_t i = 0; i < deferred->count; i++) {
		struct deferred_sample *sample = deferred->items[i].first;

		while (sample) {
			struct deferred_sample *next = sample->next;

			free(sample);
			sample = next;
		}
		free(deferred->items[i].chain);
	}
	free(deferred->items);
	hash_map_deinit(&deferred->by_tid);
	buffer_deinit(&deferred->joined);
	*deferred = (struct deferred){ 0 };
}

static bool deferred_find_thread(
	struct deferred *deferred, int32_t tid, struct deferred_thread **thread, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!hash_map_add(&deferred->by_tid, &tid, (uint32_t)deferred->count, &value, &added, err))
		return false;
	if (added) {
		if (!ARRAY_RESERVE(
			    &deferred->items, &deferred->capacity, deferred->count + 1, MAX_DEFERRED_THREADS, err))
			return false;
		deferred->items[deferred->count++] = (struct deferred_thread){ .tid = tid };
	}
	*thread = &deferred->items[*value];
	return true;
}

static void deferred_append_word(struct buffer *out, uint64_t word)
{
	buffer_append(out, &word, sizeof(word));
}

static bool give_joined(struct perf_data *data, struct record *record, struct error *err)
{
	const struct buffer *joined = &data->deferred.joined;

	record->sample.callchain =
		(struct record_words){ (const uint8_t *)joined->data, joined->size / sizeof(uint64_t) };
	return buffer_ok(joined, err) && collector_take(data->collector, record, false, err) &&
	       collector_flush(data->collector, err);
}

/* Appends the kernel's part, without the mark and the cookie behind it. */
static void join_kernel(struct buffer *joined, const struct record_words *chain)
{
	joined->size = 0;
	buffer_append(joined, chain->bytes, (chain->count - 2) * sizeof(uint64_t));
}

static bool give_with_chain(
	struct perf_data *data, const struct deferred_thread *thread, struct record *record, struct error *err)
{
	struct buffer *joined = &data->deferred.joined;

	join_kernel(joined, &record->sample.callchain);
	if (thread->chain_count == 0 || thread->chain[0] < (uint64_t)PERF_CONTEXT_MAX)
		deferred_append_word(joined, PERF_CONTEXT_USER);
	buffer_append(joined, thread->chain, thread->chain_count * sizeof(uint64_t));
	return give_joined(data, record, err);
}

/*
 * Gives a sample without its deferred call chain: of one that was taken in user space its own address is known all the
 * same.
 */
static bool give_without_chain(struct perf_data *data, struct record *record, struct error *err)
{
	struct buffer *joined = &data->deferred.joined;

	data->deferred.lost++;
	if (record->sample.is_kernel)
		return collector_take(data->collector, record, false, err) && collector_flush(data->collector, err);
	join_kernel(joined, &record->sample.callchain);
	deferred_append_word(joined, PERF_CONTEXT_USER);
	deferred_append_word(joined, record->sample.ip);
	return give_joined(data, record, err);
}

/* Copies bytes behind those that are there already. */
static const uint8_t *append_copy(struct deferred_sample *kept, size_t *used, const uint8_t *from, size_t bytes)
{
	uint8_t *into = kept->borrowed + *used;

	if (bytes > 0)
		memcpy(into, from, bytes);
	*used += bytes;
	return into;
}

static bool deferred_keep(struct perf_data *data, struct deferred_thread *thread, struct record *record,
	uint64_t cookie, struct error *err)
{
	const struct record_sample *from = &record->sample;
	size_t chain_bytes = from->callchain.count * sizeof(uint64_t), used = 0;
	size_t values_bytes = sizeof(uint64_t) * from->values.count * from->values.words_each;
	size_t bytes = sizeof(struct deferred_sample) + chain_bytes + values_bytes + from->raw_bytes;
	struct deferred_sample *kept;

	if (data->deferred.bytes + bytes > MAX_DEFERRED_BYTES)
		return give_without_chain(data, record, err);
	kept = malloc(bytes);
	if (!kept)
		return error_set_memory(err);
	*kept = (struct deferred_sample){ .bytes = bytes, .cookie = cookie, .record = *record };
	kept->record.sample.callchain.bytes = append_copy(kept, &used, from->callchain.bytes, chain_bytes);
	kept->record.sample.values.bytes = append_copy(kept, &used, from->values.bytes, values_bytes);
	kept->record.sample.raw = append_copy(kept, &used, from->raw, from->raw_bytes);
	if (!thread->first)
		thread->last = &thread->first;
	*thread->last = kept;
	thread->last = &kept->next;
	data->deferred.bytes += bytes;
	return true;
}

bool perf_data_deferred_take_sample(struct perf_data *data, struct record *record, uint64_t cookie, struct error *err)
{
	struct deferred_thread *thread;

	if (!deferred_find_thread(&data->deferred, record->tid, &thread, err))
		return false;
	if (thread->chain && thread->cookie == cookie)
		return give_with_chain(data, thread, record, err);
	return deferred_keep(data, thread, record, cookie, err);
}

/* Hands on what waits for the thread's chain; of a return to user space before that one, the chain was lost. */
static bool give_waiting(struct perf_data *data, struct deferred_thread *thread, struct error *err)
{
	bool ok = true;

	while (ok && thread->first) {
		struct deferred_sample *sample = thread->first;

		thread->first = sample->next;
		data->deferred.bytes -= sample->bytes;
		ok = thread->chain && thread->cookie == sample->cookie
			     ? give_with_chain(data, thread, &sample->record, err)
			     : give_without_chain(data, &sample->record, err);
		free(sample);
	}
	return ok;
}

/* The chain takes the place of the one before. */
static bool set_chain(struct deferred *deferred, struct deferred_thread *thread, const struct record_callchain *from,
	struct error *err)
{
	size_t bytes = from->words.count * sizeof(uint64_t);
	uint64_t *chain = malloc(bytes + 1);

	if (!chain)
		return error_set_memory(err);
	if (bytes)
		memcpy(chain, from->words.bytes, bytes);
	deferred->bytes += bytes - thread->chain_count * sizeof(uint64_t);
	free(thread->chain);
	thread->chain = chain;
	thread->chain_count = from->words.count;
	thread->cookie = from->cookie;
	return true;
}

static void drop_chain(struct deferred *deferred, struct deferred_thread *thread)
{
	deferred->bytes -= thread->chain_count * sizeof(uint64_t);
	free(thread->chain);
	thread->chain = NULL;
	thread->chain_count = 0;
}

bool perf_data_deferred_take_chain(struct perf_data *data, const struct record *record, struct error *err)
{
	struct deferred *deferred = &data->deferred;
	struct deferred_thread *thread;

	if (!deferred_find_thread(deferred, record->tid, &thread, err) ||
		!set_chain(deferred, thread, &record->callchain, err) || !give_waiting(data, thread, err))
		return false;
	if (deferred->bytes > MAX_DEFERRED_BYTES)
		drop_chain(deferred, thread);
	return true;
}

bool perf_data_deferred_finish(struct perf_data *data, struct error *err)
{
	struct deferred *deferred = &data->deferred;

	for (size_t i = 0; i < deferred->count; i++) {
		drop_chain(deferred, &deferred->items[i]);
		if (!give_waiting(data, &deferred->items[i], err))
			return false;
	}
	if (deferred->lost > 0 && data->notices)
		buffer_printf(data->notices,
			"%llu %s no callers in user space: the kernel tells them later, and what it told is not in the file\n",
			(unsigned long long)deferred->lost, deferred->lost == 1 ? "sample has" : "samples have");
	return true;
}
