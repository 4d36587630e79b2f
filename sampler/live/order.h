/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/ring.h"
#include "sampler/records/record.h"

/* The content of a ring. */
enum order_content {
	ORDER_SIDEBAND, /* mappings, names, threads that begin and end */
	ORDER_SAMPLES,
	ORDER_DEFERRABLE, /* samples that their writer puts off when there is no room: a loss is none */
};

/*
 * Records of several rings in order of time, each read where it lies.
 * Order across CPUs is by horizon: the caller takes the clock before order_refresh() and asks only for what is older
 * than that by more than it takes the kernel to write a record down. What is newer stays in its ring until the next
 * round.
 */
struct order_source {
	struct ring *ring; /* borrowed */
	enum order_content content;
	const struct record_layout *layout;
	const uint8_t *bytes; /* the next record; NULL: none */
	size_t size;
	uint64_t time_ns;
};

struct order {
	struct order_source *sources; /* owned; at equal times the earlier source is first */
	size_t count, capacity;
	uint64_t broken; /* how often a ring had malformed bytes */
};

enum { ORDER_HORIZON_NS = 3000000, ORDER_CROWDED_HORIZON_NS = 100000 };

/* Adds a ring; an order without any is all zeros. */
COMMON_MUST_CHECK
bool order_add(struct order *order, struct ring *ring, const struct record_layout *layout, enum order_content content,
	struct error *err);
void order_deinit(struct order *order);

/* Reads how far the kernel has written in every ring. */
void order_refresh(struct order *order);

/*
 * Returns whether more than a quarter of a ring is filled with records that are too new to be read. At a high rate the
 * ring would overflow before the horizon is reached; a shorter horizon is then used, although a CPU that was delayed
 * may then report a mapping too late.
 */
bool order_is_crowded(const struct order *order);

/*
 * Returns whether a ring with that content has no room for every record of the sideband, the longest of which has a
 * path: some may have been lost. The kernel's own record of a loss comes only when there is room again.
 */
bool order_is_full(const struct order *order, enum order_content content);

/* Finds the oldest record whose time is at most `limit_ns`; false when there is none. */
COMMON_MUST_CHECK
bool order_next(const struct order *order, uint64_t limit_ns, struct order_source **source);

/* Moves past that record. Its bytes stay valid until order_release(), which gives all that was passed back to the
 * kernel. */
void order_advance(struct order *order, struct order_source *source);
void order_release(struct order *order);
