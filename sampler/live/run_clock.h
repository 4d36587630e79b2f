/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdbool.h>
#include <stdint.h>

/* The clock of a recording, and when sampling was on. Times are in nanoseconds by the clock of the records. */
struct run_clock {
	int64_t offset_ns; /* CLOCK_MONOTONIC here minus the records' clock */
	uint64_t start_ns, stop_ns;
	uint64_t off_since_ns; /* sampling is off since then, unless `is_on` */
	uint64_t off_ns;       /* total time that it was off before */
	bool is_on;
	bool was_paused; /* it was off between samples */
};

uint64_t run_clock_now(const struct run_clock *clock);

/* Returns how long sampling was on from the start until `time_ns`. */
int64_t run_clock_elapsed_ns(const struct run_clock *clock, uint64_t time_ns);
