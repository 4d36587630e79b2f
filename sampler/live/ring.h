/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The reading side of a perf ring (perf_event_open(2), "MMAP layout"). Records are read where they lie; only one that
 * wraps around the end is copied. Space is given back to the kernel with ring_release(), after a record was used.
 */
struct ring {
	int fd;      /* borrowed: of the event that owns the ring; others are joined to it */
	void *pages; /* the control page and, behind it, the data; NULL: not mapped */
	size_t mapped_bytes;
	uint8_t *data;
	size_t data_bytes; /* a power of two */
	uint64_t head;     /* as of the last ring_refresh() */
	uint64_t position; /* of the next record to read */
	uint8_t *scratch;  /* owned: a record that wraps */
	size_t last_bytes; /* size of the previous record */
};

/*
 * Maps a control page and `data_pages` (a power of two) behind it over an event's descriptor.
 * ERROR_MEMORY when the locked-memory limit is reached too.
 */
COMMON_MUST_CHECK
bool ring_init(struct ring *ring, int fd, size_t data_pages, struct error *err);
void ring_deinit(struct ring *ring);

/* Reads how far the kernel has written. */
void ring_refresh(struct ring *ring);

/*
 * Finds the next record up to the last refresh, borrowed until ring_release(); false when there is none. Of what was
 * not released at most one record wraps, so one copy does. A ring whose bytes make no sense is skipped up to its head
 * and `*broken` set.
 */
COMMON_MUST_CHECK
bool ring_peek(struct ring *ring, const uint8_t **bytes, size_t *size, bool *broken);

/* Moves past a record of `size` bytes that was peeked. */
void ring_advance(struct ring *ring, size_t size);

/* Returns all space before the position to the kernel. */
void ring_release(struct ring *ring);
