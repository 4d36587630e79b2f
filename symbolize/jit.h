/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/maps.h"

/* The clock that turns the times of a log into those of events. */
struct jit_clock {
	int64_t start_ns;                    /* CLOCK_MONOTONIC at which those of events begin to count; 0: not known */
	const struct profile_growth *growth; /* of a perf map, borrowed; NULL: not known */
};

/*
 * Reads what lies at `addresses`, by what the runtime that made it wrote down: a perf map (/tmp/perf-PID.map, lines of
 * `start size name`; linux, tools/perf/Documentation/jit-interface.txt) or a jitdump (symbolize/jitdump.h); the first
 * bytes tell. Code is thrown away and made anew: the map (symbolize/maps.h) has all that was placed at an address while
 * events were recorded, with its time, and of what was placed before the last. For other addresses it has no answer. A
 * perf map grows for as long as its process lives: it is read in pieces, and lines about other addresses are not kept.
 * Damaged lines are passed over. The file, a regular one, is borrowed and read from its start.
 */
COMMON_MUST_CHECK
bool jit_read(const struct file_opened *file, const struct jit_clock *clock, const uint64_t *addresses, size_t count,
	struct symbol_map **map, struct error *err);
