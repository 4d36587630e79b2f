/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/order.h"

#include <limits.h>

enum { MAX_SOURCES = 1 << 16 };

void order_deinit(struct order *order)
{
	free(order->sources);
	*order = (struct order){ 0 };
}

bool order_add(struct order *order, struct ring *ring, const struct record_layout *layout, enum order_content content,
	struct error *err)
{
	if (!ARRAY_RESERVE(&order->sources, &order->capacity, order->count + 1, MAX_SOURCES, err))
		return false;
	order->sources[order->count++] = (struct order_source){ .ring = ring, .content = content, .layout = layout };
	return true;
}

/* Peeks at the next record of a ring once, however often rings are compared. */
static void peek(struct order *order, struct order_source *source)
{
	bool broken = false;

	if (ring_peek(source->ring, &source->bytes, &source->size, &broken))
		source->time_ns = record_time(source->layout, source->bytes, source->size);
	else
		source->bytes = NULL;
	order->broken += broken;
}

void order_refresh(struct order *order)
{
	for (size_t i = 0; i < order->count; i++) {
		ring_refresh(order->sources[i].ring);
		if (!order->sources[i].bytes)
			peek(order, &order->sources[i]);
	}
}

bool order_is_crowded(const struct order *order)
{
	for (size_t i = 0; i < order->count; i++) {
		const struct ring *ring = order->sources[i].ring;

		if (ring->head - ring->position > ring->data_bytes / 4)
			return true;
	}
	return false;
}

bool order_is_full(const struct order *order, enum order_content content)
{
	enum { LONGEST_BYTES = PATH_MAX + 256 };

	for (size_t i = 0; i < order->count; i++) {
		const struct ring *ring = order->sources[i].ring;

		if (order->sources[i].content == content &&
			ring->head - ring->position + LONGEST_BYTES > ring->data_bytes)
			return true;
	}
	return false;
}

bool order_next(const struct order *order, uint64_t limit_ns, struct order_source **source)
{
	struct order_source *oldest = NULL;

	for (size_t i = 0; i < order->count; i++) {
		struct order_source *candidate = &order->sources[i];

		if (candidate->bytes && candidate->time_ns <= limit_ns &&
			(!oldest || candidate->time_ns < oldest->time_ns))
			oldest = candidate;
	}
	if (!oldest)
		return false;
	*source = oldest;
	return true;
}

void order_advance(struct order *order, struct order_source *source)
{
	ring_advance(source->ring, source->size);
	peek(order, source);
}

void order_release(struct order *order)
{
	for (size_t i = 0; i < order->count; i++)
		ring_release(order->sources[i].ring);
}
