/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/run_clock.h"

uint64_t run_clock_now(const struct run_clock *clock)
{
	return (uint64_t)(clock_read_ns(CLOCK_MONOTONIC) - clock->offset_ns);
}

int64_t run_clock_elapsed_ns(const struct run_clock *clock, uint64_t time_ns)
{
	return (int64_t)((clock->is_on ? time_ns : clock->off_since_ns) - clock->start_ns - clock->off_ns);
}
