/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/queue.h"

#include <stdlib.h>

enum { MAX_QUEUED = 1 << 26 };

void record_queue_deinit(struct record_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		feed_release(queue->items[i].feed, queue->items[i].block);
	free(queue->items);
	*queue = (struct record_queue){ 0 };
}

static bool queue_is_before(const struct queued_record *a, const struct queued_record *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->sequence < b->sequence;
}

bool record_queue_add(struct record_queue *queue, const struct queued_record *record, struct error *err)
{
	struct queued_record added = *record;
	size_t at = queue->count;

	if (!ARRAY_RESERVE(&queue->items, &queue->capacity, queue->count + 1, MAX_QUEUED, err))
		return false;
	added.sequence = queue->next_sequence++;
	while (at > 0 && queue_is_before(&added, &queue->items[(at - 1) / 2])) {
		queue->items[at] = queue->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	queue->items[at] = added;
	queue->count++;
	return true;
}

bool record_queue_take(struct record_queue *queue, uint64_t limit_ns, struct queued_record *record)
{
	struct queued_record last;
	size_t at = 0, child;

	if (queue->count == 0 || queue->items[0].time_ns > limit_ns)
		return false;
	*record = queue->items[0];
	last = queue->items[--queue->count];
	while ((child = 2 * at + 1) < queue->count) {
		if (child + 1 < queue->count && queue_is_before(&queue->items[child + 1], &queue->items[child]))
			child++;
		if (!queue_is_before(&queue->items[child], &last))
			break;
		queue->items[at] = queue->items[child];
		at = child;
	}
	if (queue->count > 0)
		queue->items[at] = last;
	return true;
}
