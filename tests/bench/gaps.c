/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function that looks at the clock all the time, to be called from Python (ctypes) below any number of its frames.
 * Between two looks lie some tens of nanoseconds, unless the thread was interrupted, stopped, or had to give way.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { GAP_ABOVE_NS = 1000 };

static uint64_t gap_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Looks for a time. The lengths of the gaps go to `gaps`, as many as there is room for; returns how many there were. */
size_t find_gaps(uint64_t for_ns, uint32_t *gaps, size_t room);

size_t find_gaps(uint64_t for_ns, uint32_t *gaps, size_t room)
{
	uint64_t last = gap_clock_ns(), end = last + for_ns;
	size_t count = 0;

	while (last < end) {
		uint64_t now = gap_clock_ns();

		if (now - last > GAP_ABOVE_NS && count < room)
			gaps[count++] = now - last < UINT32_MAX ? (uint32_t)(now - last) : UINT32_MAX;
		last = now;
	}
	return count;
}
