/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The fields of the records of tracepoints, by the text that tracefs has of each (Documentation/trace/events.rst,
 * "Event formats"). perf keeps these texts in its files.
 */

/*
 * Finds a field of a record: `*offset` receives bytes from the record's start. False if it is missing, or has another
 * size than `size`.
 */
bool tracepoint_find_field(const char *format, const char *name, size_t size, uint16_t *offset);

/* The fields of sched:sched_switch that tell of waits. A record may be shorter than they say. */
struct tracepoint_switch {
	uint16_t previous_state, next_tid;
};

/* Returns what 64-bit kernels have had since 2.6.31. */
struct tracepoint_switch tracepoint_switch_default(void);

/* Finds them in a text of many formats, such as perf's tracing data, which need not end with NUL; false: not there. */
bool tracepoint_find_switch(const void *bytes, size_t size, struct tracepoint_switch *found);
