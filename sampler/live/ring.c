/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/ring.h"

#include "sampler/records/record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/* The bytes of a sample before its stack, with a usual call chain, and the top of the stack. */
enum { LINE_BYTES = 64, HEAD_BYTES = 512, RECORDS_AHEAD = 2 };

enum { SCRATCH_BYTES = RECORD_MAX_BYTES + 1 };

static struct perf_event_mmap_page *control(const struct ring *ring)
{
	return ring->pages;
}

bool ring_init(struct ring *ring, int fd, size_t data_pages, struct error *err)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t data_bytes = data_pages * page_bytes, mapped_bytes = page_bytes + data_bytes;
	uint8_t *scratch = undumped_alloc(SCRATCH_BYTES);
	void *pages;

	if (!scratch)
		return error_set_memory(err);
	pages = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		if (errno == EPERM || errno == ENOMEM)
			error_set(err, ERROR_MEMORY, "no locked memory for a ring of %zu kB", data_bytes / 1024);
		else
			error_set_errno(err, errno, "cannot map a ring of %zu kB", data_bytes / 1024);
		undumped_free(scratch, SCRATCH_BYTES);
		return false;
	}
	*ring = (struct ring){ .fd = fd,
		.pages = pages,
		.mapped_bytes = mapped_bytes,
		.data = (uint8_t *)pages + page_bytes,
		.data_bytes = data_bytes,
		.scratch = scratch };
	return true;
}

void ring_deinit(struct ring *ring)
{
	if (ring->pages)
		munmap(ring->pages, ring->mapped_bytes);
	undumped_free(ring->scratch, SCRATCH_BYTES);
	*ring = (struct ring){ 0 };
}

void ring_refresh(struct ring *ring)
{
	ring->head = __atomic_load_n(&control(ring)->data_head, __ATOMIC_ACQUIRE);
}

/* `size` bytes at the position, contiguous. */
static const uint8_t *contiguous(struct ring *ring, size_t size)
{
	size_t offset = (size_t)(ring->position & (ring->data_bytes - 1));
	size_t first = ring->data_bytes - offset;

	if (size <= first)
		return ring->data + offset;
	memcpy(ring->scratch, ring->data + offset, first);
	memcpy(ring->scratch + first, ring->data, size - first);
	return ring->scratch;
}

/*
 * Another CPU wrote them: each first touch of a line would be waited for, one after the other. Samples are mostly of
 * one size, but for the chain of those in the kernel, so where the ones behind it start is known before their headers
 * are read; the next one would come too late, since samples are only gathered here. What is always read of a sample is
 * the beginning, and the end, which says how much of the stack was copied.
 */
static void prefetch_ahead(struct ring *ring, size_t record_bytes)
{
	size_t usual_bytes = record_bytes < ring->last_bytes ? record_bytes : ring->last_bytes;
	size_t mask = ring->data_bytes - 1,
	       ahead = (size_t)ring->position + record_bytes + (RECORDS_AHEAD - 1) * usual_bytes;

	ring->last_bytes = record_bytes;
	if (ring->head - ring->position < (RECORDS_AHEAD + 1) * record_bytes)
		return;
	for (size_t i = 0; i < HEAD_BYTES && i < usual_bytes; i += LINE_BYTES)
		__builtin_prefetch(ring->data + ((ahead + i) & mask));
	__builtin_prefetch(ring->data + ((ahead + usual_bytes) & mask));
}

bool ring_peek(struct ring *ring, const uint8_t **bytes, size_t *size, bool *broken)
{
	uint64_t available = ring->head - ring->position;
	size_t record_bytes;

	if (available == 0)
		return false;
	/* The header is 8 bytes and aligned to 8, so it never wraps. */
	if (available < RECORD_HEADER_BYTES || available > ring->data_bytes ||
		!record_size(ring->data + (ring->position & (ring->data_bytes - 1)), RECORD_MAX_BYTES, &record_bytes) ||
		record_bytes > available || record_bytes % 8 != 0) {
		*broken = true;
		ring->position = ring->head;
		return false;
	}
	prefetch_ahead(ring, record_bytes);
	*bytes = contiguous(ring, record_bytes);
	*size = record_bytes;
	return true;
}

void ring_advance(struct ring *ring, size_t size)
{
	ring->position += size;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&control(ring)->data_tail, ring->position, __ATOMIC_RELEASE);
}
