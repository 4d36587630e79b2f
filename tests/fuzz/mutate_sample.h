/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/fuzz/mutation.h"

#include <linux/perf_event.h>

/*
 * Appends a mutant of a PERF_RECORD_SAMPLE of an event: with more or fewer callers, other registers, or another copy of
 * the stack, in which values of registers and the stack's own addresses stand. A sample that is not laid out as the
 * event says is changed in place.
 */
void mutate_sample(
	struct mutation *m, const struct perf_event_attr *attr, const struct mutation_span *record, struct buffer *out);
